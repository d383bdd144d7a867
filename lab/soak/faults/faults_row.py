"""The row of faults: each fault has callers that write before, during and after it."""

import asyncio
import time
from collections.abc import Iterator

# Each of these modules adds its faults.
from lab.soak.faults import client_faults, database_faults, file_faults, machine_faults, mail_faults  # noqa: F401
from lab.soak.faults.deployment import FAULTS, Deployment, Fault, deploy
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from lab.soak.write_load import PAUSE_SECONDS, WriteLoad

_WRITERS = 8
_CALLS = 30
_MAX_SECONDS = 10


def run(context: Context) -> Iterator[Figure]:
    faults = [fault for fault in FAULTS if context.store in fault.stores]
    faults = faults[:: context.scale(1, 2)]
    done = 0
    with deploy(context) as deployment:
        for number in context.rounds(len(faults), "fault"):
            fault = faults[number]
            try:
                seconds = asyncio.run(_withstand(fault, deployment))
            except Exception as failure:
                cause = _first_cause(failure)
                yield Figure(fault.name, f"{type(cause).__name__}: {cause}"[:300], "nothing lost", met=False)
                continue
            done += 1
            yield at_most(f"{fault.name}: nothing lost, normal again after", round(seconds, 2), _MAX_SECONDS, " s")
        assert "Traceback" not in deployment.program.output
    yield at_least("faults", done, len(faults))


def _first_cause(failure: BaseException) -> BaseException:
    return _first_cause(failure.exceptions[0]) if isinstance(failure, BaseExceptionGroup) else failure


async def _withstand(fault: Fault, deployment: Deployment) -> float:
    """Return the seconds from the end of the fault until the server is ready and callers succeed."""
    load = await asyncio.to_thread(WriteLoad, deployment.servers, PAUSE_SECONDS, False)
    async with load.of(_WRITERS, fault.visitors):
        await load.succeed(_CALLS)
        await fault.inject(deployment, load)
        ended = time.monotonic()
        await load.until_readiness_is(200)
        await load.succeed(_CALLS)
        return time.monotonic() - ended


ROW = Row(
    "R6",
    "Faults",
    "30 kinds of faults under load (database, mail, disk full, signals, slow clients, clock set back): nothing lost, "
    "normal again within 10 s",
    run,
    minutes=3,
    quick_minutes=1.2,
)
