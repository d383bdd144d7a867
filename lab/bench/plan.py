"""The plan of a run: what is measured, and for how long. There is a full plan and a quick one."""

from msgspec import Struct

TYPICAL = "typical"
LARGEST = "largest"
POSTGRES = "PostgreSQL"
SHARES = "equal shares"
DELAY = "added latency"
SIGN_INS = "sign-ins"
LEDGER = "questions about money"
CLOCKS = "number of clocks"

ROUNDS = 5
MAX_CONNECTIONS = 64
_RESPONSES_PER_CONNECTION = 4


class Plan(Struct, frozen=True):
    """The numbers of a run that determine its duration."""

    slot_seconds: float
    longest_slot_seconds: float
    """For slow servers."""
    warm_up_seconds: float
    share_seconds: float
    """If processes are limited to a share of the CPU. The limit applies to periods of tenths of a second."""
    clocks: int
    """The number of clocks that are advanced in turn."""
    default_clocks: int
    """Fewer for the default server, which is slow to create them; still more than a slot advances."""
    largest_clocks: int
    users: int
    """A prime, so that every nth creation is by another user."""
    creates: int
    """The number of clocks for measuring growth."""
    sign_ins: int
    sign_ins_to_warm_up: int
    """Uncounted rounds, because interpreters run code faster after a while, above all V8."""

    def slot_of(self, rate: float, connections: int) -> float:
        """Return the length of a slot for a server of this speed:

        long enough for some responses to each connection, if possible.
        """
        enough = _RESPONSES_PER_CONNECTION * connections / rate
        return max(self.slot_seconds, min(enough, self.longest_slot_seconds))


FULL = Plan(
    slot_seconds=0.4,
    longest_slot_seconds=2.0,
    warm_up_seconds=0.3,
    share_seconds=1.0,
    clocks=1000,
    default_clocks=500,
    largest_clocks=300,
    users=199,
    creates=1_000_000,
    sign_ins=160,
    sign_ins_to_warm_up=400,
)

QUICK = Plan(
    slot_seconds=0.15,
    longest_slot_seconds=0.5,
    warm_up_seconds=0.15,
    share_seconds=0.6,
    clocks=500,
    default_clocks=250,
    largest_clocks=100,
    users=47,
    creates=20_000,
    sign_ins=32,
    sign_ins_to_warm_up=64,
)
