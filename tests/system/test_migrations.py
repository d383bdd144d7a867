"""Concurrent starts on one new data folder: all succeed, with one schema and one key."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import apsw

from tests.support.program import Program, verify_params
from tickover.server.storage import open_store


def test_concurrent_starts_on_a_new_folder_succeed(tmp_path: Path) -> None:
    folder, processes = tmp_path, 3
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
