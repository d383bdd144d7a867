from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tickover.api.clocks import Expectations, OneClock
from tickover.api.connections import BankSettings
from tickover.api.errors import Fault, Reason, reject
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import ClockName, Labels, OpeningBalances, doc, faults_of_each
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import ClockParams, clock_result
from tickover.server.schedule.amend_schedule import NextSchedule
from tickover.server.schedule.clock import Clock, encode_labels
from tickover.server.schedule.schedule import Schedule, update_schedule
from tickover.server.storage.store import NameChanges


class UpdateEntry(ClockParams, frozen=True):
    name: Annotated[ClockName | None | UnsetType, doc("New name, or null to remove it.")] = UNSET
    labels: Annotated[Labels | None | UnsetType, doc("New labels, or null to remove them.")] = UNSET
    opening_balances: Annotated[
        OpeningBalances | None | UnsetType, doc("New opening balances, or null to remove them.")
    ] = UNSET
    expectations: Annotated[Expectations | None | UnsetType, doc("New expectations, or null to remove them.")] = UNSET
    bank_defaults: Annotated[
        BankSettings | None | UnsetType,
        doc("How the bank behaves for connections that an app makes itself, or null to remove it."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterable[Fault]:
        yield from faults_of_each("expectations", self.expectations, ExpectationEntry.own_faults)
        if self.bank_defaults:
            for fault in self.bank_defaults.faults(now):
                yield replace(fault, path=f"bankDefaults.{fault.path}")


@Operation(
    "updateTestClock",
    OneClock,
    needs=Permission.WRITE,
    can_be_repeated=True,
    reasons=(Reason.RATE_LIMITED,),
    examples={
        "Another name, and no labels": {
            "id": "clock_01a2d120-d6c0-7cbe-9407-e3e6b6058306",
            "name": "Kept",
            "labels": None,
        }
    },
)
async def update_test_clock(params: UpdateEntry, caller: Caller, services: Services) -> bytes:
    """Change a clock's name, labels, opening balances, expectations and bank.

    Changes only the parameters that you pass. Each replaces the old value as a whole, and `null` removes it. This never
    moves the clock, and its items stay the same.
    """
    labels = params.labels if params.labels is UNSET else encode_labels(params.labels)
    names = NameChanges(params.name, labels)
    if params.opening_balances is params.expectations is params.bank_defaults is UNSET:
        return clock_result(*await services.clocks.rename(params.id, names, caller))

    async def compute(clock: Clock, schedule: Schedule) -> NextSchedule:
        reject(await services.ledgers.expectation_faults(clock, schedule, params.opening_balances, params.expectations))
        updated = update_schedule(schedule, params.opening_balances, params.expectations)
        if params.bank_defaults is not UNSET:
            updated = replace(updated, bank_defaults=params.bank_defaults)
        return NextSchedule(updated, valid_until=clock.max_time)

    return await services.clocks.amend(params.id, caller, compute, names)
