"""checkTestClock: check expectations about balances, goals, totals and transactions."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, UnsetType, json

from tickover.api.errors import Fault
from tickover.api.expectations import CheckResult, ExpectationEntry
from tickover.api.fields import Bound, ClockId, OpeningBalances, Params, TotalBound, doc
from tickover.api.limits import MAX_CLOCK_TRANSACTIONS, MAX_EXPECTATIONS, MAX_GOAL_CONTRIBUTIONS
from tickover.api.timestamps import Instant
from tickover.server.operations import sizes
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK
from tickover.server.operations.ledgers import CLOCK_RANGE, reject
from tickover.server.operations.operation import LEDGER, Caller, Example, Operation, Permission, Services
from tickover.server.schedule.expectations import Scope, check, scope_faults, time_faults

_MANY_ITEMS: Final = 100
_HOLDS: Final = b'{"ok":true}'


class CheckEntry(Params, frozen=True):
    """The parameters of checkTestClock."""

    id: ClockId
    expectations: Annotated[
        Sequence[ExpectationEntry[Bound, TotalBound]],
        Meta(min_length=1, max_length=MAX_EXPECTATIONS),
        doc("Each has exactly one member."),
    ]
    until: Annotated[
        Instant | UnsetType,
        doc(
            "The end of the check, from the clock's start to its `maxTime`. Default: its `maxTime`, so that the whole "
            "schedule is checked."
        ),
    ] = UNSET
    opening_balances: OpeningBalances = {}

    def faults(self, now: Instant) -> Iterator[Fault]:
        for index, expectation in enumerate(self.expectations or ()):
            if expectation is not None:
                yield from expectation.faults_at(f"expectations[{index}]")


async def check_test_clock(params: CheckEntry, caller: Caller, services: Services) -> bytes:
    clock, schedule = await services.clocks.find(params.id, caller)
    cached = await services.ledgers.get(clock, schedule)
    until = clock.max_time if params.until is UNSET else params.until
    faults = list(time_faults("until", until, clock.start_time, clock.max_time, CLOCK_RANGE))
    scope = Scope(clock.start_time, clock.max_time if faults else until, params.opening_balances)
    faults += scope_faults(params.expectations, cached.ledger, cached.totals, scope)
    reject(OPERATION.name, faults)
    results: list[bytes] = []
    for each in params.expectations:
        found = check(each, cached.ledger, cached.totals, scope)
        results.append(_HOLDS if found is None else json.encode({"ok": False, "violation": found}))
        if found is not None and len(found.item_ids) > _MANY_ITEMS:
            # The next one can take as long.
            await asyncio.sleep(0)
    ok = b"true" if results.count(_HOLDS) == len(results) else b"false"
    return b'{"ok":%b,"until":%b,"results":[%b]}' % (ok, json.encode(until), b",".join(results))


OPERATION = Operation(
    name="checkTestClock",
    summary="Check expectations about balances, goals, totals and transactions",
    description=(
        "Checks expectations from the clock's start to `until`, and returns a result for each, in the order of the "
        "request. A violation names the first instant at which the expectation doesn't hold. A currency, category or "
        "goal that the clock doesn't have is rejected. This never moves the clock."
    ),
    params=CheckEntry,
    result=CheckResult,
    handler=check_test_clock,
    needs=Permission.READ,
    is_idempotent=True,
    cost=LEDGER,
    max_result=1024
    + MAX_EXPECTATIONS * (512 + sizes.NAME_AND_CATEGORY + max(MAX_CLOCK_TRANSACTIONS, MAX_GOAL_CONTRIBUTIONS) * 64),
    reasons=CLOCK_REASONS,
    examples=(
        Example(
            "Did the money hold?",
            {
                "id": EXAMPLE_CLOCK,
                "openingBalances": {"EUR": 1000},
                "expectations": [
                    {"balance": {"currency": "EUR", "atLeast": 0}},
                    {"goalReached": {"goal": "Trip", "by": "2027-12-31T00:00:00Z"}},
                    {
                        "total": {
                            "type": "EXPENSE",
                            "currency": "EUR",
                            "category": "home",
                            "per": "MONTH",
                            "atMost": 1200,
                        }
                    },
                    {"posted": {"name": "Salary", "by": "2027-01-31T00:00:00Z"}},
                ],
            },
        ),
    ),
)
