"""How much is measured, and for how long: the whole, or a quick look at the same things."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

TYPICAL = "typical"
LARGEST = "largest"
POSTGRES = "PostgreSQL"
SHARES = "equal shares"
SIGN_INS = "sign-ins"
STARTS = "starts"
SIZES = "size of a clock"
CREATES = "many creates"
CLOCKS = "number of clocks"
ALL_OVER = "all over many clocks"

ROUNDS = 5
MOST_CONNECTIONS = 64
_MAX_SECONDS = 9.3 * 60
_AROUND_A_SLOT = 0.18
"""To start the generator, and until it looks whether it shall end, which it does ten times a second."""
_LONGEST_SLOT = 0.8
_SHORTEST_SLOT = 0.25
_ANSWERS_TO_A_CONNECTION = 4


class Plan(Struct, frozen=True):
    """All numbers of a run that are a matter of patience."""

    is_quick: bool
    slot_seconds: float
    longest_slot_seconds: float
    """For sides that are slow to answer."""
    warm_up_seconds: float
    share_seconds: float
    """Where processes are held to a share of the CPU; it is kept over some tenths of a second."""
    connections: tuple[int, ...]
    """How many connections ask at once: one for latency, most for throughput."""
    default_connections: tuple[int, ...]
    postgres_connections: tuple[int, ...]
    largest_connections: tuple[int, ...]
    clocks: int
    """So many clocks are advanced in turn."""
    default_clocks: int
    """Fewer on the default, where each takes long to create; still more than are advanced in a slot."""
    largest_clocks: int
    default_largest_clocks: int
    has_default_everywhere: bool
    """Also where no target is about it: with the largest clocks, and on PostgreSQL."""
    users: int
    """A prime, so that of every so many creates, one is by another user each time."""
    sizes: tuple[str, ...]
    """Of which sizes of a clock the throughput and the memory are told."""
    advanced_all_over: int
    """So many of them are advanced in turn, more than a server holds in memory."""
    creates: int
    """So many clocks are created to see whether their number matters."""
    sign_ins: int
    sign_ins_to_warm_up: int
    """Not counted: interpreters run code faster once they know it, V8 above all."""

    @property
    def default_largest_connections(self) -> tuple[int, ...]:
        """Only one: with more, an answer of the default takes longer than a slot."""
        return (1,)

    def slot_of(self, rate: float, connections: int) -> float:
        """How long to measure a side of this speed: until each connection has had some answers, if that may be."""
        enough = _ANSWERS_TO_A_CONNECTION * connections / rate
        return max(self.slot_seconds, min(enough, self.longest_slot_seconds))


FULL = Plan(
    is_quick=False,
    slot_seconds=_LONGEST_SLOT,
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
    """A part of the run: how many slots it has, and how many seconds it takes beside them."""

    slots: int
    other_seconds: float
    other_slots: int = 0
    """Beside them, whose length does not depend on the plan."""

    @property
    def steps(self) -> int:
        return self.slots + self.other_slots

    def seconds(self, plan: Plan) -> float:
        return self.slots * (plan.slot_seconds + _AROUND_A_SLOT) + self.other_seconds


def parts_of(plan: Plan, creates_a_second: float) -> dict[str, Part]:
    """All parts of the run, in their order; what they take beside their slots was seen on a machine of two cores."""
    fast, slow, large = len(plan.connections), len(plan.default_connections), len(plan.largest_connections)
    postgres = len(plan.postgres_connections)
    both, again = 2 * ROUNDS, int(plan.has_default_everywhere)
    # What the default takes more, to be prepared and at most connections.
    beside_default = plan.default_clocks / 120 + both * (plan.longest_slot_seconds + 0.6 - plan.slot_seconds)
    return {
        TYPICAL: Part(both * (2 * fast + slow), beside_default + both * fast * 0.2 + 4, both * fast),
        LARGEST: Part(both * (2 * large + 1 + again), again * both * 2 + 4),
        POSTGRES: Part(both * (2 * postgres + again * slow) + ROUNDS * postgres, again * beside_default + 10),
        SHARES: Part(0, both * (plan.share_seconds + 0.2) + 2, both),
        SIGN_INS: Part(0, 6 + plan.sign_ins_to_warm_up * 0.05 + plan.sign_ins * 0.25),
        STARTS: Part(0, 4),
        SIZES: Part(both * len(plan.sizes), 2 * len(plan.sizes)),
        CREATES: Part(0, plan.creates / creates_a_second + 5),
        CLOCKS: Part(ROUNDS * 3, 2),
        ALL_OVER: Part(ROUNDS * 2, 1),
    }


def fitted(plan: Plan, parts: dict[str, Part], elapsed: float) -> Plan:
    """With slots of a length that lets the run end in time; rounds are never given up for it."""
    if plan.is_quick:
        return plan
    for_slots = _MAX_SECONDS - elapsed - sum(part.other_seconds for part in parts.values())
    slots = sum(part.slots for part in parts.values())
    seconds = for_slots / max(slots, 1) - _AROUND_A_SLOT
    return replace(plan, slot_seconds=max(_SHORTEST_SLOT, min(_LONGEST_SLOT, seconds)))
