"""The client whose calls are awaited, and the clocks that it gives out."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, Self, TypeVar

from tickover.client import calls
from tickover.client.attempts import Attempts
from tickover.client.calls import Call
from tickover.client.clocks import Happened, Shown
from tickover.client.sessions import DEFAULT_URL, Session
from tickover.core.results import ClockPage, SignedIn, Snapshot, Summary
from tickover.core.results import KeptLetter as Letter
from tickover.plans import Plan, PlannedGoal, PlannedTransaction, When
from tickover.spans import Span

T = TypeVar("T")


class AsyncTickover(Session):
    """A Tickover server. Inside `async with` connections are kept from call to call.

    Without it every call has a connection of its own, so that nothing belongs to an event loop: one client may then
    be used from several loops, one after the other, and there is nothing to close.
    """

    def __init__(
        self, url: str = DEFAULT_URL, token: str | None = None, *, timeout: float = 15.0, retries: int = 2
    ) -> None:
        # Late, because both take long to import, and help on the command line must not wait for them.
        from asyncio import sleep  # noqa: PLC0415

        from tickover.client.connections import AsyncConnections  # noqa: PLC0415

        super().__init__(url, token, retries)
        self._wait = sleep
        self._connections = AsyncConnections(url, timeout)

    async def __aenter__(self) -> Self:
        self._connections.keep()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections; there can be no more calls."""
        await self._connections.close()

    async def send_code(self, email: str) -> None:
        """Have a six-digit code sent to this address."""
        await self._ask(calls.send_code(email))

    async def send_link(self, email: str) -> str | None:
        """Have a login link sent. It is also the answer, if the server keeps mail in the development outbox."""
        return calls.login_url_in(await self._ask(calls.send_link(email)))

    async def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code; the token is kept for the calls that follow."""
        return self._keep(await self._ask(calls.log_in(email, code)))

    async def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with what stands behind `#token=` in it; the token is kept."""
        return self._keep(await self._ask(calls.log_in_by_link(link_or_secret)))

    async def log_out(self) -> None:
        """Revoke the token, and forget it."""
        await self._ask(calls.log_out())
        self.token = None

    async def latest_letter(self, email: str) -> Letter | None:
        """The newest letter to this address; None when there is none, or mail is really sent."""
        return await self._ask(calls.latest_letter(email))

    async def create_clock(
        self,
        plan: Plan | None = None,
        *,
        frozen_time: When | None = None,
        transactions: Sequence[PlannedTransaction] = (),
        goals: Sequence[PlannedGoal] = (),
        idempotency_key: str | None = None,
    ) -> "AsyncClock":
        """A new clock, from a plan or from its parts."""
        plan = calls.plan_of(plan, frozen_time, transactions, goals)
        return AsyncClock(self, (await self._ask(calls.create_clock(plan, idempotency_key))).clock)

    async def get_clock(self, id: str, at: When | None = None) -> "AsyncClock":
        """The clock with this id; with `at` it shows itself as it would be then, without having moved."""
        return AsyncClock(self, (await self._ask(calls.get_clock(id, at))).clock)

    async def fork_clock(self, id: str, at: When | None = None) -> "AsyncClock":
        """A new clock with the same schedule, standing at `at` or where the old one started."""
        return AsyncClock(self, (await self._ask(calls.fork_clock(id, at))).clock)

    async def delete_clock(self, id: str) -> None:
        await self._ask(calls.delete_clock(id))

    async def list_clocks(self) -> AsyncIterator[Summary]:
        """All of the user's clocks, newest first; each page is asked for when it is needed."""
        call: Call[ClockPage] | None = calls.first_page()
        while call is not None:
            page = await self._ask(call)
            for clock in page.clocks:
                yield clock
            call = calls.page_after(page)

    async def list_page(self, limit: int = 20, cursor: str | None = None) -> ClockPage:
        """One page of the user's clocks, newest first."""
        return await self._ask(calls.list_page(limit, cursor))

    async def discover(self) -> dict[str, Any]:
        """The server's own description of its operations, in OpenRPC."""
        return await self._ask(calls.discover())

    async def _ask(self, call: Call[T]) -> T:
        attempts = Attempts(call, self._retries)
        while not attempts.settled(await self._connections.send(call.request, self._token_for(call))):
            await self._wait(attempts.pause)
        return attempts.result


class AsyncClock(Shown):
    """A clock: it shows what the last answer said, and its verbs ask the server."""

    def __init__(self, tickover: AsyncTickover, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._tickover = tickover

    async def advance(  # noqa: PLR0913 - as many as there are units of time
        self,
        to: When | None = None,
        *,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: int = 0,
        minutes: int = 0,
        seconds: int = 0,
    ) -> Happened:
        """Move the clock to an instant, or by an amount of time."""
        span = Span(years, months, weeks, days, hours, minutes, seconds)
        return await self._advance(self._destination(to, span))

    async def advance_to_next(self) -> Happened:
        """Move the clock to the next instant at which something happens; NothingLeft when there is none."""
        return await self._advance(self._next_or_nothing())

    async def preview(self, at: When) -> Snapshot:
        """The clock as it would be at an instant, without moving it."""
        return (await self._tickover.get_clock(self.id, at)).snapshot

    async def refresh(self) -> None:
        """Show the clock as it is now, whoever has moved it."""
        self._show((await self._tickover.get_clock(self.id)).snapshot)

    async def fork(self, at: When | None = None) -> "AsyncClock":
        """A new clock with the same schedule, standing at `at` or where this one started."""
        return await self._tickover.fork_clock(self.id, at)

    async def delete(self) -> None:
        await self._tickover.delete_clock(self.id)

    async def _advance(self, to: datetime) -> Happened:
        answer = await self._tickover._ask(calls.advance_clock(self.id, to))  # noqa: SLF001 - one of the family
        return self._show(answer.clock)
