from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from tickover.api.clocks import AddEntry, GoalEntry, OneClock, TransactionEntry
from tickover.api.errors import Fault, Reason
from tickover.api.fields import Text, doc, faults_of_each
from tickover.api.limits import MAX_CANCELLED
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams, live_key
from tickover.server.schedule.amend_schedule import NextSchedule, amend
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.schedule import Schedule


class AmendEntry(ClockParams, frozen=True):
    add: AddEntry | UnsetType = UNSET
    cancel: Annotated[
        Annotated[Sequence[Text], Meta(max_length=MAX_CANCELLED)] | UnsetType,
        doc("The IDs of transactions, transfers and contributions after `frozenTime`."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        add = self.add if isinstance(self.add, AddEntry) else AddEntry()
        # Invalid members are None. They have faults of their own.
        lists = (self.cancel, add.transactions, add.goals, add.contributions, add.transfers)
        if self.add is not None and all(each is not None and not each for each in lists):
            yield Fault("add", "required", "add or cancel at least one item")
        yield from faults_of_each("add.transactions", add.transactions, TransactionEntry.own_faults)
        yield from faults_of_each("add.goals", add.goals, GoalEntry.own_faults)


@Operation(
    "amendTestClock",
    OneClock,
    needs=Permission.WRITE,
    takes_idempotency_key=True,
    reasons=(Reason.ITEM_NOT_PENDING, Reason.RATE_LIMITED),
    examples={
        "A late bonus, and one contribution less": {
            "id": EXAMPLE_CLOCK,
            "add": {
                "transactions": [
                    {"at": "2027-02-01T00:00:00Z", "name": "Bonus", "amount": 400, "currency": "EUR", "type": "INCOME"}
                ]
            },
            "cancel": ["ctb_01a2d11f02007129903ac1d45597fdf1_0_1"],
        }
    },
)
async def amend_test_clock(params: AmendEntry, caller: Caller, services: Services) -> bytes:
    """Add items to a clock, and cancel items that haven't happened yet.

    The past never changes: you can cancel only items after `frozenTime`. A new item that is dated exactly at the
    clock's `frozenTime` happens immediately. The call adds or cancels at least one item, and changes all or nothing.
    A clock holds at most {MAX_CLOCK_TRANSACTIONS:,} transactions and transfers, {MAX_CLOCK_GOALS} goals,
    {MAX_GOAL_CONTRIBUTIONS} contributions to one goal, {MAX_CLOCK_ITEMS:,} items in total, and {MAX_CLOCK_CURRENCIES}
    different currencies. The server never reuses the IDs of cancelled items.
    """
    add = AddEntry() if params.add is UNSET else params.add

    async def compute(clock: Clock, schedule: Schedule) -> NextSchedule:
        return amend(clock, schedule, add, params.cancel or ())

    amended = await services.clocks.amend(params.id, caller, compute)
    services.clock_changed(live_key(params.id, caller.now))
    return amended
