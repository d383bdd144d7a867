"""The rows of the soak, in the order in which they run."""

from lab.soak import (
    bad_input,
    bank_histories,
    failover,
    guessing,
    hostility,
    kills,
    load_held,
    power_loss,
    races,
    rolling_restart,
)
from lab.soak.faults import row as faults
from lab.soak.linearizability import row as linearizability
from lab.soak.rows import Row

ROWS: tuple[Row, ...] = (
    load_held.ROW,
    kills.ROW,
    power_loss.ROW,
    linearizability.ROW,
    races.ROW,
    faults.ROW,
    bad_input.ROW,
    guessing.ROW,
    hostility.ROW,
    failover.ROW,
    rolling_restart.ROW,
    bank_histories.ROW,
)
