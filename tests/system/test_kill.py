"""kill -9 while 64 callers write, several times on one data folder: no confirmed write is lost.

KILL_ROUNDS sets the number of kills.
"""

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import apsw

from tests.support.books import Books, Kept
from tests.support.connections import Connection, ConnectionLost, ResponseTruncated, open_connections
from tests.support.program import Program

KILLS = int(os.environ.get("KILL_ROUNDS", "8"))
_CALLERS = 64
_MAX_ANSWERS_BEFORE_A_KILL = 250


def test_kill_9_loses_no_confirmed_write(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_MAX_CLOCKS_PER_USER="0") as program:
        killer = _Killer(program)
        books = Books(program, program.sign_in(), lambda: _standing(program), killer.see_an_answer)
        for _ in range(KILLS):
            asyncio.run(killer.let_write(books))
            program.start()
            assert _ask(program, "pragma integrity_check") == [("ok",)]
            books.check()
        assert books.refusals == 0
        assert books.results > KILLS * _CALLERS, "so few answers prove nothing"
        assert killer.met > KILLS, "no call was pending at the kills"
        books.check(books.clocks.values())


def _standing(program: Program) -> dict[bytes, int]:
    return dict(_ask(program, "select key, frozen_time from clocks"))


def _ask(program: Program, sql: str) -> list[Any]:
    database = apsw.Connection(str(program.data / "tickover.db"))
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


class _Killer:
    """Callers create and advance their own clocks until the program is killed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._chances = random.Random(9)
        self._answers_left = 0
        self.met = 0
        """Number of callers with a pending call at the kill."""

    async def let_write(self, books: Books) -> None:
        self._answers_left = self._chances.randint(1, _MAX_ANSWERS_BEFORE_A_KILL)
        interrupted = books.begin()
        async with open_connections(self._program.url, _CALLERS) as connections:
            await asyncio.gather(
                *(
                    self._write(books, connection, interrupted[place : place + 1])
                    for place, connection in enumerate(connections)
                )
            )

    async def _write(self, books: Books, connection: Connection, mine: list[Kept]) -> None:
        """Write until the program is killed."""
        books.touched.extend(mine)
        try:
            while True:
                await books.write(connection, mine)
        except (ConnectionLost, ResponseTruncated):
            self.met += 1

    async def see_an_answer(self) -> None:
        self._answers_left -= 1
        if self._answers_left == 0:
            # Half of the kills follow a response directly, when its write must be on the disk. The others are random.
            await asyncio.sleep(max(0, self._chances.uniform(-0.005, 0.005)))
            self._program.kill()
