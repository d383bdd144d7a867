"""What a run has measured so far: every slot of every round, and what little is not measured in slots."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from msgspec import Struct, field


class Slot(NamedTuple):
    """What one side has done in one slot."""

    seconds: float
    requests: int
    median_micros: float
    p99_micros: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class Case(NamedTuple):
    """What is compared within one round: the same work, asked for in the same way."""

    block: str
    operation: str
    connections: int


class Entry(Struct, frozen=True):
    """One slot, and where in the run it was."""

    case: Case
    side: str
    round: int
    slot: Slot


class Spread(NamedTuple):
    """The middle of the rounds, and how far apart they were."""

    median: float
    lowest: float
    highest: float
    rounds: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """None when there is nothing yet."""
        rounds = tuple(values)
        return cls(statistics.median(rounds), min(rounds), max(rounds), rounds) if rounds else None


class Results(Struct):
    """Blocks add to it while they run, so that a run that was ended early can still tell what it has."""

    entries: list[Entry] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=dict)
    """Measured otherwise than in slots, one value a round where there are rounds: memory, starts, CPU."""
    notes: dict[str, str] = field(default_factory=dict)
    """Why something could not be measured, by what it would have been."""
    repeated: list[str] = field(default_factory=list)
    """Slots that were void at first, and why."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What is told about the run beside its measurements: sizes, versions, durability."""

    def add(self, case: Case, side: str, round: int, slot: Slot) -> None:
        self.entries.append(Entry(case, side, round, slot))

    def figure(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)

    def by_round(self, case: Case, side: str) -> dict[int, Slot]:
        return {entry.round: entry.slot for entry in self.entries if entry.case == case and entry.side == side}

    def spread(self, case: Case, side: str, of: Callable[[Slot], float]) -> Spread | None:
        return Spread.of(of(slot) for slot in self.by_round(case, side).values())

    def ratios(self, one: tuple[Case, str], other: tuple[Case, str]) -> list[float]:
        """Rates of the one as multiples of the other's, each within its round."""
        return self.compared(one, other, lambda a, b: a.rate / b.rate)

    def compared(
        self, one: tuple[Case, str], other: tuple[Case, str], how: Callable[[Slot, Slot], float]
    ) -> list[float]:
        ones, others = self.by_round(*one), self.by_round(*other)
        return [how(ones[round], others[round]) for round in sorted(ones.keys() & others.keys())]

    def sides(self, case: Case) -> list[str]:
        return list(dict.fromkeys(entry.side for entry in self.entries if entry.case == case))

    def cases(self, block: str) -> list[Case]:
        return list(dict.fromkeys(entry.case for entry in self.entries if entry.case.block == block))

    def raw(self) -> list[dict[str, Any]]:
        """Every round's own numbers, for machines."""
        return [
            {
                **entry.case._asdict(),
                "side": entry.side,
                "round": entry.round,
                **entry.slot._asdict(),
                "rate": entry.slot.rate,
            }
            for entry in self.entries
        ]


def quotients(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    """Round by round, as far as both have come."""
    return [one / other for one, other in zip(ones, others, strict=False)]
