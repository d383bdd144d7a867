"""Records what callers create, advance and amend, and checks that the server has stored it.

A confirmed operation must be stored with the same content. An unconfirmed one must be stored completely or not at
all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.support.connections import Connection
from tests.support.program import Program
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


def is_refused(answer: HttpResponse) -> bool:
    """Return whether the database was unavailable, which is the only expected error."""
    if answer.status == 200:
        return False
    assert (answer.status, answer.json["error"]["data"]["reason"]) == (503, "UNAVAILABLE"), answer
    assert int(answer.headers["retry-after"]) >= 1
    return True


class Kept:
    """A clock as its caller knows it. Only one caller at a time advances and amends it."""

    def __init__(self, clock: Json) -> None:
        self.clock = clock
        self.day = 0
        self.day_under_way: int | None = None
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

    def settle(self, standing: str) -> None:
        """Check that the clock is at its last confirmed time, or at the target of an advance without a response."""
        if self.day_under_way is not None and standing == on_day(self.day_under_way):
            self.day = self.day_under_way
        assert standing == on_day(self.day)
        self.day_under_way = None


async def _go_on() -> None:
    pass


class Books:
    """Compared with the server's data after each failure.

    `standing` returns the keys of all clocks in the database with their times in microseconds. `after_answer` runs
    after each response, before it is recorded.
    """

    def __init__(
        self,
        program: Program,
        token: str,
        standing: Callable[[], Mapping[bytes, int]],
        after_answer: Callable[[], Awaitable[None]] = _go_on,
    ) -> None:
        self._program = program
        self._token = token
        self._standing = standing
        self._after_answer = after_answer
        self._numbers = count()
        self.clocks: dict[str, Kept] = {}
        self.touched: list[Kept] = []
        self._unanswered_creates: dict[str, Json] = {}
        """Clocks by the name of their goal."""
        self.results = 0
        self.refusals = 0
        self.amends = True
        """Whether `write` amends clocks."""

    def begin(self) -> list[Kept]:
        """Reset the set of touched clocks, and return clocks that can still be advanced or amended."""
        self.touched = []
        self._unanswered_creates = {}
        return [kept for kept in self.clocks.values() if kept.day < LAST_DAY or kept.needs_amendment]

    async def write(self, connection: Connection, mine: list[Kept]) -> None:
        """Amend or advance the last of these clocks, or create one. Calls without a response are repeated later."""
        if self.amends and mine and mine[-1].needs_amendment:
            await self._amend(connection, mine[-1])
        elif mine and mine[-1].day < LAST_DAY:
            await self._advance(connection, mine[-1])
        elif created := await self._create(connection):
            mine.append(created)

    async def _call(self, connection: Connection, method: str, params: Json, key: str = "") -> Json | None:
        connection.send(method, params, self._token, key)
        answer = await connection.receive()
        await self._after_answer()
        if is_refused(answer):
            self.refusals += 1
            await asyncio.sleep(PAUSE_SECONDS)
            return None
        self.results += 1
        clock: Json = answer.json["result"]["clock"]
        return clock

    async def _create(self, connection: Connection) -> Kept | None:
        params = new_params(next(self._numbers))
        name = params["goals"][0]["name"]
        self._unanswered_creates[name] = params
        clock = await self._call(connection, "createTestClock", params)
        if clock is None:
            return None
        assert clock == at_time(clock, on_day(0))
        assert params_of(clock) == params
        del self._unanswered_creates[name]
        return self._take_in(clock)

    async def _advance(self, connection: Connection, kept: Kept) -> None:
        kept.day_under_way = kept.day + 7
        params = {"id": kept.clock["id"], "frozenTime": on_day(kept.day_under_way)}
        clock = await self._call(connection, "advanceTestClock", params)
        if clock is not None:
            assert clock == at_time(kept.clock, on_day(kept.day_under_way))
            kept.day, kept.day_under_way = kept.day_under_way, None

    async def _amend(self, connection: Connection, kept: Kept) -> None:
        params = kept.begin_amendment()
        clock = await self._call(connection, "amendTestClock", params, f"{params['id']} day {kept.day}")
        if clock is not None:
            kept.end_amendment(clock)

    def _take_in(self, clock: Json) -> Kept:
        kept = self.clocks[clock["id"]] = Kept(clock)
        self.touched.append(kept)
        return kept

    def check(self, every_kept: Iterable[Kept] | None = None) -> None:
        """Check these or the touched clocks, and all clocks that no response mentions."""
        standing = {ids.write("clock", key): write(from_micros(instant)) for key, instant in self._standing().items()}
        assert self.clocks.keys() <= standing.keys()
        self._take_in_unanswered_creates([id for id in standing if id not in self.clocks])
        asked = list(self.touched if every_kept is None else every_kept)
        for kept in asked:
            kept.settle(standing[kept.clock["id"]])
        for kept, clock in zip(asked, self._read([(kept.clock["id"], kept.day) for kept in asked]), strict=True):
            kept.accept(clock)

    def _take_in_unanswered_creates(self, found: list[str]) -> None:
        """Check that an unconfirmed clock was requested, is complete and exists once."""
        for clock in self._read([(id, 0) for id in found]):
            assert clock == at_time(clock, on_day(0))
            assert params_of(clock) == self._unanswered_creates.pop(clock["goals"][0]["name"])
            self._take_in(clock)

    def _read(self, places: list[tuple[str, int]]) -> list[Json]:
        """Read a clock by an advance to its current time."""
        calls = [{"id": id, "frozenTime": on_day(day)} for id, day in places]
        return [answer["result"]["clock"] for answer in self._program.batch("advanceTestClock", calls, self._token)]
