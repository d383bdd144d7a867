"""Concurrent starts on one new or old data folder: all succeed, with one schema and one key."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
from msgspec import msgpack

from tests.store import previous_version
from tests.support.program import Program, verify_params
from tickover.api import ids
from tickover.api.clocks import GoalEntry, NewClock
from tickover.api.timestamps import to_micros
from tickover.server.schedule import clocks
from tickover.server.schedule import schedule as schedule_json
from tickover.server.sign_in.tokens import Mint, digest
from tickover.server.storage import open_store


def test_concurrent_starts_on_a_new_folder_succeed(tmp_path: Path) -> None:
    _start_at_once(tmp_path, 3)


def test_concurrent_starts_on_an_old_folder_keep_its_data(tmp_path: Path) -> None:
    """A data folder of the previous version, with a live clock."""
    (tmp_path / "data").mkdir()
    previous_version.make_sqlite(f"sqlite:///{tmp_path / 'data' / 'tickover.db'}")
    token, clock_id = _keep_living_clock(tmp_path / "data" / "tickover.db")

    def everybody_finds_it(programs: list[Program]) -> None:
        for program in programs:
            assert program.result("getTestClock", {"id": clock_id}, token)["clock"]["goals"][0]["name"] == "Trip"
            (listed,) = program.result("listTestClocks", {}, token)["clocks"]
            assert listed["id"] == clock_id

    _start_at_once(tmp_path, 2, everybody_finds_it)


def _keep_living_clock(database: Path) -> tuple[str, str]:
    """Return a token, and the id of a clock created a minute ago."""
    now = datetime.now(UTC) - timedelta(minutes=1)
    mint = Mint(b"a key for tests alone")
    user, key, token = mint.new_key(now), mint.new_key(now), mint.new_bearer_token()
    entry = NewClock(goals=[GoalEntry("Trip", 100)])
    clock = clocks.new_clock(key, entry, now)
    schedule = msgpack.encode(schedule_json.encode_schedule(clock, entry))
    instants = [to_micros(moment) for moment in (clock.start_time, clock.frozen_time, clock.max_time)]
    with closing(apsw.Connection(str(database))) as connection:
        later = to_micros(now + timedelta(days=1))
        connection.execute("insert into tokens values (?, ?, ?)", (digest(token), user, later))
        connection.execute("insert into clocks values (?, ?, ?, ?, ?)", (key, user, *instants))
        connection.execute("insert into schedules values (?, ?)", (key, schedule))
    return token, ids.write("clock", key)


def _nothing_more(_: list[Program]) -> None:
    pass


def _start_at_once(folder: Path, processes: int, and_then: Callable[[list[Program]], None] = _nothing_more) -> None:
    data = folder / "data"
    with ExitStack() as running:
        programs = []
        for number in range(processes):
            place = folder / str(number)
            place.mkdir(parents=True)
            program = Program(place, TICKOVER_DATA_DIR=str(data))
            running.callback(program.kill)
            programs.append(program)
        for program in programs:
            program.launch()
        for program in programs:
            program.wait_for_banner()
        assert len({program.url for program in programs}) == processes
        and_then(programs)

        # One process sends the code and the next accepts it, so they share the secret key.
        for number, sender in enumerate(programs):
            email = f"user{number}@example.test"
            redeemer = programs[(number + 1) % processes]
            token = redeemer.result("loginByEmailVerification", verify_params(email, sender.send_code(email)))["token"]
            assert sender.result("createTestClock", {}, token)["clock"]["status"] == "READY"
        assert [path.name for path in data.glob("*secret*")] == ["secret.key"]
        assert _schema(data / "tickover.db") == asyncio.run(_schema_made_alone(folder / "alone.db"))
        assert [program.stop() for program in programs] == [0] * processes


async def _schema_made_alone(database: Path) -> tuple[int, list[str]]:
    store = await open_store(f"sqlite:///{database}")
    await store.close()
    return _schema(database)


def _schema(database: Path) -> tuple[int, list[str]]:
    """Return the version and all statements of the schema."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        statements = connection.execute("select sql from sqlite_schema where sql is not null order by name").fetchall()
        return int(connection.pragma("user_version")), [str(sql) for (sql,) in statements]
    finally:
        connection.close()
