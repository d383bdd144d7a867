"""Tests of amounts, and of layout, measured in terminal cells."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from tests.unit.strategies import CHARACTERS
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.render.layout import FAINT, GOOD, NOW, Column, table, to_ansi, truncate, wrap


@pytest.mark.parametrize(
    ("value", "shown", "with_sign"),
    [
        ("0", "0.00", "0.00"),
        ("1000", "1 000.00", "+1 000.00"),
        ("-1150.5", "−1 150.50", "−1 150.50"),
        ("1E+9", "1 000 000 000.00", "+1 000 000 000.00"),
        ("1E-7", "0.0000001", "+0.0000001"),
    ],
)
def test_amount_has_two_decimals_and_grouped_thousands(value: str, shown: str, with_sign: str) -> None:
    assert (formatting.amount(Decimal(value)), formatting.signed_amount(Decimal(value))) == (shown, with_sign)


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("Groceries", 8, "Groceri…"),
        ("日本語", 5, "日本…"),
        # A wide character is never split.
        ("日本語", 4, "日 …"),
    ],
)
def test_truncate_counts_cells(text: str, cells: int, shown: str) -> None:
    assert truncate(Text(text), cells).plain == shown


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (16, ["  one  two", "  three"]),
        (9, ["  one", "  two", "  three"]),
        (6, ["  one", "  two", "  thre", "  e"]),
    ],
)
def test_wrap_uses_as_few_lines_as_possible(width: int, lines: list[str]) -> None:
    assert [line.plain for line in wrap(map(Text, ("one", "two", "three")), width)] == lines


@given(
    st.lists(st.tuples(st.text(CHARACTERS, max_size=60), st.text(CHARACTERS, max_size=60)), min_size=1, max_size=5),
    st.integers(min_value=8, max_value=90),
)
def test_table_never_exceeds_the_width(rows: list[tuple[str, str]], width: int) -> None:
    cells = [[Text(sanitize(cell)) for cell in row] for row in rows]
    assert all(line.cell_len <= width for line in table(cells, [Column(min_width=4), Column("right")], width))


def test_styles_become_escape_sequences() -> None:
    text = Text.assemble(("✓", GOOD), " at ", ("noon", NOW), style=FAINT)
    assert to_ansi(text) == "\x1b[2;32m✓\x1b[0m\x1b[2m at \x1b[0m\x1b[2;33mnoon\x1b[0m"
    assert to_ansi(Text("plain")) == "plain"
    assert to_ansi(Text()) == ""
