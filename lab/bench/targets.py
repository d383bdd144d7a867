"""The targets of Tickover, and whether a run reaches them.

Each is a ratio within one run, except for memory and the cost of fixtures. The limit is a bare ASGI
application on the same HTTP server. The default is a conventional program in FastAPI, pydantic and SQLAlchemy. A
typical clock has 10 transactions and 2 goals with 6 contributions each, the largest 100 and 25 with 100.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from lab.bench import bank_block, bodies, growth
from lab.bench.growth import MEMORY_AFTER_CREATES
from lab.bench.ledger_block import QUESTIONS, READ_CLOCK, RECONCILE
from lab.bench.plan import CLOCKS, FULL, LARGEST, LEDGER, POSTGRES, SHARES, TYPICAL, Plan
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
from lab.bench.results import Case, Results, Slot, Spread, quotients
from lab.bench.sides import BARE, DEFAULT, LIMIT, PGBENCH, TICKOVER, TICKOVER_TWO
from lab.bench.signin import name_of as sign_in_of
from lab.bench.sqlite_block import MEMORY_UNDER_LOAD, TYPICAL_BESIDE_LARGEST

PASS, SHORT, INFORMATION = "pass", "short", "information"
NOT_MEASURED, NOT_MEASURABLE = "not measured", "not measurable here"
Unit = Literal["ratio", "times", "round trips", "MiB", "s", "ms"]


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
    goal: Goal | None
    """None means that the figure is only reported."""
    spread: Spread | None
    why_not: str = ""
    """The reason why it can't be measured on this machine."""
    made_smaller: str = ""
    """The difference of a quick run."""

    @property
    def verdict(self) -> str:
        if self.spread is None:
            return NOT_MEASURABLE if self.why_not else NOT_MEASURED
        if self.goal is None:
            return INFORMATION
        return PASS if self.goal.is_reached(self.spread.median) else SHORT


class Judge:
    """Computes the rows from the measurements of a full or partial run."""

    def __init__(self, results: Results, plan: Plan) -> None:
        self._results = results
        self._plan = plan

    def rows(self) -> list[Row]:
        return [*self._against_limit_and_default(), *self._latency_and_size(), *self._postgres(), *self._sign_ins(),
                *self._growth(), *self._memory(), *self._programs(), *self._ledger(), *self._bank()]  # fmt: skip

    def _against_limit_and_default(self) -> Iterator[Row]:
        for number, operation, other, goal in (
            ("S1", "advance", LIMIT, 1 / 2),
            ("S2", "create", LIMIT, 1 / 3),
            ("S3", "advance", DEFAULT, 80),
            ("S4", "create", DEFAULT, 50),
        ):
            spread = self._ratio(Case(TYPICAL, operation, 64), TICKOVER, other)
            what = f"{operation} on SQLite, against the {other}"
            yield Row(number, what, "ratio" if other == LIMIT else "times", Goal("≥", goal), spread)

    def _latency_and_size(self) -> Iterator[Row]:
        typical, largest = items_of(bodies.typical()), items_of(bodies.largest())

        def time_per_item(large: Slot, small: Slot) -> float:
            return (small.rate * typical) / (large.rate * largest)

        for operation in ("advance", "create"):
            case = Case(LARGEST, operation, 1)
            compared = self._results.compared((case, TICKOVER), (case, TYPICAL_BESIDE_LARGEST), time_per_item)
            what = f"{operation} at one connection, time for one of {largest:,} items, against one of {typical}"
            yield Row("S5", what, "times", Goal("<", 0.2), Spread.of(compared))
        what = "advance at one connection, median latency against the limit's and a durable commit's together"
        yield Row("S6", what, "times", Goal("≤", 1.5), Spread.of(self._latencies_against_the_sum()))

    def _latencies_against_the_sum(self) -> Iterator[float]:
        """Compare with the sum of the limit's median latency and that of one commit of the bare loop, by round."""
        case = Case(TYPICAL, "advance", 1)
        ours, limit, commit = (self._results.by_round(case, side) for side in (TICKOVER, LIMIT, BARE))
        for round in sorted(ours.keys() & limit.keys() & commit.keys()):
            yield ours[round].median_micros / (limit[round].median_micros + commit[round].median_micros)

    def _postgres(self) -> Iterator[Row]:
        case = Case(POSTGRES, "advance", 64)
        what = "advance on PostgreSQL, one worker, against pgbench"
        why_not = self._results.notes.get(PGBENCH, "")
        yield Row("S7", what, "ratio", Goal("≥", 0.9), self._ratio(case, TICKOVER, PGBENCH), why_not)
        what = "PostgreSQL behind 1 ms of added latency, one connection, round trips of an advance"
        round_trips = Spread.of(self._results.figures.get(ROUND_TRIPS, []))
        yield Row("S7b", what, "round trips", Goal("≤", 1.3), round_trips)
        shared = Case(SHARES, "advance", 64)
        what = f"PostgreSQL, two workers against one, each held to {SHARE:.0%} of a core"
        why_not = self._results.notes.get(SHARES, "")
        yield Row("S8", what, "times", Goal("≥", 1.8), self._ratio(shared, TICKOVER_TWO, TICKOVER), why_not)

    def _sign_ins(self) -> Iterator[Row]:
        ours = self._results.figures.get(sign_in_of("Tickover"), [])
        for other, goal in (("better-auth", 0.1), ("django-allauth", 0.05)):
            theirs = self._results.figures.get(sign_in_of(other), [])
            why_not = self._results.notes.get(sign_in_of(other), "")
            what = f"sign-in, CPU of the server, against {other}"
            spread, warm = Spread.of(quotients(ours, theirs)), self._plan.sign_ins_to_warm_up
            smaller = f"{warm} instead of {FULL.sign_ins_to_warm_up} sign-ins to warm up" if self._plan.is_quick else ""
            yield Row("S9", what, "ratio", Goal("≤", goal), spread, why_not, smaller)

    def _growth(self) -> Iterator[Row]:
        few, many = (growth.name_of(count) for count in (growth.FEW, self._plan.creates))
        spread = self._ratio(Case(CLOCKS, "advance", 64), many, few)
        what = f"advance with {many} against {few}"
        yield Row("S10", what, "ratio", Goal("≥", 0.9), spread, made_smaller=self._fewer_creates())

    def _memory(self) -> Iterator[Row]:
        def row(what: str, name: str, goal: float, smaller: str = "") -> Row:
            return Row("S11", what, "MiB", Goal("<", goal), self._figure(name), made_smaller=smaller)

        yield row("memory, idle", MEMORY_IDLE, 60)
        yield row("memory, under load", MEMORY_UNDER_LOAD, 120)
        created = f"memory, after {self._plan.creates:,} creates"
        yield row(created, MEMORY_AFTER_CREATES, 150, self._fewer_creates())

    def _programs(self) -> Iterator[Row]:
        python = self._results.figures.get(SECONDS_OF_PYTHON, [])
        for number, program, name, goal in (
            ("S12", "start to ready, warm", SECONDS_TO_READY, 10),
            ("S13", "`tickover --help`", SECONDS_OF_HELP, 5),
            ("S13", "`tickover clock show`", SECONDS_OF_SHOW, 12),
        ):
            spread = Spread.of(quotients(self._results.figures.get(name, []), python))
            yield Row(number, f"{program}, against `python -c pass`", "times", Goal("≤", goal), spread)
        what = "pytest plugin, cost of the first `clock` fixture"
        yield Row("S14", what, "s", Goal("<", 0.5), self._figure(FIRST_FIXTURE_SECONDS))
        what = "pytest plugin, cost of each further `clock` fixture"
        yield Row("S14", what, "ms", Goal("<", 12), self._figure(NEXT_FIXTURE_MILLIS))

    def _ledger(self) -> Iterator[Row]:
        for method in (*QUESTIONS, RECONCILE):
            read, question = Case(LEDGER, READ_CLOCK, 1), Case(LEDGER, method, 1)
            spread = Spread.of(self._results.ratios((read, TICKOVER), (question, TICKOVER)))
            size = f"{bodies.GROWN_ITEMS:,} items"
            if method == RECONCILE:
                # The most that a clock can have.
                size = f"{bodies.MAX_GROWN_TRANSACTIONS:,} transactions"
            what = f"{method} of {size}, time against getTestClock"
            number, goal = {RECONCILE: ("S20", 5), "checkTestClock": ("S15", 1.2)}.get(method, ("S15", 3))
            yield Row(number, what, "times", Goal("≤", goal), spread)

    def _bank(self) -> Iterator[Row]:
        for number, one, other, goal in (
            ("S18", bank_block.FROM_SCENARIO, bank_block.BY_AMENDMENTS, 0.2),
            ("S19", bank_block.PLAID, READ_CLOCK, 3),
            ("S19", bank_block.SIMPLEFIN, READ_CLOCK, 2),
        ):
            ones, others = (self._results.figures.get(bank_block.seconds_of(name), []) for name in (one, other))
            yield Row(
                number, f"{one}, time against {other}", "times", Goal("≤", goal), Spread.of(quotients(ones, others))
            )

    def _ratio(self, case: Case, one: str, other: str) -> Spread | None:
        return Spread.of(self._results.ratios((case, one), (case, other)))

    def _figure(self, name: str) -> Spread | None:
        return Spread.of(self._results.figures.get(name, []))

    def _fewer_creates(self) -> str:
        return f"{self._plan.creates:,} instead of {FULL.creates:,} clocks" if self._plan.is_quick else ""


def items_of(params: bodies.Json) -> int:
    """Return the number of transactions and contributions."""
    goals: Sequence[bodies.Json] = params.get("goals", [])
    return len(params["transactions"]) + sum(len(goal["contributions"]) for goal in goals)
