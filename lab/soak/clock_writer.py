"""Creates, amends and advances clocks, and knows what the server may have stored.

A confirmed call must be stored. A call without a response must be stored completely or not at all.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple, Protocol

_START = datetime.now(UTC).replace(microsecond=0)
_LAST_DAY = 28
_NUMBERS = count()

Json = dict[str, Any]


def on_day(day: int) -> str:
    """Return a timestamp in UTC and whole seconds, so that texts sort like instants."""
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


def new_transaction(day: int, name: str) -> Json:
    return {"at": on_day(day), "name": name, "amount": day + 1, "currency": "EUR", "type": "EXPENSE"}


class Caller(Protocol):
    async def call(self, method: str, params: Json, token: str | None = None, key: str = "") -> Any | None:
        """Return the response, or None if it is unknown whether the call has an effect."""


class State(NamedTuple):
    """A stored clock: its time, and the instants, names and amounts of its items."""

    frozen_time: str
    items: tuple[tuple[str, str, float], ...]

    @classmethod
    def of(cls, clock: Json) -> "State":
        """Read the view of a clock, whose items must be on the right side of its time."""
        posted, scheduled = list(clock["transactions"]), list(clock["pendingTransactions"])
        for goal in clock["goals"]:
            posted += [{**item, "name": goal["name"]} for item in goal["contributions"]]
            scheduled += [{**item, "name": goal["name"]} for item in goal["upcomingContributions"]]
        assert all(item["at"] <= clock["frozenTime"] for item in posted), clock
        assert all(item["at"] > clock["frozenTime"] for item in scheduled), clock
        return cls(clock["frozenTime"], _sorted([*posted, *scheduled]))


def _sorted(items: Iterable[Json]) -> tuple[tuple[str, str, float], ...]:
    return tuple(sorted((item["at"], item["name"], item["amount"]) for item in items))


class _Write(NamedTuple):
    method: str
    params: Json
    key: str
    after: State


class ClockWriter:
    """Writes one clock after the other, with one call at a time."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._clock: Json = {}
        self._day = _LAST_DAY
        self._amended_day = 0
        self._write: _Write | None = None
        """The last call, if it has no response."""
        self.confirmed: dict[str, State] = {}
        """The confirmed state of each clock, by its ID."""

        self.unconfirmed: list[tuple[str, State]] = []
        """States that may be stored, with the ID of the clock, or nothing for a new one."""

    async def step(self, caller: Caller) -> None:
        """Make the next call, or repeat an advance or an amendment without a response."""
        if self._write is not None and self._write.method == "createTestClock":
            # Begin another clock.
            self._write, self._day = None, _LAST_DAY
        if self._write is None:
            self._write = self._create() if self._day >= _LAST_DAY else self._change()
            self.unconfirmed.append((self._write.params.get("id", ""), self._write.after))
        method, params, key, after = self._write
        response = await caller.call(method, params, self._token, key)
        if response is None:
            return
        assert "result" in response, response
        self._clock = response["result"]["clock"]
        assert State.of(self._clock) == after
        self.confirmed[self._clock["id"]] = after
        self.unconfirmed.pop()
        if method == "createTestClock":
            self._day = self._amended_day = 0
        elif method == "advanceTestClock":
            self._day += 7
        else:
            self._amended_day = self._day
        self._write = None

    def _create(self) -> _Write:
        name = f"goal {next(_NUMBERS)}"
        transactions = [new_transaction(day, f"day {day}") for day in range(0, _LAST_DAY + 2, 7)]
        contributions = [{"at": on_day(day), "amount": 10} for day in range(3, _LAST_DAY, 7)]
        goal = {"name": name, "targetAmount": 100, "contributions": contributions}
        params = {"frozenTime": on_day(0), "transactions": transactions, "goals": [goal]}
        items = _sorted([*transactions, *({**item, "name": name} for item in contributions)])
        return _Write("createTestClock", params, "", State(on_day(0), items))

    def _change(self) -> _Write:
        """Amend the clock once after each advance: add a transaction, and cancel the last one."""
        id, before = self._clock["id"], self.confirmed[self._clock["id"]]
        if self._amended_day == self._day:
            to = on_day(self._day + 7)
            return _Write("advanceTestClock", {"id": id, "frozenTime": to}, "", before._replace(frozen_time=to))
        added, cancelled = new_transaction(self._day + 1, "added"), self._clock["pendingTransactions"][-1:]
        params = {"id": id, "add": {"transactions": [added]}, "cancel": [item["id"] for item in cancelled]}
        items = set(before.items) - set(_sorted(cancelled)) | set(_sorted([added]))
        return _Write("amendTestClock", params, f"{id} day {self._day}", before._replace(items=tuple(sorted(items))))


def check_clocks(writers: Iterable[ClockWriter], stored: Iterable[Json]) -> None:
    """Check all clocks of the writers' user, those that no response mentions included."""
    allowed: dict[str, list[State]] = {}
    created: list[State] = []
    for writer in writers:
        allowed |= {id: [state] for id, state in writer.confirmed.items()}
        for id, state in writer.unconfirmed:
            (allowed[id] if id else created).append(state)
    for clock in stored:
        state = State.of(clock)
        if clock["id"] in allowed:
            assert state in allowed.pop(clock["id"]), clock
        else:
            assert state in created, clock
            created.remove(state)
    assert not allowed, f"confirmed clocks are lost: {list(allowed)}"
