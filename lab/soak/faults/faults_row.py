"""The row of faults: each fault has callers that write before, during and after it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from lab.soak.faults import client_faults, database_faults, file_faults, machine_faults, mail_faults
from lab.soak.faults.deployment import Deployment, deploy
from lab.soak.rows import STORES, Context, Figure, Row, StoreName, at_least, at_most
from lab.soak.write_load import PAUSE_SECONDS, WriteLoad

_WRITERS = 8
_VISITORS = 2
_CALLS = 30
_MAX_SECONDS = 10


class Fault(NamedTuple):
    """Something that goes wrong. The function returns when it is right again."""

    name: str
    inject: Callable[[Deployment, WriteLoad], Awaitable[None]]
    stores: tuple[StoreName, ...] = STORES
    visitors: int = _VISITORS
    """Callers that sign in by email. None of them if the fault keeps them from it."""


_ON_POSTGRES: tuple[StoreName, ...] = ("postgres",)
_ON_SQLITE: tuple[StoreName, ...] = ("sqlite",)

FAULTS = (
    Fault("database crash", database_faults.crash, _ON_POSTGRES),
    Fault("database restart", database_faults.restart, _ON_POSTGRES),
    Fault("frozen database", database_faults.freeze, _ON_POSTGRES),
    Fault("terminated sessions", database_faults.terminate_sessions, _ON_POSTGRES),
    Fault("cancelled statements", database_faults.cancel_statements, _ON_POSTGRES),
    Fault("locked table", database_faults.lock_table, _ON_POSTGRES),
    Fault("silent network", database_faults.silence, _ON_POSTGRES),
    Fault("connections cut before statements", database_faults.cut_before_statements, _ON_POSTGRES),
    Fault("connections cut after commits", database_faults.cut_after_commits, _ON_POSTGRES),
    Fault("silence after commits", database_faults.silence_after_commits, _ON_POSTGRES),
    Fault("read-only database", database_faults.read_only, _ON_POSTGRES),
    Fault("lost standby", database_faults.lose_standby, _ON_POSTGRES),
    Fault("no database connections left", database_faults.no_connections_left, _ON_POSTGRES),
    Fault("changed database password", database_faults.changed_password, _ON_POSTGRES),
    Fault("full disk", file_faults.full_disk, _ON_SQLITE),
    Fault("another writer", file_faults.other_writer, _ON_SQLITE),
    Fault("a long reader", file_faults.long_reader, _ON_SQLITE),
    Fault("online backup", file_faults.backup, _ON_SQLITE),
    Fault("SIGHUP", machine_faults.send_sighup),
    Fault("paused process", machine_faults.pause),
    Fault("SIGTERM and restart", machine_faults.terminate),
    Fault("SIGINT and restart", machine_faults.interrupt),
    Fault("SIGKILL and restart", machine_faults.kill),
    Fault("no file descriptors left", machine_faults.no_file_descriptors, visitors=0),
    Fault("unusable outbox", machine_faults.unusable_outbox, visitors=0),
    # Codes expire when the clock is set forward again.
    Fault("wall clock set back", machine_faults.clock_set_back, visitors=0),
    Fault("wall clock set forward", machine_faults.clock_set_forward, visitors=0),
    Fault("half heads", client_faults.half_heads),
    Fault("slow bodies", client_faults.slow_bodies),
    Fault("unread responses", client_faults.unread_responses),
    Fault("idle connections", client_faults.idle_connections),
    Fault("reset connections", client_faults.reset_connections),
    Fault("garbage instead of HTTP", client_faults.garbage),
    Fault("mail server down", mail_faults.is_down, visitors=0),
    Fault("silent mail server", mail_faults.is_silent, visitors=0),
    Fault("mail server rejects recipients", mail_faults.rejects_recipients, visitors=0),
    Fault("mail server rejects for a while", mail_faults.rejects_for_a_while, visitors=0),
    Fault("mail server hangs up", mail_faults.hangs_up, visitors=0),
    Fault("mail server hangs up after the email", mail_faults.hangs_up_after_the_email, visitors=0),
)


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
