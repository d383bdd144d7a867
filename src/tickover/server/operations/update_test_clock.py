"""updateTestClock: change the name and the labels of a clock."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from tickover.api.clocks import OneClock
from tickover.api.errors import Reason
from tickover.api.fields import ClockId, ClockName, Labels, Params, doc
from tickover.server.operations import sizes
from tickover.server.operations.clocks import CLOCK_REASONS, clock_result
from tickover.server.operations.operation import VIEW, Caller, Example, Operation, Permission, Services
from tickover.server.schedule.clocks import encode_labels
from tickover.server.storage.store import NameChanges


class UpdateEntry(Params, frozen=True):
    """The parameters of updateTestClock. None removes a member."""

    id: ClockId
    name: Annotated[ClockName | None | UnsetType, doc("The new name, or null to remove it.")] = UNSET
    labels: Annotated[
        Labels | None | UnsetType, doc("The new labels, which replace all old ones, or null to remove them.")
    ] = UNSET


async def update_test_clock(params: UpdateEntry, caller: Caller, services: Services) -> bytes:
    labels = params.labels if params.labels is UNSET else encode_labels(params.labels)
    changes = NameChanges(params.name, labels)
    return clock_result(*await services.clocks.rename(params.id, changes, caller))


OPERATION = Operation(
    name="updateTestClock",
    summary="Change the name and the labels of a clock",
    description=(
        "Changes only the parameters that you pass. `labels` replaces all labels. `null` removes the name or all "
        "labels. This never moves the clock, and its schedule stays the same."
    ),
    params=UpdateEntry,
    result=OneClock,
    handler=update_test_clock,
    needs=Permission.WRITE,
    is_idempotent=True,
    cost=VIEW,
    max_result=sizes.CLOCK,
    reasons=(*CLOCK_REASONS, Reason.RATE_LIMITED),
    examples=(
        Example(
            "Another name, and no labels",
            {"id": "clock_01a2d120-d6c0-7cbe-9407-e3e6b6058306", "name": "Kept", "labels": None},
        ),
    ),
)
