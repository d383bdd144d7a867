"""Clocks of the asyncio client."""

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Unpack

from tickover.api.clocks import AdvancedClock, Balance, Event, Snapshot
from tickover.api.command_arguments import Amount, InstantLike, to_instant
from tickover.api.connections import Connected
from tickover.api.durations import Duration
from tickover.api.errors import Rejection
from tickover.api.expectations import CheckResult, Expectation
from tickover.api.fields import ExportFormat
from tickover.api.plans import PlannedItem, expense
from tickover.api.reconciliation import Reconciliation
from tickover.client import calls
from tickover.client.amendments import Item, ids_in_fork
from tickover.client.base_client import BaseClient
from tickover.client.books import Books
from tickover.client.calls import BankOptions, Call, ClockChanges, ProtocolLike
from tickover.client.client_errors import BooksDiffer, ExpectationFailed
from tickover.client.clock_view import ClockState, ClockView
from tickover.client.timeline import format_differences, format_violations
from tickover.client.webhooks import Delivery, Handler, decode_secret, post, sign_event


class AsyncClock(ClockView):
    """A clock. Its properties are from the last response; its methods call the server."""

    def __init__(self, client: BaseClient, snapshot: Snapshot) -> None:
        super().__init__(ClockState(snapshot))
        self._client = client

    async def advance(  # noqa: PLR0913 - one parameter for each unit of time
        self,
        to: InstantLike | None = None,
        *,
        by: str | None = None,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: int = 0,
        minutes: int = 0,
        seconds: int = 0,
    ) -> AdvancedClock:
        """Advance the clock to an instant or by a duration, and return what happened, at most 500 events.

        A duration is a text such as `1mo`, or a number of units. It counts from the clock's time at the server.
        """
        duration = str(Duration(years, months, weeks, days, hours, minutes, seconds))
        if sum(map(bool, (to is not None, by is not None, duration))) != 1:
            raise ValueError("advance takes either an instant or a duration: advance(to=...) or advance(days=1)")
        return await self._advance(to, by=by or duration or None)

    async def advance_to_next(self) -> AdvancedClock:
        """Advance the clock to its next item. Raise NothingLeft if there is none."""
        return await self._advance(next=True)

    async def preview(self, at: InstantLike) -> Snapshot:
        """Return the clock as it would be at an instant, without moving it."""
        return await self._client.send(calls.get_clock(self.id, at))

    async def refresh(self) -> None:
        """Load the clock's current state from the server."""
        await self._update(calls.get_clock(self.id))

    async def fork(
        self,
        at: InstantLike | None = None,
        *,
        add: Sequence[PlannedItem] = (),
        cancel: Sequence[Item] = (),
        **changes: Unpack[ClockChanges],
    ) -> "AsyncClock":
        """Create a clock with the same schedule, at the instant `at` or at this clock's original start.

        It has the name, labels, opening balances and expectations of this clock unless you pass others. `add` and
        `cancel` amend the fork in a second call. `cancel` has items of this clock. If the server rejects the amendment,
        the fork is deleted.
        """
        fork = AsyncClock(self._client, await self._client.send(calls.fork_clock(self.id, at, **changes)))
        if add or cancel:
            try:
                await fork._amend(add, ids_in_fork(cancel, self.id, fork.id))
            except Rejection:
                await fork.delete()
                raise
        return fork

    async def add(self, *items: PlannedItem) -> None:
        """Add items to the clock. Items at the frozen time happen at once."""
        await self._amend(items, ())

    async def cancel(self, *items: Item) -> None:
        """Cancel pending transactions, transfers and contributions, or their IDs."""
        await self._amend((), items)

    async def spend(
        self, name: str, amount: Amount, currency: str, category: str | None = None, account: str | None = None
    ) -> None:
        """Add an expense at the clock's frozen time."""
        await self.add(expense(name, amount, currency, self.frozen_time, category, account))

    async def update(self, **changes: Unpack[ClockChanges]) -> None:
        """Replace the name, labels, opening balances or expectations that you pass. None removes them."""
        await self._update(calls.update_clock(self.id, **changes))

    async def connect(
        self, protocol: ProtocolLike, *, institution: str | None = None, **bank: Unpack[BankOptions]
    ) -> Connected:
        """Let a program that speaks the protocol of a bank read the clock. The token is shown only once."""
        return await self._client.send(calls.connect_clock(self.id, protocol, institution=institution, **bank))

    async def delete(self) -> None:
        await self._client.send(calls.delete_clock(self.id))

    async def events(
        self,
        *,
        after: InstantLike | None = None,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> AsyncIterator[Event]:
        """Iterate over the events after `after` and until `until`, which is the frozen time by default."""
        found = self._client.list_events(self.id, after=after, until=until, opening_balances=opening_balances)
        async for event in found:
            yield event

    async def deliver(  # noqa: PLR0913 - one parameter for each fault
        self,
        to: str | Handler,
        *,
        secret: str,
        path: str = "/",
        duplicate: float = 0,
        reorder: float = 0,
        delay: float = 0,
        seed: int = 0,
    ) -> list[Delivery]:
        """Send the events since the last delivery as webhooks, in order, and return the answers.

        `to` is a URL, a WSGI or ASGI application with the `path` of its handler, or a function of a `Webhook`.
        `duplicate`, `reorder` and `delay` are probabilities from 0 to 1. The same seed makes the same faults. A delayed
        event waits for the next call. If the handler raises an error, the next call starts with that event.
        """
        key, queue = decode_secret(secret), self._state.events
        found = [event async for event in self.events(after=queue.after)]
        events = queue.arrange(queue.find_new(found), duplicate=duplicate, reorder=reorder, delay=delay, seed=seed)
        deliveries: list[Delivery] = []
        try:
            for event in events:
                webhook = sign_event(self.id, event, key)
                deliveries.append(Delivery(event, await post(to, path, webhook, blocking=self._client.is_blocking)))
        finally:
            queue.put_back(events[len(deliveries) :])
        return deliveries

    async def balance(
        self,
        currency: str | None = None,
        at: InstantLike | None = None,
        *,
        account: str | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> Decimal:
        """Return the balance of a currency or of an account at an instant, which is the frozen time by default."""
        if (currency is None) == (account is None):
            raise ValueError("pass either a currency or an account")
        result = await self._client.send(calls.get_balances(self.id, at, opening_balances=opening_balances))
        found = {each.currency: each.balance for each in result.balances}
        accounts = {each.account: each.balance for each in result.accounts}
        if currency is not None:
            return found.get(currency, Decimal(0))
        if account not in accounts:
            raise ValueError(f"the clock has no account {account!r}; it has {', '.join(accounts) or 'none'}")
        return accounts[account]

    async def balances(
        self, at: InstantLike | None = None, *, opening_balances: Mapping[str, Amount] | None = None
    ) -> dict[str, Balance]:
        """Return the balance of each currency at an instant, with its lowest and highest point until then."""
        result = await self._client.send(calls.get_balances(self.id, at, opening_balances=opening_balances))
        return {balance.currency: balance for balance in result.balances}

    async def export(
        self,
        format: ExportFormat = "csv",
        *,
        pending: bool = False,
        opening_balances: Mapping[str, Amount] | None = None,
        account: str | None = None,
    ) -> str:
        """Return the transactions as csv, json, hledger, beancount, ofx or camt053.

        The file has a statement for each account, or only for `account`, or for each currency of a clock without
        accounts. With `pending`, include scheduled transactions.
        """
        call = calls.export_clock(self.id, format, pending=pending, opening_balances=opening_balances, account=account)
        return await self._client.send(call)

    async def check(
        self,
        *expectations: Expectation,
        until: InstantLike | None = None,
        opening_balances: Mapping[str, Amount] | None = None,
    ) -> CheckResult:
        """Check expectations, by default those of the clock. Raise ExpectationFailed if one doesn't hold."""
        __tracebackhide__ = True
        result = await self._client.send(
            calls.check_clock(self.id, expectations or None, until=until, opening_balances=opening_balances)
        )
        if not result.ok:
            checked = expectations or result.expectations
            raise ExpectationFailed(format_violations(self.snapshot, checked, result, opening_balances), result)
        return result

    async def reconcile(
        self,
        books: Books | None = None,
        *,
        balance: Amount | None = None,
        at: InstantLike | None = None,
        account: str | None = None,
        currency: str | None = None,
        tolerance_days: int = 0,
    ) -> Reconciliation[Decimal]:
        """Compare the books of an app with what the bank showed. Raise BooksDiffer if they differ.

        `books` are rows with `at` or `date`, `amount`, and optionally `name` and `id`: dictionaries, the cursor of a
        database, CSV as text, or the path of a CSV file. An amount is negative if money went out.
        """
        __tracebackhide__ = True
        result = await self._client.send(
            calls.reconcile_clock(
                self.id,
                books,
                balance=balance,
                at=at,
                account=account,
                currency=currency,
                tolerance_days=tolerance_days,
            )
        )
        if not result.ok:
            time = self.frozen_time if at is None else to_instant(at)
            raise BooksDiffer(format_differences(self.snapshot, result, time, account, currency), result)
        return result

    async def _update(self, call: Call[Snapshot]) -> None:
        """Send the call, and replace the snapshot by its result."""
        self._show(await self._client.send(call))

    async def _advance(
        self, to: InstantLike | None = None, *, by: str | None = None, next: bool = False
    ) -> AdvancedClock:
        advanced = await self._client.advance_clock(self.id, to, by=by, next=next)
        self._show(advanced.clock)
        return advanced

    def _show(self, snapshot: Snapshot) -> None:
        self._state.snapshot = snapshot
        for move_to in self._state.on_move:
            move_to(self.frozen_time)

    async def _amend(self, add: Sequence[PlannedItem], cancel: Sequence[Item]) -> None:
        await self._update(calls.amend_clock(self.id, add=add, cancel=cancel, goals=self.goals))
