"""Records what callers create, advance and amend, and checks that the server has stored it.

A confirmed operation must be stored with the same content. An unconfirmed one must be stored completely or not at
all.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from lab.soak.connections import Connection
from tests.support.program import Program, wait_until
from tests.support.world import HttpResponse
from tickover.api import ids
from tickover.api.timestamps import from_micros, write

LAST_DAY = 30
PAUSE_SECONDS = 0.03
"""The pause of a caller after an unavailable database. Without it, callers would take all processor time."""
_START = datetime.now(UTC).replace(microsecond=0)

Json = dict[str, Any]


def on_day(day: int) -> str:
    """Return a timestamp in UTC and whole seconds, so that texts sort like instants."""
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


def new_transaction(day: int, name: str) -> Json:
    return {"at": on_day(day), "name": name, "amount": day + 1, "currency": "EUR", "type": "EXPENSE"}


def new_params(number: int) -> Json:
    """Return unique parameters of createTestClock."""
    return {
        "frozenTime": on_day(0),
        "transactions": [new_transaction(day, f"day {day}") for day in range(0, LAST_DAY, 7)],
        "goals": [
            {
                "name": f"goal {number}",
                "targetAmount": 100,
                "contributions": [{"at": on_day(day), "amount": 10} for day in range(3, LAST_DAY, 7)],
            }
        ],
    }


def params_of(clock: Json) -> Json:
    """Reconstruct the parameters of a clock from its view."""
    return {
        "frozenTime": on_day(0),
        "transactions": [_params_of_transaction(item) for item in _transactions(clock)],
        "goals": [
            {
                **_only(goal, "name", "targetAmount"),
                "contributions": [
                    _only(item, "at", "amount") for item in goal["contributions"] + goal["upcomingContributions"]
                ],
            }
            for goal in clock["goals"]
        ],
    }


def _transactions(clock: Json) -> list[Json]:
    transactions: list[Json] = clock["transactions"] + clock["pendingTransactions"]
    return transactions


def _params_of_transaction(item: Json) -> Json:
    return _only(item, "at", "name", "amount", "currency", "type")


def at_time(clock: Json, frozen_time: str) -> Json:
    """Return the expected view of a clock at another time."""
    passed, pending = _split(_transactions(clock), frozen_time)
    goals = []
    for goal in clock["goals"]:
        posted, upcoming = _split(goal["contributions"] + goal["upcomingContributions"], frozen_time)
        saved = sum(item["amount"] for item in posted)
        goals.append(
            {
                **_only(goal, "id", "name", "targetAmount"),
                "currentAmount": saved,
                "remainingAmount": 100 - saved,
                "progressPercent": saved,
                "contributions": posted,
                "upcomingContributions": upcoming,
            }
        )
    seen = {"frozenTime": frozen_time, "transactions": passed, "pendingTransactions": pending, "goals": goals}
    return {**_only(clock, "id", "status", "maxTime", "expiresAt"), **seen}


def _only(entry: Json, *names: str) -> Json:
    return {name: entry[name] for name in names}


def _split(items: list[Json], frozen_time: str) -> tuple[list[Json], list[Json]]:
    return [item for item in items if item["at"] <= frozen_time], [item for item in items if item["at"] > frozen_time]


def is_unavailable(response: HttpResponse) -> bool:
    """Return whether the database was unavailable, which is the only expected error."""
    if response.status == 200:
        return False
    assert (response.status, response.json["error"]["data"]["reason"]) == (503, "UNAVAILABLE"), response
    assert int(response.headers["retry-after"]) >= 1
    return True


class KnownClock:
    """A clock as its caller knows it. Only one caller at a time advances and amends it."""

    def __init__(self, clock: Json) -> None:
        self.clock = clock
        self.day = 0
        self.target_day: int | None = None
        """Target of an advance without a response."""
        self._amended_day = 0
        self._amendment: Json | None = None
        """Parameters of an amendment without a response."""
        self._is_applied = False
        """Whether `clock` contains that amendment."""

    @property
    def needs_amendment(self) -> bool:
        return self._amended_day < self.day

    def begin_amendment(self) -> Json:
        """Return parameters that add a transaction and cancel the last one. A repeated call has the same."""
        if self._amendment is None:
            pending = at_time(self.clock, on_day(self.day))["pendingTransactions"]
            self._amendment = {
                "id": self.clock["id"],
                "add": {"transactions": [new_transaction(self.day + 1, "added")]},
                "cancel": [item["id"] for item in pending[-1:]],
            }
        return self._amendment

    def end_amendment(self, clock: Json) -> None:
        """Check the response of the amendment."""
        self.accept(clock)
        assert self._is_applied
        self._amendment, self._is_applied = None, False
        self._amended_day = self.day

    def accept(self, clock: Json) -> None:
        """Check the stored clock. An amendment without a response is applied once and completely, or not at all."""
        if self._amendment is not None and not self._is_applied:
            at = self._amendment["add"]["transactions"][0]["at"]
            if added := [item for item in _transactions(clock) if item["at"] == at]:
                assert [_params_of_transaction(item) for item in added] == self._amendment["add"]["transactions"]
                others = [item for item in _transactions(self.clock) if item["id"] not in self._amendment["cancel"]]
                # Only the response has the ID of the new transaction.
                transactions = sorted([*others, *added], key=lambda item: str(item["at"]))
                self.clock = {**self.clock, "transactions": transactions, "pendingTransactions": []}
                self._is_applied = True
        assert clock == at_time(self.clock, on_day(self.day))

    def settle(self, stored_time: str) -> None:
        """Check that the clock is at its last confirmed time, or at the target of an advance without a response."""
        if self.target_day is not None and stored_time == on_day(self.target_day):
            self.day = self.target_day
        assert stored_time == on_day(self.day)
        self.target_day = None


class ClockWriter:
    """Writes clocks, and compares them with the server's data after each failure.

    `stored_times` returns the keys of all clocks in the database with their times in microseconds.
    """

    def __init__(self, program: Program, token: str, stored_times: Callable[[], Mapping[bytes, int]]) -> None:
        self._program = program
        self._token = token
        self._stored_times = stored_times
        self._numbers = count()
        self.clocks: dict[str, KnownClock] = {}
        self._unconfirmed: dict[str, Json] = {}
        """Clocks by the name of their goal."""
        self.results = 0
        self.rejections = 0
        self.amends = True
        """Whether `write` amends clocks."""

    async def write(self, connection: Connection, mine: list[KnownClock]) -> None:
        """Amend or advance the last of these clocks, or create one. Calls without a response are repeated later."""
        if self.amends and mine and mine[-1].needs_amendment:
            await self._amend(connection, mine[-1])
        elif mine and mine[-1].day < LAST_DAY:
            await self._advance(connection, mine[-1])
        elif created := await self._create(connection):
            mine.append(created)

    async def _call(self, connection: Connection, method: str, params: Json, key: str = "") -> Json | None:
        connection.send(method, params, self._token, key)
        response = await connection.receive()
        if is_unavailable(response):
            self.rejections += 1
            await asyncio.sleep(PAUSE_SECONDS)
            return None
        self.results += 1
        clock: Json = response.json["result"]["clock"]
        return clock

    async def _create(self, connection: Connection) -> KnownClock | None:
        params = new_params(next(self._numbers))
        name = params["goals"][0]["name"]
        self._unconfirmed[name] = params
        clock = await self._call(connection, "createTestClock", params)
        if clock is None:
            return None
        assert clock == at_time(clock, on_day(0))
        assert params_of(clock) == params
        del self._unconfirmed[name]
        return self._add(clock)

    async def _advance(self, connection: Connection, known: KnownClock) -> None:
        known.target_day = known.day + 7
        params = {"id": known.clock["id"], "frozenTime": on_day(known.target_day)}
        clock = await self._call(connection, "advanceTestClock", params)
        if clock is not None:
            assert clock == at_time(known.clock, on_day(known.target_day))
            known.day, known.target_day = known.target_day, None

    async def _amend(self, connection: Connection, known: KnownClock) -> None:
        params = known.begin_amendment()
        clock = await self._call(connection, "amendTestClock", params, f"{params['id']} day {known.day}")
        if clock is not None:
            known.end_amendment(clock)

    def _add(self, clock: Json) -> KnownClock:
        known = self.clocks[clock["id"]] = KnownClock(clock)
        return known

    def check(self) -> None:
        """Check all clocks, those that no response mentions included."""
        stored_times = {
            ids.write("clock", key): write(from_micros(instant)) for key, instant in self._stored_times().items()
        }
        assert self.clocks.keys() <= stored_times.keys()
        self._add_unconfirmed([id for id in stored_times if id not in self.clocks])
        every = list(self.clocks.values())
        for known in every:
            known.settle(stored_times[known.clock["id"]])
        for known, clock in zip(every, self._read([(known.clock["id"], known.day) for known in every]), strict=True):
            known.accept(clock)

    def _add_unconfirmed(self, found: list[str]) -> None:
        """Check that an unconfirmed clock was requested, is complete and exists once."""
        for clock in self._read([(id, 0) for id in found]):
            assert clock == at_time(clock, on_day(0))
            assert params_of(clock) == self._unconfirmed.pop(clock["goals"][0]["name"])
            self._add(clock)

    def _read(self, places: list[tuple[str, int]]) -> list[Json]:
        """Read clocks by advances to their current time. With short timeouts, a busy machine may need several tries."""
        calls = [{"id": id, "frozenTime": on_day(day)} for id, day in places]
        responses: list[Any] = []

        def is_read() -> bool:
            responses[:] = self._program.batch("advanceTestClock", calls, self._token)
            reasons = {each["error"]["data"]["reason"] for each in responses if "error" in each}
            return "UNAVAILABLE" not in reasons

        wait_until(is_read)
        return [response["result"]["clock"] for response in responses]
