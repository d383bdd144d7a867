"""The measurements of a run: every slot of every round, and figures that are not measured in slots."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from msgspec import Struct, field


class Slot(NamedTuple):
    """The work of one side in one slot."""

    seconds: float
    requests: int
    median_micros: float
    p99_micros: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class Case(NamedTuple):
    """A comparison within one round: the same work, with the same number of connections."""

    block: str
    operation: str
    connections: int


class Entry(Struct, frozen=True):
    """One slot and its position in the run."""

    case: Case
    side: str
    round: int
    slot: Slot


class Spread(NamedTuple):
    """The median of the rounds, and their range."""

    median: float
    lowest: float
    highest: float
    rounds: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """Return None for an empty list."""
        rounds = tuple(values)
        return cls(statistics.median(rounds), min(rounds), max(rounds), rounds) if rounds else None


class Results(Struct):
    """Blocks add their measurements while they run, so that an interrupted run has results too."""

    entries: list[Entry] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=dict)
    """Figures that are not measured in slots: memory, starts and CPU time. One value for each round, if any."""
    notes: dict[str, str] = field(default_factory=dict)
    """Reasons why something could not be measured, by its name."""
    repeated: list[str] = field(default_factory=list)
    """Slots that were repeated, with the reason."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Other facts of the run: sizes, versions, durability."""

    def add(self, case: Case, side: str, round: int, slot: Slot) -> None:
        self.entries.append(Entry(case, side, round, slot))

    def figure(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)

    def by_round(self, case: Case, side: str) -> dict[int, Slot]:
        return {entry.round: entry.slot for entry in self.entries if entry.case == case and entry.side == side}

    def spread(self, case: Case, side: str, of: Callable[[Slot], float]) -> Spread | None:
        return Spread.of(of(slot) for slot in self.by_round(case, side).values())

    def ratios(self, one: tuple[Case, str], other: tuple[Case, str]) -> list[float]:
        """Return the rates of one side divided by those of the other, for each round."""
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


def quotients(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    """Divide round by round, as far as both lists go."""
    return [one / other for one, other in zip(ones, others, strict=False)]
