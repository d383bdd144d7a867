"""R5: six kinds of races, a thousand rounds each, fifty calls at once, with exact results."""

import asyncio
from collections.abc import Iterator

from lab.soak.rows import Context, Figure, Row, at_least
from tests.support.connections import open_connections
from tests.support.crowds import CROWD
from tests.support.program import Program
from tests.support.races import KINDS, Race


def run(context: Context) -> Iterator[Figure]:
    rounds = context.scale(1_000, 12)
    # Two processes race for the same rows.
    workers = {} if context.store == "sqlite" else {"TICKOVER_WORKERS": "2"}
    with context.database() as settings, Program(context.folder, **settings, **workers) as program:
        token = program.sign_in()
        for place, name in enumerate(KINDS):
            numbers = context.rounds(rounds, f"{name}, round", place / len(KINDS), (place + 1) / len(KINDS))
            done = asyncio.run(_race(program, token, name, numbers))
            yield at_least(f"rounds with exact results: {name}", done, rounds)


async def _race(program: Program, token: str, name: str, numbers: Iterator[int]) -> int:
    """Run the rounds, and return their count."""
    done = 0
    async with open_connections(program.url, CROWD, token) as crowd:
        race = Race(program, token, crowd)
        for number in numbers:
            await KINDS[name](race, number)
            done += 1
    return done


ROW = Row(
    "R5",
    "Races",
    "6 kinds of races, 1,000 rounds of 50 concurrent calls each, with exact results",
    run,
    minutes=5,
    quick_minutes=0.2,
)
