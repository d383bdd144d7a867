"""The targets of Tickover, and whether a run reaches them.

Each is a ratio within one run, except for memory and the cost of fixtures.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from lab.bench import bank_block, bodies, growth
from lab.bench.ledger_block import QUESTIONS, READ_CLOCK, RECONCILE
from lab.bench.plan import CLOCKS, LARGEST, LEDGER, POSTGRES, SHARES, TYPICAL, Plan
from lab.bench.postgres_block import ROUND_TRIPS, SHARE
from lab.bench.programs import (
    FIRST_FIXTURE_SECONDS,
    MEMORY_IDLE,
    NEXT_FIXTURE_MILLIS,
    SECONDS_OF_HELP,
    SECONDS_OF_PYTHON,
    SECONDS_OF_SHOW,
    SECONDS_TO_READY,
)
from lab.bench.results import Case, Results, Slot, Spread
from lab.bench.sides import BARE, LIMIT, PGBENCH, TICKOVER, TICKOVER_TWO
from lab.bench.sqlite_block import MEMORY_UNDER_LOAD, TYPICAL_BESIDE_LARGEST

PASS, SHORT, NOT_MEASURED = "pass", "short", "not measured"
_LEDGER_GOALS = {
    "listTestClockEvents": ("S15", 1),
    "getTestClockBalances": ("S15", 0.2),
    "checkTestClock": ("S15", 0.7),
    RECONCILE: ("S20", 4),
}
Unit = Literal["ratio", "times", "MiB", "s", "ms"]


class Goal(NamedTuple):
    """A limit for a figure, and the side on which the figure must be."""

    sign: Literal["≥", "≤", "<"]
    value: float

    def is_reached(self, figure: float) -> bool:
        if self.sign == "≥":
            return figure >= self.value
        return figure <= self.value if self.sign == "≤" else figure < self.value


class Row(NamedTuple):
    """One target and its measurement."""

    number: str
    what: str
    unit: Unit
    goal: Goal
    spread: Spread | None
    why_not: str = ""
    """The reason why it can't be measured on this machine."""

    @property
    def verdict(self) -> str:
        if self.spread is None:
            return NOT_MEASURED
        return PASS if self.goal.is_reached(self.spread.median) else SHORT


class Judge:
    """Computes the rows from the measurements of a full or partial run."""

    def __init__(self, results: Results, plan: Plan) -> None:
        self._results = results
        self._plan = plan

    def rows(self) -> list[Row]:
        return [*self._against_limit(), *self._latency_and_size(), *self._postgres(),
                *self._growth_and_memory(), *self._programs(), *self._ledger(), *self._bank()]  # fmt: skip

    def _against_limit(self) -> Iterator[Row]:
        for number, operation, goal in (("S1", "advance", 0.5), ("S2", "create", 0.333)):
            spread = self._ratio(Case(TYPICAL, operation, 64), TICKOVER, LIMIT)
            yield Row(number, f"{operation}, calls a second against the limit", "ratio", Goal("≥", goal), spread)

    def _latency_and_size(self) -> Iterator[Row]:
        typical, largest = bodies.count_items(bodies.typical()), bodies.count_items(bodies.largest())

        def time_per_item(large: Slot, small: Slot) -> float:
            return (small.rate * typical) / (large.rate * largest)

        for operation in ("advance", "create"):
            case = Case(LARGEST, operation, 1)
            spread = self._results.compared((case, TICKOVER), (case, TYPICAL_BESIDE_LARGEST), time_per_item)
            what = f"{operation} of {largest:,} items, time for each, against one of {typical}"
            yield Row("S5", what, "times", Goal("<", 0.2), spread)
        what = "advance on one connection, latency against the limit's and a commit's"
        yield Row("S6", what, "times", Goal("≤", 1.5), Spread.of(self._latencies_against_the_sum()))

    def _latencies_against_the_sum(self) -> Iterator[float]:
        """Compare with the sum of the limit's median latency and that of one commit of the bare loop, by round."""
        case = Case(TYPICAL, "advance", 1)
        ours, limit, commit = (self._results.by_round(case, side) for side in (TICKOVER, LIMIT, BARE))
        for round in sorted(ours.keys() & limit.keys() & commit.keys()):
            yield ours[round].median_micros / (limit[round].median_micros + commit[round].median_micros)

    def _postgres(self) -> Iterator[Row]:
        notes = self._results.notes
        spread = self._ratio(Case(POSTGRES, "advance", 64), TICKOVER, PGBENCH)
        what = "advance on PostgreSQL, against pgbench"
        yield Row("S7", what, "ratio", Goal("≥", 0.9), spread, notes.get(PGBENCH, ""))
        what = "round trips of an advance, PostgreSQL behind 1 ms of latency"
        yield Row("S7b", what, "ratio", Goal("≤", 1.3), self._figure(ROUND_TRIPS))
        spread = self._ratio(Case(SHARES, "advance", 64), TICKOVER_TWO, TICKOVER)
        what = f"PostgreSQL, two workers against one, each with {SHARE:.0%} of a core"
        yield Row("S8", what, "times", Goal("≥", 1.8), spread, notes.get(SHARES, ""))

    def _growth_and_memory(self) -> Iterator[Row]:
        few, many = (growth.name_of(count) for count in (growth.FEW, self._plan.creates))
        spread = self._ratio(Case(CLOCKS, "advance", 64), many, few)
        yield Row("S10", f"advance with {many} against {few}", "ratio", Goal("≥", 0.9), spread)
        for when, name, goal in (
            ("idle", MEMORY_IDLE, 40),
            ("under load", MEMORY_UNDER_LOAD, 70),
            (f"after {self._plan.creates:,} creates", growth.MEMORY_AFTER_CREATES, 70),
        ):
            yield Row("S11", f"memory, {when}", "MiB", Goal("<", goal), self._figure(name))

    def _programs(self) -> Iterator[Row]:
        for number, program, name, goal in (
            ("S12", "start to ready", SECONDS_TO_READY, 10),
            ("S13", "`tickover --help`", SECONDS_OF_HELP, 4),
            ("S13", "`tickover clock show`", SECONDS_OF_SHOW, 8),
        ):
            spread = self._results.quotients(name, SECONDS_OF_PYTHON)
            yield Row(number, f"{program}, against `python -c pass`", "times", Goal("≤", goal), spread)
        yield Row("S14", "first `clock` fixture of pytest", "s", Goal("<", 0.25), self._figure(FIRST_FIXTURE_SECONDS))
        yield Row("S14", "each further `clock` fixture", "ms", Goal("<", 6), self._figure(NEXT_FIXTURE_MILLIS))

    def _ledger(self) -> Iterator[Row]:
        read = Case(LEDGER, READ_CLOCK, 1)
        for method in (*QUESTIONS, RECONCILE):
            spread = self._results.ratios((read, TICKOVER), (Case(LEDGER, method, 1), TICKOVER))
            number, goal = _LEDGER_GOALS[method]
            # No clock has more transactions.
            size = bodies.MAX_GROWN_TRANSACTIONS if method == RECONCILE else bodies.GROWN_ITEMS
            what = f"{method} of {size:,} items, time against getTestClock"
            yield Row(number, what, "times", Goal("≤", goal), spread)

    def _bank(self) -> Iterator[Row]:
        for number, one, other, goal in (
            ("S18", bank_block.FROM_SCENARIO, bank_block.BY_AMENDMENTS, 0.2),
            ("S19", bank_block.PLAID, READ_CLOCK, 2),
            ("S19", bank_block.SIMPLEFIN, READ_CLOCK, 1),
        ):
            spread = self._results.quotients(bank_block.seconds_of(one), bank_block.seconds_of(other))
            yield Row(number, f"{one}, time against {other}", "times", Goal("≤", goal), spread)

    def _ratio(self, case: Case, one: str, other: str) -> Spread | None:
        return self._results.ratios((case, one), (case, other))

    def _figure(self, name: str) -> Spread | None:
        return Spread.of(self._results.values(name))
