from typing import Annotated

from msgspec import UNSET, UnsetType, json

from tickover.api.clocks import Balances
from tickover.api.errors import reject
from tickover.api.fields import OpeningBalances, doc
from tickover.api.timestamps import Instant
from tickover.server.operations.ledgers import opening_faults, range_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.ledger import balances


class BalancesEntry(ClockParams, frozen=True):
    at: Annotated[
        Instant | UnsetType, doc("An instant from the clock's start to its `maxTime`. Default: its `frozenTime`.")
    ] = UNSET
    opening_balances: OpeningBalances | UnsetType = UNSET


@Operation(
    "getTestClockBalances",
    Balances,
    needs=Permission.READ,
    examples={"Now": {"id": EXAMPLE_CLOCK, "openingBalances": {"EUR": 1000}}},
)
async def get_test_clock_balances(params: BalancesEntry, caller: Caller, services: Services) -> bytes:
    """Return the balance of each currency and account at an instant, with its lowest and highest point.

    Returns one balance for each currency of the clock or of its opening balances, sorted by currency, and one for each
    account. Sums are exact. Items of one instant count together: the lowest and the highest balance are taken after all
    of them. `openingBalances` replaces those of the clock. This never moves the clock.
    """
    clock, schedule = await services.clocks.find(params.id, caller)
    at = params.at or clock.frozen_time
    faults = range_faults("at", at, clock)
    reject(faults + opening_faults(schedule, params.opening_balances))
    ledger = (await services.ledgers.get(clock, schedule)).ledger
    opening = ledger.opening_balances(params.opening_balances)
    return json.encode({"at": at, **balances(ledger, clock.start_time, at, opening)})
