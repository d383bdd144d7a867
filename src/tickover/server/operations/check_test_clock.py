from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

from msgspec import UNSET, UnsetType, json

from tickover.api import timestamps
from tickover.api.clocks import Expectations
from tickover.api.errors import Fault, reject
from tickover.api.expectations import CheckResult, ExpectationEntry
from tickover.api.fields import OpeningBalances, doc, faults_of_each
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.operations.ledgers import opening_faults, range_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.check_expectations import Check
from tickover.server.schedule.schedule import Expectation

_HOLDS: Final = b'{"ok":true}'


class CheckEntry(ClockParams, frozen=True):
    expectations: Annotated[Expectations | UnsetType, doc("Default: the expectations of the clock.")] = UNSET
    until: Annotated[
        Instant | UnsetType, doc("The end of the check, from the clock's start to its `maxTime`, which is the default.")
    ] = UNSET
    opening_balances: OpeningBalances | UnsetType = UNSET

    def faults(self, now: Instant) -> Iterable[Fault]:
        return faults_of_each("expectations", self.expectations, ExpectationEntry.own_faults)


@Operation(
    "checkTestClock",
    CheckResult,
    needs=Permission.READ,
    examples={
        "Did the money hold?": {
            "id": EXAMPLE_CLOCK,
            "openingBalances": {"EUR": 1000},
            "expectations": [
                {"balance": {"currency": "EUR", "atLeast": 0}},
                {"goalReached": {"goal": "Trip", "by": "2027-12-31T00:00:00Z"}},
                {"total": {"type": "EXPENSE", "currency": "EUR", "category": "home", "per": "MONTH", "atMost": 1200}},
                {"posted": {"name": "Salary", "by": "2027-01-31T00:00:00Z"}},
            ],
        }
    },
)
async def check_test_clock(params: CheckEntry, caller: Caller, services: Services) -> bytes:
    """Check expectations about balances, goals, totals and transactions.

    Checks expectations, by default those of the clock, from its start to `until`, and returns a result for each, in
    their order. A violation names the first instant at which the expectation doesn't hold. A currency, account,
    category or goal that the clock doesn't have is rejected. This never moves the clock.
    """
    clock, schedule = await services.clocks.find(params.id, caller)
    cached = await services.ledgers.get(clock, schedule)
    until = params.until or clock.max_time
    faults = range_faults("until", until, clock)
    faults += opening_faults(schedule, params.opening_balances)
    opening = cached.ledger.opening_balances(params.opening_balances)
    check = Check(cached.ledger, cached.totals, clock.start_time, clock.max_time if faults else until, opening)
    expectations: Sequence[Expectation]
    if isinstance(params.expectations, UnsetType):
        expectations = schedule.expectations or []
        faults += _stored_faults(expectations, check.until)
    else:
        expectations = params.expectations
        faults += check.faults(expectations)
    reject(faults)
    results: list[bytes] = []
    for each in expectations:
        found = check.run(each)
        results.append(_HOLDS if found is None else json.encode({"ok": False, "violation": found}))
        await gate.pause()
    ok = b"true" if results.count(_HOLDS) == len(results) else b"false"
    stored = b',"expectations":%b' % json.encode(expectations) if params.expectations is UNSET else b""
    return b'{"ok":%b,"until":%b,"results":[%b]%b}' % (ok, json.encode(until), b",".join(results), stored)


def _stored_faults(expectations: Sequence[Expectation], until: Instant) -> Iterator[Fault]:
    """Return the faults of a check of stored expectations, which were valid when they were stored."""
    if not expectations:
        yield Fault("expectations", "required", "is required, because the clock has no expectations of its own")
    latest = max([at for expectation in expectations for at in expectation.instants()], default=until)
    if latest > until:
        message = f"must not be before the last instant of the clock's expectations ({timestamps.write(latest)})"
        yield Fault("until", "range", message, timestamps.write(until))
