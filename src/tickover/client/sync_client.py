"""The synchronous client and its clocks."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, TypeVar

from msgspec import UNSET, UnsetType

from tickover.api.arguments import Amount, InstantLike
from tickover.api.clocks import Balance, Balances, ClockPage, Event, EventPage, Snapshot, Summary
from tickover.api.durations import Duration
from tickover.api.errors import Reason, Rejection
from tickover.api.expectations import CheckResult, Expectation
from tickover.api.limits import DEFAULT_TOKEN_DAYS
from tickover.api.plans import Plan, PlannedGoal, PlannedItem, PlannedTransaction, expense, plan_of
from tickover.api.tokens import AccessToken, CreatedAccessToken, CurrentUser, SignedIn
from tickover.api.tokens import StoredEmail as Email
from tickover.client import calls
from tickover.client.amendments import Item, ids_in_fork
from tickover.client.base_client import DEFAULT_URL, BaseClient
from tickover.client.calls import Call
from tickover.client.clocks import AdvanceResult, ClockView, by_currency
from tickover.client.errors import NoCode
from tickover.client.large_plans import addition_key, is_incomplete, split_plan
from tickover.client.retries import RetryState

T = TypeVar("T")


class Tickover(BaseClient):
    """A client for one server. Use it in a `with` block or call `close()`. It is thread-safe."""

    def __init__(
        self, url: str = DEFAULT_URL, token: str | None = None, *, timeout: float = 15.0, retries: int = 2
    ) -> None:
        # Imported here because httpx2 takes long to import, and `tickover --help` doesn't need it.
        from tickover.client.connections import Connections  # noqa: PLC0415

        super().__init__(url, token, retries)
        self._connections = Connections(url, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. The client can't be used afterwards."""
        self._connections.close()

    def send_code(self, email: str) -> None:
        """Send a six-digit code to this email address."""
        self._send(calls.send_code(email))

    def send_link(self, email: str) -> str | None:
        """Send a login link. Return it too if the server stores emails in the development outbox."""
        return calls.login_url(self._send(calls.send_link(email)))

    def sign_in(self, email: str) -> SignedIn:
        """Send a code and sign in with it. The code is read from the development mailbox.

        If it is too soon for another code, use the last one, unless it was used already.
        """
        too_soon = None
        try:
            self.send_code(email)
        except Rejection as rejection:
            if rejection.reason is not Reason.RESEND_TOO_SOON:
                raise
            too_soon = rejection
        message = self.latest_email(email)
        if message is None or message.code is None:
            raise too_soon or NoCode(email)
        try:
            return self.log_in(email, message.code)
        except Rejection as rejection:
            if too_soon and rejection.reason is Reason.LOGIN_REFUSED:
                raise too_soon from None
            raise

    def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code. The client sends the token with later calls."""
        return self._store_token(self._send(calls.log_in(email, code)))

    def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with the part after `#token=`. The client sends the token with later calls."""
        return self._store_token(self._send(calls.log_in_by_link(link_or_secret)))

    def log_out(self) -> None:
        """Revoke the token and remove it from the client."""
        self._send(calls.log_out())
        self.token = None

    def current_user(self) -> CurrentUser:
        """Return the user that the token belongs to, and when the token expires."""
        return self._send(calls.current_user())

    def create_access_token(
        self, name: str, *, expires_in_days: int = DEFAULT_TOKEN_DAYS, read_only: bool = False
    ) -> CreatedAccessToken:
        """Create a token for a program. It is shown only once. The client must have signed in."""
        return self._send(calls.create_access_token(name, expires_in_days, read_only))

    def list_access_tokens(self) -> Sequence[AccessToken]:
        """Return your live access tokens, newest first."""
        return self._send(calls.list_access_tokens()).tokens

    def revoke_access_token(self, id: str) -> None:
        """Revoke the access token with this ID."""
        self._send(calls.revoke_access_token(id))

    def latest_email(self, email: str) -> Email | None:
        """Return the newest email to this address, or None if the development mailbox has none or is disabled."""
        return self._send(calls.latest_email(email))

    def create_clock(  # noqa: PLR0913 - one parameter for each part of a clock
        self,
        plan: Plan | None = None,
        *,
        frozen_time: InstantLike | None = None,
        transactions: Sequence[PlannedTransaction] = (),
        goals: Sequence[PlannedGoal] = (),
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> "Clock":
        """Create a clock from a plan, or from a frozen time, transactions and goals.

        Amendments add what one call doesn't accept. If the server rejects one, the clock is deleted.
        """
        plan = calls.name_plan(calls.build_plan(plan, frozen_time, transactions, goals), name, labels)
        key = calls.idempotency_key(idempotency_key)
        first, additions = split_plan(plan)
        clock = self._send(calls.create_clock(first, key)).clock
        for number, addition in enumerate(additions):
            call = calls.amend_clock(clock.id, addition.items(clock), (), key=addition_key(key, number))
            try:
                clock = self._send(call).clock
            except Rejection as rejection:
                if is_incomplete(rejection):
                    self.delete_clock(clock.id)
                raise addition.locate(rejection) from None
        return Clock(self, clock, plan.opening, plan.expectations)

    def get_clock(self, id: str, at: InstantLike | None = None, *, details: bool = False) -> "Clock":
        """Return a clock, or preview it at the instant `at`. `details` adds `start_time` and initial amounts."""
        return Clock(self, self._send(calls.get_clock(id, at, details)).clock)

    def fork_clock(
        self,
        id: str,
        at: InstantLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> "Clock":
        """Create a clock with the same schedule, at the instant `at` or at the original start."""
        return Clock(self, self._send(calls.fork_clock(id, at, name, labels)).clock)

    def amend_clock(self, id: str, *, add: Sequence[PlannedItem] = (), cancel: Sequence[Item] = ()) -> "Clock":
        """Add items to a clock, and cancel items that haven't happened yet. Name the goals of contributions by ID."""
        result = self._send(calls.amend_clock(id, add, cancel))
        return Clock(self, self._record(result.clock, add, cancel))

    def update_clock(
        self,
        id: str,
        *,
        name: str | None | UnsetType = UNSET,
        labels: Mapping[str, str] | None | UnsetType = UNSET,
    ) -> "Clock":
        """Replace the name, the labels or both. None removes them."""
        return Clock(self, self._send(calls.update_clock(id, name, labels)).clock)

    def delete_clock(self, id: str) -> None:
        self._send(calls.delete_clock(id))

    def list_clocks(self, labels: Mapping[str, str] | None = None) -> Iterator[Summary]:
        """Iterate over your clocks with these labels, or over all, newest first. Pages are requested when needed."""
        call: Call[ClockPage] | None = calls.first_page(labels)
        while call is not None:
            page = self._send(call)
            yield from page.clocks
            call = calls.next_page(page, labels)

    def list_page(
        self, limit: int = 20, cursor: str | None = None, labels: Mapping[str, str] | None = None
    ) -> ClockPage:
        """Return one page of your clocks with these labels, or of all, newest first."""
        return self._send(calls.list_page(limit, cursor, labels))

    def list_events(
        self,
        id: str,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> Iterator[Event]:
        """Iterate over a clock's events after `after` and until `until`, which is the frozen time by default."""
        call: Call[EventPage] | None = calls.list_events(id, after, until, opening)
        while call is not None:
            page = self._send(call)
            yield from page.events
            cursor = page.next_cursor
            call = None if cursor is None else calls.list_events(id, after, until, opening, cursor)

    def get_balances(
        self, id: str, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> Balances:
        """Return a clock's balances at an instant, which is the frozen time by default."""
        return self._send(calls.get_balances(id, at, opening))

    def check_clock(
        self,
        id: str,
        expectations: Sequence[Expectation],
        *,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations about the schedule until `until`. The result is false if an expectation fails."""
        return self._send(calls.check_clock(id, expectations, until, opening))

    def expand_scenario(self, text: str, start: InstantLike | None = None) -> Plan:
        """Return the plan of a scenario in TOML. The server expands it, and creates nothing."""
        return plan_of(self._send(calls.expand_scenario(text, start)))

    def discover(self) -> dict[str, Any]:
        """Return the server's OpenRPC document."""
        return self._send(calls.discover())

    def _send(self, call: Call[T]) -> T:
        state = RetryState(call, self._retries)
        while not state.is_finished(self._connections.send(call.request, self._token_for(call))):
            time.sleep(state.delay)
        return state.result


class Clock(ClockView):
    """A clock. Its properties are from the last response; its methods call the server."""

    def __init__(
        self,
        tickover: Tickover,
        snapshot: Snapshot,
        opening: Mapping[str, Amount] = {},
        expectations: Sequence[Expectation] = (),
    ) -> None:
        super().__init__(snapshot, opening, expectations)
        self._tickover = tickover

    def advance(  # noqa: PLR0913 - one parameter for each unit of time
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
        return self._advance(self._advance_target(to, duration))

    def advance_to_next(self) -> AdvanceResult:
        """Advance the clock to its next transaction or contribution. Raise NothingLeft if there is none."""
        return self._advance(self._require_next_at())

    def preview(self, at: InstantLike) -> Snapshot:
        """Return the clock as it would be at an instant, without moving it."""
        return self._tickover.get_clock(self.id, at).snapshot

    def refresh(self) -> None:
        """Load the clock's current state from the server."""
        self._update(self._tickover.get_clock(self.id).snapshot)

    def fork(
        self,
        at: InstantLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        add: Sequence[PlannedItem] = (),
        cancel: Sequence[Item] = (),
    ) -> "Clock":
        """Create a clock with the same schedule, at the instant `at` or at this clock's original start.

        `add` and `cancel` amend the fork in a second call. `cancel` has items of this clock. If the server rejects the
        amendment, the fork is deleted.
        """
        fork = self._tickover.fork_clock(self.id, at, name=name, labels=labels)
        fork = Clock(self._tickover, fork.snapshot, self.opening, self.expectations)
        if add or cancel:
            try:
                fork._amend(add, ids_in_fork(cancel, self.id, fork.id))
            except Rejection:
                fork.delete()
                raise
        return fork

    def add(self, *items: PlannedItem) -> AdvanceResult:
        """Add items to the clock. Items at the frozen time happen at once. Return what happened."""
        return self._amend(items, ())

    def cancel(self, *items: Item) -> AdvanceResult:
        """Cancel pending transactions and upcoming contributions, or their IDs."""
        return self._amend((), items)

    def spend(self, name: str, amount: Amount, currency: str, category: str | None = None) -> AdvanceResult:
        """Add an expense at the clock's frozen time."""
        return self.add(expense(name, amount, currency, self.frozen_time, category))

    def rename(self, name: str | None) -> None:
        """Replace the clock's name. None removes it."""
        self.update(name=name)

    def update(
        self, *, name: str | None | UnsetType = UNSET, labels: Mapping[str, str] | None | UnsetType = UNSET
    ) -> None:
        """Replace the clock's name, its labels or both. None removes them."""
        self._update(self._tickover.update_clock(self.id, name=name, labels=labels).snapshot)

    def delete(self) -> None:
        self._tickover.delete_clock(self.id)

    def events(
        self,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> Iterator[Event]:
        """Iterate over the events after `after` and until `until`, which is the frozen time by default."""
        yield from self._tickover.list_events(self.id, after=after, until=until, opening=self._opening_or(opening))

    def balance(
        self, currency: str, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> Decimal:
        """Return one currency's balance at an instant, which is the frozen time by default."""
        # An opening balance makes the server return this currency even if no transaction has it.
        opening = {currency: 0, **self._opening_or(opening)}
        return self.balances(at, opening=opening)[currency].balance

    def balances(
        self, at: InstantLike | None = None, *, opening: Mapping[str, Amount] | None = None
    ) -> dict[str, Balance]:
        """Return the balance of each currency at an instant, with its lowest and highest point until then."""
        return by_currency(self._tickover.get_balances(self.id, at, opening=self._opening_or(opening)))

    def check(
        self,
        *expectations: Expectation,
        until: InstantLike | None = None,
        opening: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations, or those of the clock's plan. Raise ExpectationFailed if one doesn't hold."""
        __tracebackhide__ = True
        expectations, opening = expectations or tuple(self.expectations), self._opening_or(opening)
        result = self._tickover.check_clock(self.id, expectations, until=until, opening=opening)
        return self._require_success(expectations, result, opening)

    def _advance(self, to: datetime) -> AdvanceResult:
        result = self._tickover._send(calls.advance_clock(self.id, to))  # noqa: SLF001 - same module
        return self._update(result.clock)

    def _amend(self, add: Sequence[PlannedItem], cancel: Sequence[Item]) -> AdvanceResult:
        result = self._tickover._send(calls.amend_clock(self.id, add, cancel, self.goals))  # noqa: SLF001 - same module
        return self._update(self._tickover._record(result.clock, add, cancel))  # noqa: SLF001 - same module
