"""The plan of a run: what is measured, and for how long. There is a full plan and a quick one."""

from msgspec import Struct

TYPICAL = "typical"
LARGEST = "largest"
POSTGRES = "PostgreSQL"
SHARES = "equal shares"
DELAY = "added latency"
LEDGER = "questions about money"
CLOCKS = "number of clocks"

ROUNDS = 5
MAX_CONNECTIONS = 64


class Plan(Struct, frozen=True):
    """The numbers of a run that determine its duration."""

    slot_seconds: float
    warm_up_seconds: float
    share_seconds: float
    """If processes are limited to a share of the CPU. The limit applies to periods of tenths of a second."""
    clocks: int
    """The number of clocks that are advanced in turn."""
    largest_clocks: int
    users: int
    """A prime, so that every nth creation is by another user."""
    creates: int
    """The number of clocks for measuring growth."""


FULL = Plan(
    slot_seconds=0.4,
    warm_up_seconds=0.3,
    share_seconds=1.0,
    clocks=1000,
    largest_clocks=300,
    users=199,
    creates=1_000_000,
)

QUICK = Plan(
    slot_seconds=0.15,
    warm_up_seconds=0.15,
    share_seconds=0.6,
    clocks=500,
    largest_clocks=100,
    users=47,
    creates=20_000,
)
