from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, UnsetType

from tickover.api.clocks import Expectations, OneClock
from tickover.api.errors import Fault, Reason, reject
from tickover.api.expectations import ExpectationEntry
from tickover.api.fields import ClockName, Labels, OpeningBalances, doc, faults_of_each
from tickover.api.timestamps import Instant
from tickover.server.operations.ledgers import range_faults
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.operations.stored_clocks import EXAMPLE_CLOCK, ClockParams
from tickover.server.schedule.clock import Clock, encode_labels
from tickover.server.schedule.schedule import fork_schedule, update_schedule


class ForkEntry(ClockParams, frozen=True):
    at: Annotated[
        Instant | UnsetType,
        doc("The `frozenTime` of the fork, from the original's start, which is the default, to its `maxTime`."),
    ] = UNSET
    name: Annotated[ClockName | UnsetType, doc("The name of the fork. Default: that of the original.")] = UNSET
    labels: Annotated[Labels | UnsetType, doc("The labels of the fork. Default: those of the original.")] = UNSET
    opening_balances: OpeningBalances | UnsetType = UNSET
    expectations: Annotated[
        Expectations | UnsetType,
        doc("The expectations of the fork. Default: those of the original. A goal's ID is that of the original."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterable[Fault]:
        return faults_of_each("expectations", self.expectations, ExpectationEntry.own_faults)


@Operation(
    "forkTestClock",
    OneClock,
    needs=Permission.WRITE,
    takes_idempotency_key=True,
    reasons=(Reason.RATE_LIMITED,),
    examples={"Back to where it started": {"id": EXAMPLE_CLOCK}},
)
async def fork_test_clock(params: ForkEntry, caller: Caller, services: Services) -> bytes:
    """Create a clock with the same schedule, at any instant of it.

    To rewind, fork at an earlier instant. The original doesn't change. The fork has all items of the original,
    including those that amendments added, its accounts, opening balances and expectations, and the same `maxTime`. It
    has its own IDs and expires seven days from now.
    """
    original, schedule = await services.clocks.find(params.id, caller)
    at = params.at or original.start_time
    faults = range_faults("at", at, original)
    faults += await services.ledgers.expectation_faults(
        original, schedule, params.opening_balances, params.expectations
    )
    reject(faults)
    name = params.name or original.name
    labels = original.labels if params.labels is UNSET else encode_labels(params.labels)
    fork = Clock(services.mint.new_key(caller.now), original.start_time, at, original.max_time, name, labels)
    schedule = update_schedule(schedule, params.opening_balances, params.expectations)
    return await services.clocks.create(fork, fork_schedule(schedule, fork), caller)
