"""Parameters of the clock operations."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from tickover.api import ids
from tickover.api.clocks import AddEntry, currency_faults, initial_amount_faults
from tickover.api.errors import Fault, truncate
from tickover.api.fields import ClockId, ClockName, Labels, Params, Text, doc
from tickover.api.limits import DEFAULT_PAGE, MAX_CANCELLED, MAX_PAGE
from tickover.api.timestamps import Instant


def _with_items(name: str) -> dict[str, Any]:
    """Require a list that isn't empty."""
    return {"required": [name], "properties": {name: {"minItems": 1}}}


class AmendEntry(Params, frozen=True):
    """The parameters of amendTestClock."""

    combinations: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {
                "required": ["add"],
                "properties": {"add": {"anyOf": [*map(_with_items, ("transactions", "goals", "contributions"))]}},
            },
            _with_items("cancel"),
        ]
    }

    id: ClockId
    add: AddEntry | UnsetType = UNSET
    cancel: Annotated[
        Annotated[Sequence[Text], Meta(max_length=MAX_CANCELLED)] | UnsetType,
        doc("The IDs of pending transactions and upcoming contributions."),
    ] = UNSET

    def faults(self, now: Instant) -> Iterator[Fault]:
        add = self.add if isinstance(self.add, AddEntry) else AddEntry()
        # Invalid members are None. They have faults of their own.
        lists = (self.cancel, add.transactions, add.goals, add.contributions)
        if self.add is not None and all(each is not None and not each for each in lists):
            yield Fault("add", "required", "add or cancel at least one item")
        yield from currency_faults("add.transactions", add.transactions)
        yield from initial_amount_faults("add.goals", add.goals)


class AdvanceEntry(Params, frozen=True):
    """The parameters of advanceTestClock."""

    id: ClockId
    frozen_time: Annotated[
        Instant, doc("The new simulated time, from the clock's `frozenTime` to its `maxTime` inclusive.")
    ]


class GetEntry(Params, frozen=True):
    """The parameters of getTestClock. With `at`, the result is a preview."""

    id: ClockId
    at: Annotated[
        Instant | UnsetType,
        doc(
            "Returns the clock as it would be at this instant, from its `frozenTime` to its `maxTime` inclusive. "
            "Default: its `frozenTime`."
        ),
    ] = UNSET
    details: Annotated[bool, doc("Whether the clock has its `startTime`, and each goal its `initialAmount`.")] = False


class ListEntry(Params, frozen=True):
    """The parameters of listTestClocks."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE), doc("The maximum number of clocks.")] = DEFAULT_PAGE
    cursor: Annotated[
        Text | UnsetType,
        doc("The `nextCursor` of the previous page. Without it, the list starts with the newest clock."),
    ] = UNSET
    labels: Annotated[Labels, doc("Returns only clocks that have all of these labels with these values.")] = {}
    details: Annotated[bool, doc("Whether each clock has its `startTime`.")] = False

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and ids.read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClocks result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


class DeleteEntry(Params, frozen=True):
    """The parameters of deleteTestClock."""

    id: ClockId


class ForkEntry(Params, frozen=True):
    """The parameters of forkTestClock."""

    id: ClockId
    at: Annotated[
        Instant | UnsetType,
        doc(
            "The `frozenTime` of the fork, from the original's first `frozenTime` to its `maxTime` inclusive. Default: "
            "the first `frozenTime`."
        ),
    ] = UNSET
    name: Annotated[ClockName | UnsetType, doc("The name of the fork. Default: that of the original.")] = UNSET
    labels: Annotated[Labels | UnsetType, doc("The labels of the fork. Default: those of the original.")] = UNSET


class UpdateEntry(Params, frozen=True):
    """The parameters of updateTestClock. None removes a member."""

    id: ClockId
    name: Annotated[ClockName | None | UnsetType, doc("The new name, or null to remove it.")] = UNSET
    labels: Annotated[
        Labels | None | UnsetType, doc("The new labels, which replace all old ones, or null to remove them.")
    ] = UNSET
