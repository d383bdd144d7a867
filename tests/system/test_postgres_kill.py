"""kill -9 of a replica while callers write, KILL_ROUNDS times: no confirmed write is lost."""

import asyncio
import random
from pathlib import Path

from tests.support.load import Load
from tests.support.postgres import PostgresServer
from tests.support.replicas import Replicas
from tests.system.test_kill import KILLS

_WRITERS = 16
_VISITORS = 4
_MAX_RESULTS_BEFORE_A_KILL = 50


async def test_kill_9_loses_no_confirmed_write(tmp_path: Path, postgres: PostgresServer) -> None:
    chances = random.Random(9)
    with Replicas(tmp_path, postgres, 2) as replicas:
        load = Load(replicas)
        async with load.of(_WRITERS, _VISITORS):
            for number in range(KILLS):
                await load.succeed(chances.randint(1, _MAX_RESULTS_BEFORE_A_KILL))
                victim = replicas.programs[number % 2]
                load.running.remove(victim)
                victim.kill()
                # A start under load takes several times as long.
                async with load.at_rest():
                    await asyncio.to_thread(victim.start)
                load.running.append(victim)
        assert load.books.refusals == 0, "the database was there all the time"
        assert load.books.results > KILLS * _WRITERS, "so few answers prove nothing"
        assert load.broken > KILLS, "no call was pending at the kills"
