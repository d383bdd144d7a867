"""kill -9 while sixty-four callers write, fifty times on one data folder: nothing that was answered is lost.

An operation that was answered is there after the restart, with the same content. One that was not answered is wholly
there or wholly absent.
"""

import asyncio
import random
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from tests.e2e.connections import Connection, CutShort, Gone, open_connections
from tests.program import Program
from tickover.core import ids

_KILLS = 50
_CALLERS = 64
_MOST_ANSWERS_BEFORE_A_KILL = 250
_LAST_DAY = 30
_START = datetime.now(UTC).replace(microsecond=0)

Json = dict[str, Any]


def test_nothing_that_was_answered_is_lost_by_kill_9(tmp_path: Path) -> None:
    chances = random.Random(9)
    with Program(tmp_path, TICKOVER_MAX_CLOCKS_PER_USER="0") as program:
        books = Books(program, program.sign_in())
        for _ in range(_KILLS):
            asyncio.run(books.write_until_killed(chances))
            program.start()
            books.check_the_database()
            books.take_in_unanswered_creates()
            books.check_clocks(books.touched)
        assert books.answers > _KILLS * _CALLERS, "so few answers prove nothing"
        assert books.killed_under_way > _KILLS, "the kills met nobody writing"
        books.check_clocks(list(books.clocks.values()))


def on_day(day: int) -> str:
    """In UTC and whole seconds, so that the texts sort as the instants do."""
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


def new_params(number: int) -> Json:
    """Parameters of createTestClock that no other clock has."""
    return {
        "frozenTime": on_day(0),
        "transactions": [
            {"at": on_day(day), "name": f"day {day}", "amount": day + 1, "currency": "EUR", "type": "EXPENSE"}
            for day in range(0, _LAST_DAY, 7)
        ],
        "goals": [
            {
                "name": f"goal {number}",
                "targetAmount": 100,
                "contributions": [{"at": on_day(day), "amount": 10} for day in range(3, _LAST_DAY, 7)],
            }
        ],
    }


def params_of(clock: Json) -> Json:
    """The parameters from which a clock was made, read back from what it shows at any time."""
    transactions = clock["transactions"] + clock["pendingTransactions"]
    return {
        "frozenTime": on_day(0),
        "transactions": [_only(item, "at", "name", "amount", "currency", "type") for item in transactions],
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


def at_time(clock: Json, frozen_time: str) -> Json:
    """The clock as it has to be at another time."""
    passed, pending = _split(clock["transactions"] + clock["pendingTransactions"], frozen_time)
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


class Kept:
    """One clock as its caller knows it. One caller at a time advances it."""

    def __init__(self, clock: Json) -> None:
        self.clock = clock
        self.day = 0
        self.day_under_way: int | None = None
        """Where an advance that was not answered would have gone."""


class Books:
    """What callers asked for and what they were answered, held against what the program knows after each restart."""

    def __init__(self, program: Program, token: str) -> None:
        self._program = program
        self._token = token
        self._numbers = count()
        self.clocks: dict[str, Kept] = {}
        self.touched: list[Kept] = []
        self._unanswered_creates: dict[str, Json] = {}
        """By the name of the goal."""
        self.answers = 0
        self._last_answer = 0
        self._wait_before_blow = 0.0
        self.killed_under_way = 0

    async def write_until_killed(self, chances: random.Random) -> None:
        """Let every caller create clocks and advance them, each its own, and kill the program in the midst of it."""
        self.touched = []
        self._unanswered_creates = {}
        self._last_answer = self.answers + chances.randint(1, _MOST_ANSWERS_BEFORE_A_KILL)
        # Half of the blows fall as an answer is read, when what it tells must be on the disk; the others at any moment.
        self._wait_before_blow = max(0, chances.uniform(-0.005, 0.005))
        interrupted = [kept for kept in self.clocks.values() if kept.day < _LAST_DAY]
        async with open_connections(self._program.url, _CALLERS, self._token) as connections:
            await asyncio.gather(
                *(
                    self._write(connection, interrupted[place : place + 1])
                    for place, connection in enumerate(connections)
                )
            )

    async def _write(self, connection: Connection, mine: list[Kept]) -> None:
        """Until the program is gone."""
        self.touched.extend(mine)
        try:
            while True:
                if mine and mine[-1].day < _LAST_DAY:
                    await self._advance(connection, mine[-1])
                else:
                    mine.append(await self._create(connection))
        except (Gone, CutShort):
            self.killed_under_way += 1

    async def _call(self, connection: Connection, method: str, params: Json) -> Json:
        connection.send(method, params)
        answer = await connection.receive()
        self.answers += 1
        if self.answers == self._last_answer:
            await asyncio.sleep(self._wait_before_blow)
            self._program.kill()
        clock: Json = answer.json["result"]["clock"]
        return clock

    async def _create(self, connection: Connection) -> Kept:
        params = new_params(next(self._numbers))
        name = params["goals"][0]["name"]
        self._unanswered_creates[name] = params
        clock = await self._call(connection, "createTestClock", params)
        assert clock == at_time(clock, on_day(0))
        assert params_of(clock) == params
        del self._unanswered_creates[name]
        return self._take_in(clock)

    async def _advance(self, connection: Connection, kept: Kept) -> None:
        kept.day_under_way = kept.day + 7
        params = {"id": kept.clock["id"], "frozenTime": on_day(kept.day_under_way)}
        clock = await self._call(connection, "advanceTestClock", params)
        assert clock == at_time(kept.clock, on_day(kept.day_under_way))
        kept.day, kept.day_under_way = kept.day_under_way, None

    def _take_in(self, clock: Json) -> Kept:
        kept = self.clocks[clock["id"]] = Kept(clock)
        self.touched.append(kept)
        return kept

    def check_the_database(self) -> None:
        database = apsw.Connection(str(self._program.data / "tickover.db"))
        assert database.pragma("integrity_check") == "ok"
        database.close()

    def take_in_unanswered_creates(self) -> None:
        """A clock that nobody was told of was asked for, and is whole."""
        database = apsw.Connection(str(self._program.data / "tickover.db"))
        known = [ids.write("clock", key) for (key,) in database.execute("select key from clocks")]
        database.close()
        assert self.clocks.keys() <= set(known)
        for clock in self._read([(id, on_day(0)) for id in known if id not in self.clocks]):
            found = clock["result"]["clock"]
            assert found == at_time(found, on_day(0))
            assert params_of(found) == self._unanswered_creates.pop(found["goals"][0]["name"])
            self._take_in(found)

    def check_clocks(self, every_kept: list[Kept]) -> None:
        """Each stands where its last answer said, or where the advance that was not answered would have moved it."""
        moved = []
        for kept, answer in zip(every_kept, self._read([_place(kept) for kept in every_kept]), strict=True):
            if "result" in answer:
                assert answer["result"]["clock"] == at_time(kept.clock, on_day(kept.day))
            else:
                assert kept.day_under_way is not None, answer
                assert answer["error"]["data"]["currentFrozenTime"] == on_day(kept.day_under_way)
                kept.day = kept.day_under_way
                moved.append(kept)
            kept.day_under_way = None
        for kept, answer in zip(moved, self._read([_place(kept) for kept in moved]), strict=True):
            assert answer["result"]["clock"] == at_time(kept.clock, on_day(kept.day))

    def _read(self, places: list[tuple[str, str]]) -> list[Any]:
        """To advance a clock to where it stands is to read it."""
        calls = [{"id": id, "frozenTime": frozen_time} for id, frozen_time in places]
        return self._program.batch("advanceTestClock", calls, self._token)


def _place(kept: Kept) -> tuple[str, str]:
    return kept.clock["id"], on_day(kept.day)
