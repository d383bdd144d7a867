"""The asyncio client and its clocks."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, TypeVar

from msgspec import UNSET, UnsetType

from tickover.api.arguments import Amount, InstantLike
from tickover.api.durations import Duration
from tickover.api.errors import Rejection
from tickover.api.expectations import Expectation
from tickover.api.limits import DEFAULT_TOKEN_DAYS
from tickover.api.plans import Plan, PlannedGoal, PlannedItem, PlannedTransaction, expense
from tickover.api.results import (
    AccessToken,
    Balance,
    Balances,
    CheckResult,
    ClockPage,
    CreatedAccessToken,
    CurrentUser,
    Event,
    EventPage,
    SignedIn,
    Snapshot,
    Summary,
)
from tickover.api.results import StoredEmail as Email
from tickover.client import calls
from tickover.client.amendments import Item, ids_in_fork
from tickover.client.base_client import DEFAULT_URL, BaseClient
from tickover.client.calls import Call
from tickover.client.clocks import AdvanceResult, ClockView, by_currency
from tickover.client.retries import RetryState

T = TypeVar("T")


class AsyncTickover(BaseClient):
    """A client for one server. Inside `async with` it reuses connections.

    Outside of `async with` every call opens its own connection. Nothing is then bound to an event loop: you can use
    one client from several loops in turn, and there is nothing to close.
    """

    def __init__(
        self, url: str = DEFAULT_URL, token: str | None = None, *, timeout: float = 15.0, retries: int = 2
    ) -> None:
        # Imported here because both take long to import, and `tickover --help` doesn't need them.
        from asyncio import sleep  # noqa: PLC0415

        from tickover.client.connections import AsyncConnections  # noqa: PLC0415

        super().__init__(url, token, retries)
        self._sleep = sleep
        self._connections = AsyncConnections(url, timeout)

    async def __aenter__(self) -> Self:
        self._connections.reuse()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The client can't be used afterwards."""
        await self._connections.close()

    async def send_code(self, email: str) -> None:
        """Send a six-digit code to this email address."""
        await self._send(calls.send_code(email))

    async def send_link(self, email: str) -> str | None:
        """Send a login link. Return it too if the server stores emails in the development outbox."""
        return calls.login_url(await self._send(calls.send_link(email)))

    async def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code. The client sends the token with later calls."""
        return self._store_token(await self._send(calls.log_in(email, code)))

    async def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with the part after `#token=`. The client sends the token with later calls."""
        return self._store_token(await self._send(calls.log_in_by_link(link_or_secret)))

    async def log_out(self) -> None:
        """Revoke the token and remove it from the client."""
        await self._send(calls.log_out())
        self.token = None

    async def current_user(self) -> CurrentUser:
        """Return the user that the token belongs to, and when the token expires."""
        return await self._send(calls.current_user())

    async def create_access_token(
        self, name: str, *, expires_in_days: int = DEFAULT_TOKEN_DAYS, read_only: bool = False
    ) -> CreatedAccessToken:
        """Create a token for a program. It is shown only once. The client must have signed in."""
        return await self._send(calls.create_access_token(name, expires_in_days, read_only))

    async def list_access_tokens(self) -> Sequence[AccessToken]:
        """Return your live access tokens, newest first."""
        return (await self._send(calls.list_access_tokens())).tokens

    async def revoke_access_token(self, id: str) -> None:
        """Revoke the access token with this id."""
        await self._send(calls.revoke_access_token(id))

    async def latest_email(self, email: str) -> Email | None:
        """Return the newest email to this address, or None if the development mailbox has none or is disabled."""
        return await self._send(calls.latest_email(email))

    async def create_clock(  # noqa: PLR0913 - one parameter for each part of a clock
        self,
        plan: Plan | None = None,
        *,
        frozen_time: InstantLike | None = None,
        transactions: Sequence[PlannedTransaction] = (),
        goals: Sequence[PlannedGoal] = (),
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> "AsyncClock":
        """Create a clock from a plan, or from a frozen time, transactions and goals."""
        plan = calls.name_plan(calls.build_plan(plan, frozen_time, transactions, goals), name, labels)
        result = await self._send(calls.create_clock(plan, idempotency_key))
        return AsyncClock(self, result.clock, plan.opening, plan.expectations)

    async def get_clock(self, id: str, at: InstantLike | None = None) -> "AsyncClock":
        """Return the clock with this id. With `at`, preview it at that instant without moving it."""
        return AsyncClock(self, (await self._send(calls.get_clock(id, at))).clock)

    async def fork_clock(
        self,
        id: str,
        at: InstantLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> "AsyncClock":
        """Create a clock with the same schedule, at the instant `at` or at the original start."""
        return AsyncClock(self, (await self._send(calls.fork_clock(id, at, name, labels))).clock)

    async def amend_clock(
        self, id: str, *, add: Sequence[PlannedItem] = (), cancel: Sequence[Item] = ()
    ) -> "AsyncClock":
        """Add items to a clock, and cancel items that have not happened yet. Name the goals of contributions by id."""
        result = await self._send(calls.amend_clock(id, add, cancel))
        return AsyncClock(self, self._record(result.clock, add, cancel))

    async def update_clock(
        self,
        id: str,
        *,
        name: str | None | UnsetType = UNSET,
        labels: Mapping[str, str] | None | UnsetType = UNSET,
    ) -> "AsyncClock":
        """Replace the name, the labels or both. None removes them."""
        return AsyncClock(self, (await self._send(calls.update_clock(id, name, labels))).clock)

    async def delete_clock(self, id: str) -> None:
        await self._send(calls.delete_clock(id))

    async def list_clocks(self, labels: Mapping[str, str] | None = None) -> AsyncIterator[Summary]:
        """Iterate over your clocks with these labels, or over all, newest first. Pages are requested when needed."""
        call: Call[ClockPage] | None = calls.first_page(labels)
        while call is not None:
            page = await self._send(call)
            for clock in page.clocks:
                yield clock
            call = calls.next_page(page, labels)

    async def list_page(
        self, limit: int = 20, cursor: str | None = None, labels: Mapping[str, str] | None = None
    ) -> ClockPage:
        """Return one page of your clocks with these labels, or of all, newest first."""
        return await self._send(calls.list_page(limit, cursor, labels))

    async def list_events(
        self,
        id: str,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over a clock's events after `after` and until `until`, which is the frozen time by default."""
        call: Call[EventPage] | None = calls.list_events(id, after, until, opening)
        while call is not None:
            page = await self._send(call)
            for event in page.events:
                yield event
            cursor = page.next_cursor
            call = None if cursor is None else calls.list_events(id, after, until, opening, cursor)

    async def get_balances(
        self, id: str, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> Balances:
        """Return a clock's balances at an instant, which is the frozen time by default."""
        return await self._send(calls.get_balances(id, at, opening))

    async def check_clock(
        self,
        id: str,
        expectations: Sequence[Expectation],
        *,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations about the schedule until `until`. The result is false if an expectation fails."""
        return await self._send(calls.check_clock(id, expectations, until, opening))

    async def discover(self) -> dict[str, Any]:
        """Return the server's OpenRPC document."""
        return await self._send(calls.discover())

    async def _send(self, call: Call[T]) -> T:
        state = RetryState(call, self._retries)
        while not state.is_finished(await self._connections.send(call.request, self._token_for(call))):
            await self._sleep(state.delay)
        return state.result


class AsyncClock(ClockView):
    """A clock. Its properties are from the last response; its methods call the server."""

    def __init__(
        self,
        tickover: AsyncTickover,
        snapshot: Snapshot,
        opening: Mapping[str, Amount] = {},
        expectations: Sequence[Expectation] = (),
    ) -> None:
        super().__init__(snapshot, opening, expectations)
        self._tickover = tickover

    async def advance(  # noqa: PLR0913 - one parameter for each unit of time
        self,
        to: InstantLike | None = None,
        *,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: int = 0,
        minutes: int = 0,
        seconds: int = 0,
    ) -> AdvanceResult:
        """Advance the clock to an instant or by a duration."""
        duration = Duration(years, months, weeks, days, hours, minutes, seconds)
        return await self._advance(self._advance_target(to, duration))

    async def advance_to_next(self) -> AdvanceResult:
        """Advance the clock to its next transaction or contribution. Raise NothingLeft if there is none."""
        return await self._advance(self._require_next_at())

    async def preview(self, at: InstantLike) -> Snapshot:
        """Return the clock as it would be at an instant, without moving it."""
        return (await self._tickover.get_clock(self.id, at)).snapshot

    async def refresh(self) -> None:
        """Load the clock's current state from the server."""
        self._update((await self._tickover.get_clock(self.id)).snapshot)

    async def fork(
        self,
        at: InstantLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        add: Sequence[PlannedItem] = (),
        cancel: Sequence[Item] = (),
    ) -> "AsyncClock":
        """Create a clock with the same schedule, at the instant `at` or at this clock's original start.

        `add` and `cancel` amend the fork in a second call. `cancel` has items of this clock. If the server rejects the
        amendment, the fork is deleted.
        """
        fork = await self._tickover.fork_clock(self.id, at, name=name, labels=labels)
        fork = AsyncClock(self._tickover, fork.snapshot, self.opening, self.expectations)
        if add or cancel:
            try:
                await fork._amend(add, ids_in_fork(cancel, self.id, fork.id))
            except Rejection:
                await fork.delete()
                raise
        return fork

    async def add(self, *items: PlannedItem) -> AdvanceResult:
        """Add items to the clock. Items at the frozen time happen at once. Return what happened."""
        return await self._amend(items, ())

    async def cancel(self, *items: Item) -> AdvanceResult:
        """Cancel pending transactions and upcoming contributions, or their ids."""
        return await self._amend((), items)

    async def spend(self, name: str, amount: Amount, currency: str, category: str | None = None) -> AdvanceResult:
        """Add an expense at the clock's frozen time."""
        return await self.add(expense(name, amount, currency, self.frozen_time, category))

    async def rename(self, name: str | None) -> None:
        """Replace the clock's name. None removes it."""
        await self.update(name=name)

    async def update(
        self,
        *,
        name: str | None | UnsetType = UNSET,
        labels: Mapping[str, str] | None | UnsetType = UNSET,
    ) -> None:
        """Replace the clock's name, its labels or both. None removes them."""
        self._update((await self._tickover.update_clock(self.id, name=name, labels=labels)).snapshot)

    async def delete(self) -> None:
        await self._tickover.delete_clock(self.id)

    async def events(
        self,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over the events after `after` and until `until`, which is the frozen time by default."""
        async for event in self._tickover.list_events(
            self.id, after=after, until=until, opening=self._opening_or(opening)
        ):
            yield event

    async def balance(
        self, currency: str, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> Decimal:
        """Return one currency's balance at an instant, which is the frozen time by default."""
        # An opening balance makes the server return this currency even if no transaction has it.
        opening = {currency: 0, **self._opening_or(opening)}
        return (await self.balances(at, opening=opening))[currency].balance

    async def balances(
        self, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> dict[str, Balance]:
        """Return the balance of each currency at an instant, with its lowest and highest point until then."""
        return by_currency(await self._tickover.get_balances(self.id, at, opening=self._opening_or(opening)))

    async def check(
        self,
        *expectations: Expectation,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations, or those of the clock's plan. Raise ExpectationFailed if one doesn't hold."""
        __tracebackhide__ = True
        expectations, opening = expectations or tuple(self.expectations), self._opening_or(opening)
        result = await self._tickover.check_clock(self.id, expectations, until=until, opening=opening)
        return self._require_success(expectations, result, opening)

    async def _advance(self, to: datetime) -> AdvanceResult:
        result = await self._tickover._send(calls.advance_clock(self.id, to))  # noqa: SLF001 - same module
        return self._update(result.clock)

    async def _amend(self, add: Sequence[PlannedItem], cancel: Sequence[Item]) -> AdvanceResult:
        result = await self._tickover._send(calls.amend_clock(self.id, add, cancel, self.goals))  # noqa: SLF001 - same module
        return self._update(self._tickover._record(result.clock, add, cancel))  # noqa: SLF001 - same module
