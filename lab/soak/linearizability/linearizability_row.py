"""R4: histories of concurrent calls on real servers, a third with faults, are linearizable."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lab.soak.histories import history_figures, record_histories
from lab.soak.linearizability.checker import Verdict
from lab.soak.linearizability.judge import judge
from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.linearizability.public_histories import find_histories, verdict_of
from lab.soak.linearizability.rounds import record_round
from lab.soak.rows import Context, Figure, Row, at_most
from lab.soak.servers import Servers

_HISTORIES = 3_000
_QUICK_HISTORIES = 96
_PUBLIC_HISTORIES = 108
_MAX_QUICK_BYTES = 50_000


def run(context: Context) -> Iterator[Figure]:
    yield _check_public_histories(context)
    wanted = context.scale(_HISTORIES, _QUICK_HISTORIES)
    faults: Counter[str] = Counter()
    verdicts: Counter[Verdict] = Counter()

    async def record(servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str) -> Iterable[str]:
        histories = await record_round(servers, mail, numbers, fault)
        for history in histories:
            verdict = judge(history)
            verdicts[verdict] += 1
            if verdict is Verdict.VIOLATION:
                file = context.folder / "history.txt"
                file.write_text(f"{history}\n")
                raise AssertionError(f"history {history.number} is not linearizable; see {file}")
        return [history.fault for history in histories]

    try:
        record_histories(context, wanted, faults, record)
    finally:
        yield from history_figures(faults, wanted)
        yield at_most("violations", verdicts[Verdict.VIOLATION], 0)
        yield at_most("undecided histories", verdicts[Verdict.UNDECIDED], 0)


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


ROW = Row(
    "R4",
    "Linearizability",
    "3,000 histories of clocks, codes, resend limits and idempotency keys, a third with faults: no violation",
    run,
    minutes=10,
    quick_minutes=0.4,
)
