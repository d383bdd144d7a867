"""The rows of the soak, in the order in which they run."""

from soak.rows import Row

ROWS: tuple[Row, ...] = ()
