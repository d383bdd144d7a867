"""Decides whether a history of concurrent calls is linearizable.

A history is linearizable if the steps can be put in one order that a sequential model allows, in which every step takes
effect between its invocation and its response. The search follows Wing and Gong, "Testing and verifying concurrent
objects" (1993), with the memoization of Lowe, "Testing for linearizability" (2017).
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from math import inf
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

State = TypeVar("State", bound=Hashable)
_MAX_CONFIGURATIONS = 2_000_000


class Step(NamedTuple):
    """One atomic step of a call. `end` is infinity if the response is unknown; then the step may never take effect."""

    begin: float
    end: float
    action: Any
    is_read: bool = False
    """Whether the step never changes the state."""


class Model(Protocol[State]):
    """A sequential specification."""

    @property
    def initial(self) -> State: ...

    def apply(self, state: State, action: Any) -> Iterable[State]:
        """Return the possible states after the action. It returns none if the action can't have this result."""


class Verdict(Enum):
    LINEARIZABLE = "linearizable"
    VIOLATION = "violation"
    UNDECIDED = "undecided"
    """The search was too large."""


def check(model: Model[State], steps: Iterable[Step], max_configurations: int = _MAX_CONFIGURATIONS) -> Verdict:
    """Search for an order of the steps that the model allows."""
    # A read without a response has no effect and no result.
    relevant = [step for step in steps if not (step.is_read and step.end == inf)]
    return _Search(model, sorted(relevant, key=lambda step: step.begin)).run(max_configurations)


class _Search(Generic[State]):
    """A depth-first search over configurations: the set of steps in the order so far, as bits, and the state."""

    def __init__(self, model: Model[State], steps: Sequence[Step]) -> None:
        self._model = model
        self._steps = steps
        self._all = (1 << len(steps)) - 1
        self._seen: defaultdict[tuple[int, State], list[int]] = defaultdict(list)
        self._required = sum(1 << number for number, step in enumerate(steps) if step.end < inf)

    def run(self, max_configurations: int) -> Verdict:
        stack = [(0, self._model.initial)]
        for _ in range(max_configurations):
            if not stack:
                return Verdict.VIOLATION
            done, state = stack.pop()
            if done & self._required == self._required:
                return Verdict.LINEARIZABLE
            stack += [successor for successor in self._successors(done, state) if self._is_new(*successor)]
        return Verdict.UNDECIDED

    def _is_new(self, done: int, state: State) -> bool:
        """Return whether no seen configuration with the same state has the same required steps and fewer others."""
        seen = self._seen[done & self._required, state]
        if any(earlier & done == earlier for earlier in seen):
            return False
        seen.append(done)
        return True

    def _successors(self, done: int, state: State) -> list[tuple[int, State]]:
        """Return the next configurations. The most promising is last."""
        found: list[tuple[int, State]] = []
        optional = set()
        for number in self._candidates(done):
            step = self._steps[number]
            if step.end == inf:
                if step.action in optional:
                    continue  # an equal step began earlier
                optional.add(step.action)
            for after in self._model.apply(state, step.action):
                if step.is_read:
                    # The other steps can follow as if the read had not happened, so there is nothing else to try.
                    return [(done | 1 << number, after)]
                if step.end < inf or after != state:
                    found.append((done | 1 << number, after))
        found.reverse()
        return found

    def _candidates(self, done: int) -> list[int]:
        """Return the steps that may be next, those with early responses first."""
        first_end = inf
        candidates = []
        rest = self._all & ~done
        while rest:
            bit = rest & -rest
            rest ^= bit
            number = bit.bit_length() - 1
            step = self._steps[number]
            if step.begin > first_end:
                break
            first_end = min(first_end, step.end)
            candidates.append(number)
        return sorted(candidates, key=lambda number: self._steps[number].end)
