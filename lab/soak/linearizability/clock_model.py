"""The sequential model of one account: its clocks and their idempotency keys."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lab.soak.linearizability.checker import Step
from lab.soak.linearizability.history import NOT_EXECUTED, UNKNOWN, Call

Items = tuple[tuple[int, int, str], ...]
"""The items of a schedule: day, number and name, sorted. Their IDs end with their numbers.

Those of transfers have numbers from FIRST_TRANSFER on here.
"""
FIRST_TRANSFER = 1_000

SCHEDULES: dict[str, Items] = {
    "rent": ((1, 0, "rent"), (4, 1, "rent"), (9, 2, "rent")),
    "salary": ((2, 0, "salary"), (6, 1, "salary")),
}
"""The parameters that clients create clocks with."""


_REUSED = ("error", "reused")


class View(NamedTuple):
    """A clock in a response. The first day is 0."""

    id: str
    day: int
    posted: Items
    pending: Items
    expected: int
    """How many payments the stored expectation of the clock requires, or 0 without one."""


class Clock(NamedTuple):
    id: str
    key: str
    params: str
    schedule: Items
    day: int
    next_number: int
    """The number of the next transaction. Numbers of cancelled ones are not used again."""
    next_transfer: int = FIRST_TRANSFER
    expected: int = 0

    @property
    def view(self) -> View:
        posted = tuple(item for item in self.schedule if item[0] <= self.day)
        return View(self.id, self.day, posted, self.schedule[len(posted) :], self.expected)


class Account(NamedTuple):
    """The state. `copies` has the clocks that unfinished forks have read, by the number of the call."""

    clocks: frozenset[Clock] = frozenset()
    deleted: frozenset[str] = frozenset()
    copies: frozenset[tuple[int, Clock | None]] = frozenset()
    """A fork that found its key in use has no clock."""
    keys: frozenset[tuple[str, tuple[Any, ...], str]] = frozenset()
    """The keys of amendments, moves and forks, each with its call and its clock."""

    def find(self, id: str) -> Clock | None:
        return next((clock for clock in self.clocks if clock.id == id), None)

    def replace(self, old: Clock, new: Clock) -> "Account":
        return self._replace(clocks=self.clocks - {old} | {new})

    def bind(self, key: str, call: tuple[Any, ...], id: str) -> "Account":
        return self._replace(keys=self.keys | {(key, call, id)}) if key else self

    def outcome_of_key(self, key: str, call: tuple[Any, ...]) -> Any:
        """Return the outcome of a call whose key is in use, or None if it is not."""
        for used, bound, id in self.keys:
            clock = self.find(id)
            if used == key and clock is not None:
                return ("result", clock.view) if bound == call else _REUSED
        return None

    def add(self, clock: Clock) -> "list[Account]":
        """Return the state with a new clock, or nothing if the ID was used before."""
        if clock.id in self.deleted or self.find(clock.id):
            return []
        return [self._replace(clocks=self.clocks | {clock})]


class ClockModel:
    """An action is (name, number of the call, arguments, outcome)."""

    initial = Account()

    def __init__(self, calls: Sequence[Call]) -> None:
        """The calls tell which clocks a call without a response may have created."""
        self._reused_keys = {call.arguments["key"] for call in calls if call.outcome == _REUSED}
        self._ids_of_key: dict[str, set[str]] = defaultdict(set)
        self._days: dict[str, set[int]] = defaultdict(set)
        """The days on which responses show each clock."""
        self._targets = {tuple(call.arguments.values()) for call in calls if call.name == "advance"}
        self._moved = {call.arguments["id"] for call in calls if call.name == "move"}
        mentioned = {call.arguments["id"] for call in calls if "id" in call.arguments}
        created: set[str] = set()
        for call in calls:
            result = call.outcome[1] if call.outcome and call.outcome[0] == "result" else None
            if isinstance(result, View):
                self._days[result.id].add(result.day)
            if call.name == "list":
                for id, day in result or ():
                    self._days[id].add(day)
            if call.name in ("create", "fork") and result:
                self._ids_of_key[call.arguments.get("key", "")].add(result.id)
                created.add(result.id)
        self._ids_without_creator = (mentioned | self._days.keys()) - created

    def apply(self, state: Account, action: Any) -> Iterable[Account]:
        name, number, arguments, outcome = action
        operation = getattr(self, f"_{name}")
        after: Iterable[Account] = operation(state, number, *arguments, outcome)
        return after

    def _create(self, state: Account, number: int, key: str, params: str, outcome: Any) -> Iterable[Account]:
        holder = next((clock for clock in state.clocks if key and clock.key == key), None)
        if holder is not None:
            expected = ("result", holder.view) if holder.params == params else _REUSED
            return [state] if outcome is UNKNOWN or outcome == expected else []
        ids = self._possible_ids(number, key, 0, outcome)
        return self._add_one(state, [new_clock(id, key, params) for id in ids], outcome)

    def _advance(self, state: Account, number: int, id: str, day: int, outcome: Any) -> Iterable[Account]:
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        if day < clock.day:
            return _if_outcome(outcome, ("error", "TIME_BEFORE_CURRENT", clock.day), state)
        moved = clock._replace(day=day)
        return _if_outcome(outcome, ("result", moved.view), state.replace(clock, moved))

    def _move(self, state: Account, number: int, id: str, days: int, key: str, outcome: Any) -> Iterable[Account]:
        call = ("move", id, days)
        if repeated := state.outcome_of_key(key, call):
            return _if_outcome(outcome, repeated, state)
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        moved = clock._replace(day=clock.day + days)
        return _if_outcome(outcome, ("result", moved.view), state.replace(clock, moved).bind(key, call, id))

    def _get(self, state: Account, number: int, id: str, outcome: Any) -> Iterable[Account]:
        clock = state.find(id)
        return _if_outcome(outcome, ("result", clock.view) if clock else ("error", "CLOCK_NOT_FOUND"), state)

    def _add(self, state: Account, number: int, id: str, day: int, key: str, outcome: Any) -> Iterable[Account]:
        call = ("add", id, day)
        if repeated := state.outcome_of_key(key, call):
            return _if_outcome(outcome, repeated, state)
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        if day < clock.day:
            return _if_outcome(outcome, ("error", "INVALID_PARAMS"), state)
        added = (day, clock.next_transfer if is_transfer(day) else clock.next_number, "added")
        amended = clock._replace(
            schedule=tuple(sorted([*clock.schedule, added])),
            next_number=clock.next_number + (not is_transfer(day)),
            next_transfer=clock.next_transfer + is_transfer(day),
        )
        return _if_outcome(outcome, ("result", amended.view), state.replace(clock, amended).bind(key, call, id))

    def _cancel(self, state: Account, number: int, id: str, item: int, key: str, outcome: Any) -> Iterable[Account]:
        call = ("cancel", id, item)
        if repeated := state.outcome_of_key(key, call):
            return _if_outcome(outcome, repeated, state)
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        found = next((each for each in clock.schedule if each[1] == item), None)
        if found is None:
            return _if_outcome(outcome, ("error", "INVALID_PARAMS"), state)
        if found[0] <= clock.day:
            return _if_outcome(outcome, ("error", "ITEM_NOT_PENDING"), state)
        amended = clock._replace(schedule=tuple(each for each in clock.schedule if each != found))
        return _if_outcome(outcome, ("result", amended.view), state.replace(clock, amended).bind(key, call, id))

    def _update(self, state: Account, number: int, id: str, expected: int, outcome: Any) -> Iterable[Account]:
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        updated = clock._replace(expected=expected)
        return _if_outcome(outcome, ("result", updated.view), state.replace(clock, updated))

    def _list(self, state: Account, number: int, outcome: Any) -> Iterable[Account]:
        return _if_outcome(outcome, ("result", frozenset((clock.id, clock.day) for clock in state.clocks)), state)

    def _delete(self, state: Account, number: int, id: str, outcome: Any) -> Iterable[Account]:
        clock = state.find(id)
        if clock is None:
            return _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)
        keys = frozenset(bound for bound in state.keys if bound[-1] != id)
        after = state._replace(clocks=state.clocks - {clock}, deleted=state.deleted | {id}, keys=keys)
        return _if_outcome(outcome, ("result", "ok"), after)

    def _read_original(
        self, state: Account, number: int, id: str, day: int, key: str, outcome: Any
    ) -> Iterator[Account]:
        if repeated := state.outcome_of_key(key, ("fork", id, day)):
            is_stored = outcome is UNKNOWN or outcome[0] == "result"
            after = state._replace(copies=state.copies | {(number, None)}) if is_stored else state
            yield from _if_outcome(outcome, repeated, after)
            # The server looks up the key before it reads the original. The key may have been free at that time.
        clock = state.find(id)
        if clock is not None and self._possible_ids(number, key, day, outcome):
            yield state._replace(copies=state.copies | {(number, clock)})
        elif clock is None and not repeated:
            yield from _if_outcome(outcome, ("error", "CLOCK_NOT_FOUND"), state)

    def _store_fork(self, state: Account, number: int, id: str, day: int, key: str, outcome: Any) -> Iterable[Account]:
        copy = next((copy for copy in state.copies if copy[0] == number), None)
        if copy is None:
            return []
        after = state._replace(copies=state.copies - {copy})
        original = copy[1]
        if original is None:
            return [after]
        call = ("fork", id, day)
        if repeated := state.outcome_of_key(key, call):
            return _if_outcome(outcome, repeated, after)
        ids = self._possible_ids(number, key, day, outcome)
        forks = [original._replace(id=new, key="", params="", day=day) for new in ids]
        return [added.bind(key, call, fork.id) for fork in forks for added in self._add_one(after, [fork], outcome)]

    def _possible_ids(self, number: int, key: str, day: int, outcome: Any) -> list[str]:
        """Return the ID of a clock that a call created on this day. If it is unknown, return all possible IDs.

        A clock that no response shows is visible only by its key. If that is not visible either, the call can be
        ignored.
        """
        if outcome is not UNKNOWN:
            return [outcome[1].id] if outcome[0] == "result" else []
        seen = self._ids_without_creator | (self._ids_of_key[key] if key else set())
        ids = sorted(id for id in seen if self._may_start(id, day))
        return [*ids, f"unknown {number}"] if key in self._reused_keys else ids

    def _may_start(self, id: str, day: int) -> bool:
        first = min(self._days[id], default=day)
        return first == day or (first > day and ((id, first) in self._targets or id in self._moved))

    def _add_one(self, state: Account, clocks: list[Clock], outcome: Any) -> Iterator[Account]:
        for clock in clocks:
            if outcome is UNKNOWN or outcome == ("result", clock.view):
                yield from state.add(clock)


def is_transfer(day: int) -> bool:
    """Return whether an amendment adds a transfer for this day, or else a transaction."""
    return day % 2 == 1


def new_clock(id: str, key: str, params: str) -> Clock:
    return Clock(id, key, params, SCHEDULES[params], 0, len(SCHEDULES[params]))


def _if_outcome(outcome: Any, expected: Any, after: Account) -> list[Account]:
    return [after] if outcome is UNKNOWN or outcome == expected else []


def clock_steps(calls: Iterable[Call]) -> Iterator[Step]:
    """Return the steps of the calls. A fork reads the original and stores the copy in two steps."""
    for call in calls:
        if call.outcome == NOT_EXECUTED:
            continue
        is_error = call.outcome is not None and call.outcome[0] == "error"
        names = [call.name]
        if call.name == "fork":
            names = ["read_original"] if is_error else ["read_original", "store_fork"]
        for name in names:
            action = name, call.number, tuple(call.arguments.values()), call.outcome
            yield Step(call.begin, call.end, action, is_error or name in ("get", "list"))
