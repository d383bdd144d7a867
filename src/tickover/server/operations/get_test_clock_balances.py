"""getTestClockBalances: return the balance of each currency at an instant."""

from typing import Annotated

from msgspec import UNSET, UnsetType, json

from tickover.api.clocks import Balances
from tickover.api.fields import ClockId, OpeningBalances, Params, doc
from tickover.api.limits import MAX_CLOCK_CURRENCIES, MAX_OPENING_BALANCES
from tickover.api.timestamps import Instant
from tickover.server.operations.clocks import CLOCK_REASONS, EXAMPLE_CLOCK
from tickover.server.operations.ledgers import CLOCK_RANGE, reject
from tickover.server.operations.operation import LEDGER, Caller, Example, Operation, Permission, Services
from tickover.server.schedule.expectations import time_faults
from tickover.server.schedule.ledger import balances


class BalancesEntry(Params, frozen=True):
    """The parameters of getTestClockBalances."""

    id: ClockId
    at: Annotated[
        Instant | UnsetType, doc("An instant from the clock's start to its `maxTime`. Default: its `frozenTime`.")
    ] = UNSET
    opening_balances: OpeningBalances = {}


async def get_test_clock_balances(params: BalancesEntry, caller: Caller, services: Services) -> bytes:
    clock, schedule = await services.clocks.find(params.id, caller)
    at = clock.frozen_time if params.at is UNSET else params.at
    reject(OPERATION.name, list(time_faults("at", at, clock.start_time, clock.max_time, CLOCK_RANGE)))
    ledger = (await services.ledgers.get(clock, schedule)).ledger
    return json.encode({"at": at, "balances": balances(ledger, clock.start_time, at, params.opening_balances)})


OPERATION = Operation(
    name="getTestClockBalances",
    summary="Return the balance of each currency at an instant, with its lowest and highest point",
    description=(
        "Returns one balance for each currency of the clock or of `openingBalances`, sorted by currency. Sums are "
        "exact. Transactions of one instant count together: the lowest and the highest balance are taken after all of "
        "them. This never moves the clock."
    ),
    params=BalancesEntry,
    result=Balances,
    handler=get_test_clock_balances,
    needs=Permission.READ,
    is_idempotent=True,
    cost=LEDGER,
    max_result=1024 + (MAX_CLOCK_CURRENCIES + MAX_OPENING_BALANCES) * 384,
    reasons=CLOCK_REASONS,
    examples=(Example("Now", {"id": EXAMPLE_CLOCK, "openingBalances": {"EUR": 1000}}),),
)
