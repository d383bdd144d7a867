"""R4: histories of concurrent calls on real servers, a third with faults, are linearizable."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import cycle
from pathlib import Path

import click

from lab.soak.linearizability.checker import Verdict
from lab.soak.linearizability.history import History
from lab.soak.linearizability.judge import judge, reduce
from lab.soak.linearizability.mail import PlannedMailServer
from lab.soak.linearizability.public_histories import find_histories, verdict_of
from lab.soak.linearizability.rounds import HISTORIES_PER_ROUND, record_round
from lab.soak.linearizability.servers import run_servers
from lab.soak.rows import Context, Figure, Row, at_least, at_most
from tests.support.mail_servers import run_mail_server
from tests.support.postgres import PostgresServer

_HISTORIES = 3_000
_QUICK_HISTORIES = 96
_PUBLIC_HISTORIES = 108
_MAX_QUICK_BYTES = 50_000


def run(context: Context) -> Iterator[Figure]:
    yield _check_public_histories(context)
    summary = _Summary(context)
    try:
        with PostgresServer() if context.store == "postgres" else nullcontext() as postgres:
            asyncio.run(_record_and_judge(context, summary, postgres))
    finally:
        yield from summary.figures()


class _Summary:
    def __init__(self, context: Context) -> None:
        self._wanted = context.scale(_HISTORIES, _QUICK_HISTORIES)
        self._folder = context.folder
        self._verdicts: Counter[Verdict] = Counter()
        self._faults: Counter[str] = Counter()

    @property
    def missing(self) -> int:
        return self._wanted - self._verdicts.total()

    def judge(self, history: History) -> None:
        """Count the history. Show and save the smallest version of a violation."""
        verdict = judge(history)
        self._verdicts[verdict] += 1
        self._faults[history.fault] += 1
        if verdict is Verdict.VIOLATION:
            (self._folder / "history.txt").write_text(f"{history}\n")
            click.echo(f"\nHistory {history.number} is not linearizable. Looking for a smaller one ...")
            reduced = self._folder / "violation.txt"
            reduced.write_text(f"{reduce(history)}\nOutcomes that don't matter are shown as no response.\n")
            click.echo(f"\n{reduced.read_text()}")
            raise AssertionError(f"history {history.number} is not linearizable; see {reduced}")

    def figures(self) -> Iterator[Figure]:
        yield at_least("histories", self._verdicts.total(), self._wanted)
        with_faults = {fault: count for fault, count in sorted(self._faults.items()) if fault}
        kinds = ", ".join(f"{count:,} {fault}" for fault, count in with_faults.items())
        share = round(100 * sum(with_faults.values()) / max(1, self._verdicts.total()))
        yield Figure("histories with faults", f"{share} % ({kinds})", "at least 33 %", share >= 33)
        yield at_most("violations", self._verdicts[Verdict.VIOLATION], 0)
        yield at_most("undecided histories", self._verdicts[Verdict.UNDECIDED], 0)


def _check_public_histories(context: Context) -> Figure:
    name = "verdicts on public histories that agree"
    if "CORPORA_DIR" not in os.environ:
        return Figure(name, "not run, because CORPORA_DIR is not set", f"{_PUBLIC_HISTORIES}", False)
    context.progress(0.0, "public histories")
    histories = [
        history
        for history in find_histories(Path(os.environ["CORPORA_DIR"]) / "porcupine")
        if history.size < _MAX_QUICK_BYTES or not context.is_quick
    ]
    expected = {True: Verdict.LINEARIZABLE, False: Verdict.VIOLATION}
    agreed = sum(verdict_of(history) is expected[history.is_linearizable] for history in histories)
    target = context.scale(_PUBLIC_HISTORIES, len(histories))
    return Figure(name, f"{agreed} of {len(histories)}", f"{target}", agreed == target)


async def _record_and_judge(context: Context, summary: _Summary, postgres: PostgresServer | None) -> None:
    wanted = summary.missing
    async with (
        run_mail_server(PlannedMailServer()) as mail,
        run_servers(context.folder, postgres, mail.port) as servers,
    ):
        first = 0
        # A fault in every second round, because some histories end before it.
        faults = cycle(fault for kind in servers.faults for fault in ("", kind))
        while summary.missing > 0 and not context.is_out_of_time:
            context.progress(1 - summary.missing / wanted, f"history {wanted - summary.missing + 1:,} of {wanted:,}")
            numbers = range(first, first + min(HISTORIES_PER_ROUND, summary.missing))
            for history in await record_round(servers, mail, numbers, next(faults)):
                summary.judge(history)
            first = numbers.stop


ROW = Row(
    "R4",
    "Linearizability",
    "3,000 histories of clocks, codes, resend slots and idempotency keys, a third with faults: no violation",
    run,
    minutes=10,
    quick_minutes=0.4,
)
