from collections.abc import Iterator
from itertools import accumulate
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, json

from tickover.api import ids
from tickover.api.clocks import ClockPage, Summary
from tickover.api.errors import Fault, truncate
from tickover.api.fields import ClockName, Labels, Params, Text, doc
from tickover.api.limits import DEFAULT_PAGE, MAX_PAGE, MAX_PAGE_NAMES, MAX_SCANNED_CLOCKS
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.schedule.clock import Clock, encode_label, encode_names
from tickover.server.storage.store import ClockSearch


class ListEntry(Params, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE), doc("The maximum number of clocks.")] = DEFAULT_PAGE
    cursor: Annotated[Text | UnsetType, doc("The `nextCursor` of the previous page.")] = UNSET
    labels: Annotated[Labels, doc("Returns only clocks that have all of these labels with these values.")] = {}
    name: Annotated[ClockName | UnsetType, doc("Returns only clocks with exactly this name.")] = UNSET
    details: Annotated[bool, doc("Whether each clock has its `startTime`.")] = False

    def faults(self, now: Instant) -> Iterator[Fault]:
        if isinstance(self.cursor, str) and ids.read_cursor(self.cursor) is None:
            message = "must be a nextCursor from a listTestClocks result"
            yield Fault("cursor", "format", message, truncate(self.cursor))


@Operation(
    "listTestClocks",
    ClockPage,
    needs=Permission.READ,
    examples={
        "The newest two": {"limit": 2},
        "And the rest": {"limit": 2, "cursor": "cursor_01a2d120d6c07cbe9407e3e6b6058306"},
    },
)
async def list_test_clocks(params: ListEntry, caller: Caller, services: Services) -> ClockPage:
    """List your live clocks, newest first.

    Doesn't list expired clocks. Pass `nextCursor` as `cursor` to get the next page. With `labels` or `name`, one call
    searches at most {MAX_SCANNED_CLOCKS:,} clocks. So a page can have fewer clocks than `limit`, or none, and still
    have a `nextCursor`.
    """
    limit = params.limit
    before = ids.read_cursor(params.cursor or "")
    # One more than the limit tells whether there is a next page.
    query = (caller.token, ids.first_live_key(caller.now), before, limit + 1)
    if params.labels or params.name:
        members = [encode_label(name, value) for name, value in params.labels.items()]
        # It may find few clocks if there are many others.
        search = ClockSearch(MAX_SCANNED_CLOCKS, members, params.name or None)
        scan = await services.store.search_clocks(*query, search)
        found, last_key = scan.clocks, scan.last_key
    else:
        found, last_key = await services.store.list_clocks(*query), None
    sizes = accumulate(len(encode_names(clock)) for clock in found[:limit])
    # One clock always fits.
    page = found[: max(sum(size <= MAX_PAGE_NAMES for size in sizes), 1)]
    if len(page) < len(found):
        last_key = page[-1].key
    clocks = [_summary(clock, details=params.details) for clock in page]
    return ClockPage(clocks, ids.write_cursor(last_key) if last_key else None)


def _summary(clock: Clock, *, details: bool) -> Summary:
    labels = None if clock.labels is None else json.decode(clock.labels, type=dict[str, str])
    return Summary(
        id=ids.write("clock", clock.key),
        status="READY",
        frozen_time=clock.frozen_time,
        max_time=clock.max_time,
        expires_at=ids.expires_at(clock.key),
        name=clock.name,
        labels=labels,
        start_time=clock.start_time if details else None,
    )
