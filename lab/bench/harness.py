"""Alternates between loads in at least five rounds, and compares what they measured with targets.

Noise of the machine affects all loads equally if they take turns. So only measurements of the same round are compared.
"""

import re
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lab.http_requests import rpc_request
from lab.open_loop import OpenLoop, Request, run_async
from lab.progress import Progress
from tests.support.program import Program

ROUNDS = 5
USERS = 47
_CONNECTIONS = 64
_CLOCK_ID = re.compile(rb'"clock":\{"id":"([^"]+)"')
_SUFFIXES = {"ratio": "", "times": " times", "MiB": " MiB", "s": " s", "ms": " ms"}

Unit = Literal["ratio", "times", "MiB", "s", "ms"]
Sign = Literal["≥", "≤", "<"]


class Slot(NamedTuple):
    """What a load did in one turn."""

    rate: float
    """Requests a second."""
    latency: float
    """In seconds: the median, or the mean if the load knows no other."""


Load = Callable[[float], Slot]
"""Works for this many seconds, or a little longer."""


def timed(work: Callable[[], object]) -> Load:
    """Return a load that does the work again and again."""

    def run(seconds: float) -> Slot:
        began, count = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - began) < seconds or not count:
            work()
            count += 1
        return Slot(count / elapsed, elapsed / count)

    return run


class Plan(NamedTuple):
    """The numbers that determine the duration of a run."""

    slot_seconds: float
    limited_seconds: float
    """If processes are limited to a part of a core. The limit applies to periods of tenths of a second."""
    clocks: int
    """The number of clocks that are advanced in turn."""
    largest_clocks: int
    creates: int
    """The number of clocks for measuring growth."""


FULL = Plan(0.4, 1.0, clocks=1000, largest_clocks=300, creates=1_000_000)
QUICK = Plan(0.15, 0.6, clocks=500, largest_clocks=100, creates=20_000)


class Row(NamedTuple):
    """A target, and its measurement in each round."""

    number: str
    what: str
    unit: Unit
    sign: Sign
    target: float
    values: Sequence[float]
    why_not: str = ""
    """The reason why it can't be measured on this machine."""

    @property
    def verdict(self) -> str:
        if not self.values:
            return "not measured"
        median = statistics.median(self.values)
        is_met = {"≥": median >= self.target, "≤": median <= self.target, "<": median < self.target}[self.sign]
        return "pass" if is_met else "short"

    @property
    def cells(self) -> tuple[str, ...]:
        suffix = _SUFFIXES[self.unit]
        found = self.why_not
        if self.values:
            lowest, median, highest = map(_number, (min(self.values), statistics.median(self.values), max(self.values)))
            found = f"{median}{suffix}" + (f" ({lowest} to {highest})" if lowest != highest else "")
        return self.number, self.what, f"{self.sign} {self.target:.3g}{suffix}", found, self.verdict


def _number(value: float) -> str:
    """Return three significant digits, or a whole number."""
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def table(rows: Sequence[Row]) -> str:
    """Return the rows in Markdown."""
    verdicts = [row.verdict for row in rows]
    caption = f"{verdicts.count('pass')} of {len(rows)} targets pass, {verdicts.count('short')} fall short."
    head = ("", "What", "Target", "Median (lowest to highest round)", "")
    lines = [head, *(row.cells for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join([caption, "", *(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)])


class Bench:
    """A run. `stack` stops the servers of the current part."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.stack = ExitStack()
        self.progress = Progress()
        self.rows: list[Row] = []
        self.facts: dict[str, Any] = {}
        self.failures: list[str] = []
        self._users = count()

    def run(self, parts: Mapping[str, Callable[["Bench"], None]]) -> None:
        """Measure the parts. If one fails, the others go on."""
        for name, measure in parts.items():
            try:
                with ExitStack() as self.stack:
                    measure(self)
            except Exception as error:
                self.failures.append(f"{name} failed: {type(error).__name__}: {error}")
                self.progress.print_line(self.failures[-1])

    def row(
        self,
        number: str,
        what: str,
        unit: Unit,
        goal: tuple[Sign, float],
        values: Iterable[float],
        why_not: str = "",
    ) -> None:
        self.rows.append(Row(number, what, unit, *goal, list(values), why_not))

    def serve(self, name: str, **settings: str) -> Program:
        """Start a server that lets a few users create all clocks."""
        folder = self.folder / name
        folder.mkdir()
        unlimited = {"TICKOVER_MAX_CLOCKS_PER_USER": "0", "TICKOVER_MAX_BYTES_PER_USER": "0"}
        return self.stack.enter_context(Program(folder, **unlimited, **settings))

    def alternate(self, loads: Mapping[str, Load], seconds: float = 0) -> dict[str, list[Slot]]:
        """Run each load once in each round. The order changes from round to round."""
        seconds = seconds or self.plan.slot_seconds
        for name, load in loads.items():
            self.progress.show_step(f"warming up: {name}")
            load(seconds)
        slots: dict[str, list[Slot]] = {name: [] for name in loads}
        for number in range(ROUNDS):
            for name in list(loads)[:: -1 if number % 2 else 1]:
                self.progress.show_step(f"round {number + 1} of {ROUNDS}: {name}")
                slots[name].append(loads[name](seconds))
        return slots

    def fill(self, program: Program, params: Any, amount: int, every: int = 1) -> list[tuple[str, str]]:
        """Create at least this many clocks. Return every nth ID with the token of its owner."""
        self.progress.show_step(f"creating {amount:,} clocks")
        tokens = [program.sign_in(f"user{next(self._users)}@example.test") for _ in range(USERS)]
        created = 0
        kept: list[tuple[str, str]] = []

        def receive(token: str, status: int, body: bytes) -> None:
            nonlocal created
            assert status == 200, body[:500]
            created += 1
            if created % every == 0:
                found = _CLOCK_ID.search(body)
                assert found is not None, body[:500]
                kept.append((found[1].decode(), token))

        def is_over() -> bool:
            self.progress.show_step(f"creating {amount:,} clocks: {created:,}")
            return created >= amount

        requests = cycle(
            [Request(rpc_request("createTestClock", params, token), partial(receive, token)) for token in tokens]
        )
        run_async(OpenLoop(program.url, lambda: next(requests), _CONNECTIONS).run_at_peak(is_over))
        return kept


def rates(ones: Sequence[Slot], others: Sequence[Slot]) -> list[float]:
    """Divide the rates of one load by those of the other, round by round."""
    return [one.rate / other.rate for one, other in zip(ones, others, strict=True)]


def times(ones: Sequence[Slot], others: Sequence[Slot]) -> list[float]:
    """Divide the time that one load takes by that of the other, round by round."""
    return rates(others, ones)
