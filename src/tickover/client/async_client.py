"""The asyncio client."""

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Self, Unpack

from msgspec import UNSET, UnsetType

from tickover.api.arguments import Amount, InstantLike
from tickover.api.clocks import Balances, ClockPage, Event, Snapshot, Summary
from tickover.api.connections import BankProtocol, Connected, Connection
from tickover.api.errors import Reason, Rejection
from tickover.api.expectations import CheckResult, Expectation
from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_PAGE
from tickover.api.plans import Plan, PlannedItem, PlanParts, plan_of
from tickover.api.reconciliation import Reconciliation
from tickover.api.tokens import AccessToken, CreatedAccessToken, CurrentUser, SignedIn
from tickover.api.tokens import StoredEmail as Email
from tickover.client import calls
from tickover.client.amendments import Item
from tickover.client.async_clock import AsyncClock
from tickover.client.books import Books
from tickover.client.calls import FaultLike
from tickover.client.clocks import ClockState
from tickover.client.errors import NoCode
from tickover.client.session import DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_URL, BaseClient, Session


class AsyncClient(BaseClient):
    """The methods of `AsyncTickover`."""

    async def send_code(self, email: str) -> None:
        """Send a six-digit code to this email address."""
        await self._session.send(calls.send_code(email))

    async def send_link(self, email: str) -> str | None:
        """Send a login link. Return it too if the server stores emails in the development outbox."""
        return (await self._session.send(calls.send_link(email))).login_url or None

    async def sign_in(self, email: str) -> SignedIn:
        """Send a code and sign in with it. The code is read from the development mailbox.

        If it is too soon for another code, use the last one, unless it was used already.
        """
        too_soon = None
        try:
            await self.send_code(email)
        except Rejection as rejection:
            if rejection.reason is not Reason.RESEND_TOO_SOON:
                raise
            too_soon = rejection
        message = await self.latest_email(email)
        if message is None or message.code is None:
            raise too_soon or NoCode(email)
        try:
            return await self.log_in(email, message.code)
        except Rejection as rejection:
            if too_soon and rejection.reason is Reason.LOGIN_REFUSED:
                raise too_soon from None
            raise

    async def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code. The client sends the token with later calls."""
        return self._store_token(await self._session.send(calls.log_in(email, code)))

    async def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with the part after `#token=`. The client sends the token with later calls."""
        return self._store_token(await self._session.send(calls.log_in_by_link(link_or_secret)))

    async def log_out(self) -> None:
        """Revoke the token and remove it from the client."""
        await self._session.send(calls.log_out())
        self.token = None

    async def current_user(self) -> CurrentUser:
        """Return the user that the token belongs to, and when the token expires."""
        return await self._session.send(calls.current_user())

    async def create_access_token(
        self, name: str, *, expires_in_days: int = DEFAULT_TOKEN_DAYS, read_only: bool = False
    ) -> CreatedAccessToken:
        """Create a token for a program. It is shown only once. The client must have signed in."""
        return await self._session.send(calls.create_access_token(name, expires_in_days, read_only))

    async def list_access_tokens(self) -> Sequence[AccessToken]:
        """Return your live access tokens, newest first."""
        return (await self._session.send(calls.list_access_tokens())).tokens

    async def revoke_access_token(self, id: str) -> None:
        """Revoke the access token with this ID."""
        await self._session.send(calls.revoke_access_token(id))

    async def latest_email(self, email: str) -> Email | None:
        """Return the newest email to this address, or None if the development mailbox has none or is disabled."""
        return await self._session.send(calls.latest_email(email))

    async def create_clock(
        self,
        plan: calls.PlanLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        **parts: Unpack[PlanParts],
    ) -> AsyncClock:
        """Create a clock from a plan, or from the parts of one, such as a frozen time, transactions and goals.

        A plan can also be a dictionary with the parameters of createTestClock.
        """
        call = calls.create_clock(calls.build_plan(plan, parts), name, labels, idempotency_key)
        return self._clock(await self._session.send(call))

    async def create_clock_from_scenario(
        self,
        scenario: str | None = None,
        *,
        text: str | None = None,
        start: InstantLike | None = None,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncClock:
        """Create a clock from the name of an included scenario, or from the text of your own in TOML.

        It has the scenario's title unless you pass a name, its accounts, opening balances and expectations.
        """
        call = calls.create_clock_from_scenario(scenario, text, start, name, labels, idempotency_key)
        return self._clock(await self._session.send(call))

    async def get_clock(self, id: str, at: InstantLike | None = None, *, details: bool = False) -> AsyncClock:
        """Return a clock, or preview it at the instant `at`. `details` adds `start_time` and initial amounts."""
        return self._clock(await self._session.send(calls.get_clock(id, at, details)))

    async def fork_clock(
        self,
        id: str,
        at: InstantLike | None = None,
        *,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
        expectations: Sequence[Expectation] | None = None,
    ) -> AsyncClock:
        """Create a clock with the same schedule, at the instant `at` or at the original start."""
        call = calls.fork_clock(id, at, name, labels, opening_balances, expectations)
        return self._clock(await self._session.send(call))

    async def amend_clock(self, id: str, *, add: Sequence[PlannedItem] = (), cancel: Sequence[Item] = ()) -> AsyncClock:
        """Add items to a clock, and cancel items that haven't happened yet. Name the goals of contributions by ID."""
        return self._clock(await self._session.send(calls.amend_clock(id, add, cancel)))

    async def update_clock(
        self,
        id: str,
        *,
        name: str | None | UnsetType = UNSET,
        labels: Mapping[str, str] | None | UnsetType = UNSET,
        opening_balances: Mapping[str, Amount] | None | UnsetType = UNSET,
        expectations: Sequence[Expectation] | None | UnsetType = UNSET,
    ) -> AsyncClock:
        """Replace what you pass. None removes it."""
        call = calls.update_clock(id, name, labels, opening_balances, expectations)
        return self._clock(await self._session.send(call))

    async def delete_clock(self, id: str) -> None:
        await self._session.send(calls.delete_clock(id))

    async def connect_clock(
        self,
        id: str,
        protocol: BankProtocol,
        *,
        institution: str | None = None,
        faults: Sequence[FaultLike] | None = None,
    ) -> Connected:
        """Let a program that speaks the protocol of a bank read a clock. The token in the result is shown only once."""
        return await self._session.send(calls.connect_clock(id, protocol, institution, faults))

    async def list_connections(self, id: str) -> Sequence[Connection]:
        """Return the connections of a clock, oldest first."""
        return (await self._session.send(calls.list_connections(id))).connections

    async def disconnect_clock(self, id: str, connection_id: str) -> None:
        """End a connection of a clock."""
        await self._session.send(calls.disconnect_clock(id, connection_id))

    async def list_clocks(self, labels: Mapping[str, str] | None = None) -> AsyncIterator[Summary]:
        """Iterate over your clocks with these labels, or over all, newest first. Pages are requested when needed."""
        cursor = None
        while True:
            page = await self.list_page(MAX_PAGE, cursor, labels)
            for clock in page.clocks:
                yield clock
            cursor = page.next_cursor
            if cursor is None:
                return

    async def list_page(
        self, limit: int = 20, cursor: str | None = None, labels: Mapping[str, str] | None = None
    ) -> ClockPage:
        """Return one page of your clocks with these labels, or of all, newest first."""
        return await self._session.send(calls.list_page(limit, cursor, labels))

    async def list_events(
        self,
        id: str,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over a clock's events after `after` and until `until`, which is the frozen time by default."""
        async for event in self._session.list_events(id, after, until, opening_balances):
            yield event

    async def get_balances(
        self, id: str, at: InstantLike | None = None, *, opening_balances: Mapping[str, Amount] | None = None
    ) -> Balances:
        """Return a clock's balances at an instant, which is the frozen time by default."""
        return await self._session.send(calls.get_balances(id, at, opening_balances))

    async def check_clock(
        self,
        id: str,
        expectations: Sequence[Expectation] | None = None,
        *,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations until `until`, by default those of the clock. The result is false if one fails."""
        return await self._session.send(calls.check_clock(id, expectations, until, opening_balances))

    async def reconcile_clock(  # noqa: PLR0913 - one parameter for each member
        self,
        id: str,
        books: Books | None = None,
        *,
        balance: Amount | None = None,
        at: InstantLike | None = None,
        account: str | None = None,
        currency: str | None = None,
        tolerance_days: int = 0,
    ) -> Reconciliation[Decimal]:
        """Compare the books of an app with what the bank showed. See `Clock.reconcile`, which raises an error."""
        call = calls.reconcile_clock(id, books, balance, at, account, currency, tolerance_days)
        return await self._session.send(call)

    async def expand_scenario(self, text: str, start: InstantLike | None = None) -> Plan:
        """Return the plan of a scenario in TOML. The server expands it, and creates nothing."""
        return plan_of(await self._session.send(calls.expand_scenario(text, start)))

    async def scenario_from_statement(
        self,
        content: bytes,
        *,
        file_name: str = "Statement",
        currency: str | None = None,
        day_first: bool | None = None,
    ) -> str:
        """Return a scenario in TOML with the payments of a bank's file in CSV or OFX. The server reads it."""
        return (await self._session.send(calls.scenario_from_statement(content, file_name, currency, day_first))).text

    async def discover(self) -> dict[str, Any]:
        """Return the server's OpenRPC document."""
        return await self._session.send(calls.discover())

    def _store_token(self, signed_in: SignedIn) -> SignedIn:
        self.token = signed_in.token
        return signed_in

    def _clock(self, snapshot: Snapshot) -> AsyncClock:
        return AsyncClock(self._session, ClockState(snapshot))


class AsyncTickover(AsyncClient):
    """A client for one server. Inside `async with` it reuses connections.

    Outside of `async with` every call opens its own connection. Nothing is then bound to an event loop: you can use
    one client from several loops in turn, and there is nothing to close.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
    ) -> None:
        # Imported here because httpx2 takes long to import, and `Tickover` doesn't need it.
        from tickover.client.async_connections import AsyncConnections  # noqa: PLC0415

        self._transport = AsyncConnections(url, timeout)
        super().__init__(Session(url, token, self._transport, retries))

    async def __aenter__(self) -> Self:
        self._transport.reuse()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The client can't be used afterwards."""
        await self._transport.close()
