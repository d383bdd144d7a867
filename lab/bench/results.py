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

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class Case(NamedTuple):
    """A comparison within one round: the same work, with the same number of connections."""

    block: str
    operation: str
    connections: int


class Spread(NamedTuple):
    """The median of the rounds, and their range."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """Return None for an empty list."""
        rounds = list(values)
        return cls(statistics.median(rounds), min(rounds), max(rounds)) if rounds else None


class Results(Struct):
    """Blocks add their measurements while they run, so that an interrupted run has results too."""

    slots: dict[tuple[Case, str], dict[int, Slot]] = field(default_factory=dict)
    """The slots of each side in each case, by round."""
    figures: dict[str, list[float]] = field(default_factory=dict)
    """Figures that are not measured in slots: memory, starts and CPU time. One value for each round, if any."""
    notes: dict[str, str] = field(default_factory=dict)
    """Reasons why something could not be measured, by its name."""
    repeated: list[str] = field(default_factory=list)
    """Slots that were repeated, with the reason."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Versions and the machine."""

    def add(self, case: Case, side: str, round: int, slot: Slot) -> None:
        self.slots.setdefault((case, side), {})[round] = slot

    def figure(self, name: str, value: float) -> None:
        self.figures.setdefault(name, []).append(value)

    def by_round(self, case: Case, side: str) -> dict[int, Slot]:
        return self.slots.get((case, side), {})

    def ratios(self, one: tuple[Case, str], other: tuple[Case, str]) -> Spread | None:
        """Divide the rates of one side by those of the other, round by round."""
        return self.compared(one, other, lambda a, b: a.rate / b.rate)

    def compared(
        self, one: tuple[Case, str], other: tuple[Case, str], how: Callable[[Slot, Slot], float]
    ) -> Spread | None:
        ones, others = self.by_round(*one), self.by_round(*other)
        return Spread.of(how(ones[round], others[round]) for round in sorted(ones.keys() & others.keys()))

    def quotients(self, one: str, other: str) -> Spread | None:
        """Divide the values of one figure by those of the other, round by round."""
        return Spread.of(a / b for a, b in zip(self.values(one), self.values(other), strict=False))

    def values(self, name: str) -> Sequence[float]:
        return self.figures.get(name, [])
