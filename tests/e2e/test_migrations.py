"""Several processes that start at once on one fresh data folder: all come up, with one schema and one secret key."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import apsw
import pytest

from tests.program import Program, verify_params
from tickover.storage import open_store


@pytest.mark.parametrize(("processes", "rounds"), [(2, 3), (8, 1)], ids=["two processes", "eight processes"])
def test_processes_that_start_at_once_on_a_fresh_folder_all_come_up_and_agree(
    tmp_path: Path, processes: int, rounds: int
) -> None:
    for number in range(rounds):
        _start_at_once(tmp_path / str(number), processes)


def _start_at_once(folder: Path, processes: int) -> None:
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

        # A code is kept under the secret key, and is sent by one process and redeemed by the next.
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
    """The version, and every statement that the schema consists of."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        statements = connection.execute("select sql from sqlite_schema where sql is not null order by name").fetchall()
        return int(connection.pragma("user_version")), [str(sql) for (sql,) in statements]
    finally:
        connection.close()
