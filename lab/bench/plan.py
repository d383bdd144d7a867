"""The plan of a run: what is measured, and for how long. There is a full plan and a quick one."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

TYPICAL = "typical"
LARGEST = "largest"
POSTGRES = "PostgreSQL"
SHARES = "equal shares"
DELAY = "added latency"
SIGN_INS = "sign-ins"
STARTS = "starts"
LEDGER = "questions about money"
AMENDMENTS = "amendments"
OBSERVATION = "metrics and traces"
SIZES = "size of a clock"
CREATES = "many creates"
CLOCKS = "number of clocks"
ALL_OVER = "all over many clocks"

ROUNDS = 5
OBSERVATION_ROUNDS = 15
"""More, because the differences are small."""
MAX_CONNECTIONS = 64
_MAX_SECONDS = 9.3 * 60
_SLOT_OVERHEAD_SECONDS = 0.18
"""To start the generator, and to notice its end, which is checked ten times a second."""
_MAX_SLOT_SECONDS = 0.8
_MIN_SLOT_SECONDS = 0.25
_RESPONSES_PER_CONNECTION = 4
_CREATES_A_SECOND = 5000


class Plan(Struct, frozen=True):
    """The numbers of a run that determine its duration."""

    is_quick: bool
    slot_seconds: float
    longest_slot_seconds: float
    """For slow servers."""
    warm_up_seconds: float
    share_seconds: float
    """If processes are limited to a share of the CPU. The limit applies to periods of tenths of a second."""
    connections: tuple[int, ...]
    """Concurrent connections: one for latency, the most for throughput."""
    default_connections: tuple[int, ...]
    postgres_connections: tuple[int, ...]
    largest_connections: tuple[int, ...]
    clocks: int
    """The number of clocks that are advanced in turn."""
    default_clocks: int
    """Fewer for the default server, which is slow to create them; still more than a slot advances."""
    largest_clocks: int
    default_largest_clocks: int
    has_default_everywhere: bool
    """Also without a target: for the largest clocks, and on PostgreSQL."""
    users: int
    """A prime, so that every nth creation is by another user."""
    sizes: tuple[str, ...]
    """The sizes of clocks for which throughput and memory are reported."""
    advanced_all_over: int
    """The number of clocks that are advanced in turn, more than the server caches."""
    creates: int
    """The number of clocks for measuring growth."""
    sign_ins: int
    sign_ins_to_warm_up: int
    """Uncounted rounds, because interpreters run code faster after a while, above all V8."""

    @property
    def default_largest_connections(self) -> tuple[int, ...]:
        """Only one: with more, a response of the default takes longer than a slot."""
        return (1,)

    def slot_of(self, rate: float, connections: int) -> float:
        """Return the length of a slot for a server of this speed:

        long enough for some responses to each connection, if possible.
        """
        enough = _RESPONSES_PER_CONNECTION * connections / rate
        return max(self.slot_seconds, min(enough, self.longest_slot_seconds))


FULL = Plan(
    is_quick=False,
    slot_seconds=_MAX_SLOT_SECONDS,
    longest_slot_seconds=2.0,
    warm_up_seconds=0.3,
    share_seconds=1.0,
    connections=(1, 16, 64),
    default_connections=(1, 16, 64),
    postgres_connections=(1, 16, 64),
    largest_connections=(1, 16, 64),
    clocks=1000,
    default_clocks=500,
    largest_clocks=300,
    default_largest_clocks=10,
    has_default_everywhere=True,
    users=199,
    sizes=("1 transaction", "10 transactions", "100 transactions", "2,600 items"),
    advanced_all_over=20_000,
    creates=1_000_000,
    sign_ins=160,
    sign_ins_to_warm_up=400,
)

QUICK = Plan(
    is_quick=True,
    slot_seconds=0.15,
    longest_slot_seconds=0.5,
    warm_up_seconds=0.15,
    share_seconds=0.6,
    connections=(1, 64),
    default_connections=(64,),
    postgres_connections=(64,),
    largest_connections=(1,),
    clocks=500,
    default_clocks=250,
    largest_clocks=100,
    default_largest_clocks=0,
    has_default_everywhere=False,
    users=47,
    sizes=("1 transaction", "2,600 items"),
    advanced_all_over=10_000,
    creates=20_000,
    sign_ins=32,
    sign_ins_to_warm_up=64,
)


class Part(NamedTuple):
    """A part of the run: its number of slots, and its other seconds."""

    slots: int
    other_seconds: float
    other_slots: int = 0
    """Slots whose length doesn't depend on the plan."""

    @property
    def steps(self) -> int:
        return self.slots + self.other_slots

    def seconds(self, plan: Plan) -> float:
        return self.slots * (plan.slot_seconds + _SLOT_OVERHEAD_SECONDS) + self.other_seconds


def parts_of(plan: Plan) -> dict[str, Part]:
    """Return all parts of the run in order. Other seconds were measured on a machine with two cores."""
    fast, slow, large = len(plan.connections), len(plan.default_connections), len(plan.largest_connections)
    postgres = len(plan.postgres_connections)
    both, again = 2 * ROUNDS, int(plan.has_default_everywhere)
    # The additional time of the default server for preparation and at most connections.
    beside_default = plan.default_clocks / 120 + both * (plan.longest_slot_seconds + 0.6 - plan.slot_seconds)
    return {
        TYPICAL: Part(both * (2 * fast + slow), beside_default + both * fast * 0.2 + 4, both * fast),
        LARGEST: Part(both * (2 * large + 1 + again), again * both * 2 + 4),
        POSTGRES: Part(both * (2 * postgres + again * slow) + ROUNDS * postgres, again * beside_default + 10),
        SHARES: Part(0, both * (plan.share_seconds + 0.2) + 2, both),
        DELAY: Part(0, ROUNDS * 4 * (plan.slot_seconds + 0.3) + 3, ROUNDS * 4),
        SIGN_INS: Part(0, 6 + plan.sign_ins_to_warm_up * 0.05 + plan.sign_ins * 0.25),
        STARTS: Part(0, ROUNDS * 9),
        LEDGER: Part(4 * ROUNDS, 10),
        AMENDMENTS: Part(0, 10 + ROUNDS * 3),
        OBSERVATION: Part(3 * OBSERVATION_ROUNDS, 8),
        SIZES: Part(both * len(plan.sizes), 2 * len(plan.sizes)),
        CREATES: Part(0, plan.creates / _CREATES_A_SECOND + 5),
        CLOCKS: Part(ROUNDS * 3, 2),
        ALL_OVER: Part(ROUNDS * 2, 1),
    }


def fit_into_time(plan: Plan, parts: dict[str, Part]) -> Plan:
    """Return the plan with slots that let the run end in time. The number of rounds doesn't change."""
    if plan.is_quick:
        return plan
    for_slots = _MAX_SECONDS - sum(part.other_seconds for part in parts.values())
    slots = sum(part.slots for part in parts.values())
    seconds = for_slots / max(slots, 1) - _SLOT_OVERHEAD_SECONDS
    return replace(plan, slot_seconds=max(_MIN_SLOT_SECONDS, min(_MAX_SLOT_SECONDS, seconds)))
