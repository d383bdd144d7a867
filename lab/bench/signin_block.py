"""The block of sign-ins: the CPU time of a sign-in, compared with two popular products."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from lab.bench import signin
from lab.bench.plan import ROUNDS, SIGN_INS
from lab.bench.rounds import Run
from lab.bench.signin_sides import FastApi


def name_of(side: str) -> str:
    return f"CPU ms of a sign-in, {side}"


def measure_sign_ins(run: Run) -> None:
    # The FastAPI default has no target here.
    sides = [side for side in signin.SIDES if run.plan.has_default_everywhere or side is not FastApi]
    with _progress_by_time(run), patch.object(signin, "WARM_UP", run.plan.sign_ins_to_warm_up):
        results = signin.measure(ROUNDS, run.plan.sign_ins, sides)
    for result in results:
        run.results.figures[name_of(result.side)] = list(result.cpu_ms)
        if result.not_measured:
            run.results.notes[name_of(result.side)] = result.not_measured
    run.progress.end_of(SIGN_INS)


@contextmanager
def _progress_by_time(run: Run) -> Iterator[None]:
    """Report progress by the expected time, because the step is long and reports nothing."""
    ended = threading.Event()
    started = time.monotonic()

    def report() -> None:
        while not ended.wait(0.5):
            share = min(0.95, (time.monotonic() - started) / max(run.progress.planned(SIGN_INS), 1))
            run.progress.show_step("sign-ins: server CPU of Tickover, better-auth and django-allauth", SIGN_INS, share)

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
