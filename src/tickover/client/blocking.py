"""The client whose calls block, and the clocks that it gives out."""

import time
from collections.abc import Iterator, Sequence
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


class Tickover(Session):
    """A Tickover server. Leave it with `with` or `close()`; several threads may use it at the same time."""

    def __init__(
        self, url: str = DEFAULT_URL, token: str | None = None, *, timeout: float = 15.0, retries: int = 2
    ) -> None:
        # Late, because it takes long to import, and help on the command line must not wait for it.
        from tickover.client.connections import Connections  # noqa: PLC0415

        super().__init__(url, token, retries)
        self._connections = Connections(url, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; there can be no more calls."""
        self._connections.close()

    def send_code(self, email: str) -> None:
        """Have a six-digit code sent to this address."""
        self._ask(calls.send_code(email))

    def send_link(self, email: str) -> str | None:
        """Have a login link sent. It is also the answer, if the server keeps mail in the development outbox."""
        return calls.login_url_in(self._ask(calls.send_link(email)))

    def log_in(self, email: str, code: str) -> SignedIn:
        """Sign in with a code; the token is kept for the calls that follow."""
        return self._keep(self._ask(calls.log_in(email, code)))

    def log_in_by_link(self, link_or_secret: str) -> SignedIn:
        """Sign in with a login link, or with what stands behind `#token=` in it; the token is kept."""
        return self._keep(self._ask(calls.log_in_by_link(link_or_secret)))

    def log_out(self) -> None:
        """Revoke the token, and forget it."""
        self._ask(calls.log_out())
        self.token = None

    def latest_letter(self, email: str) -> Letter | None:
        """The newest letter to this address; None when there is none, or mail is really sent."""
        return self._ask(calls.latest_letter(email))

    def create_clock(
        self,
        plan: Plan | None = None,
        *,
        frozen_time: When | None = None,
        transactions: Sequence[PlannedTransaction] = (),
        goals: Sequence[PlannedGoal] = (),
        idempotency_key: str | None = None,
    ) -> "Clock":
        """A new clock, from a plan or from its parts."""
        plan = calls.plan_of(plan, frozen_time, transactions, goals)
        return Clock(self, self._ask(calls.create_clock(plan, idempotency_key)).clock)

    def get_clock(self, id: str, at: When | None = None) -> "Clock":
        """The clock with this id; with `at` it shows itself as it would be then, without having moved."""
        return Clock(self, self._ask(calls.get_clock(id, at)).clock)

    def fork_clock(self, id: str, at: When | None = None) -> "Clock":
        """A new clock with the same schedule, standing at `at` or where the old one started."""
        return Clock(self, self._ask(calls.fork_clock(id, at)).clock)

    def delete_clock(self, id: str) -> None:
        self._ask(calls.delete_clock(id))

    def list_clocks(self) -> Iterator[Summary]:
        """All of the user's clocks, newest first; each page is asked for when it is needed."""
        call: Call[ClockPage] | None = calls.first_page()
        while call is not None:
            page = self._ask(call)
            yield from page.clocks
            call = calls.page_after(page)

    def list_page(self, limit: int = 20, cursor: str | None = None) -> ClockPage:
        """One page of the user's clocks, newest first."""
        return self._ask(calls.list_page(limit, cursor))

    def discover(self) -> dict[str, Any]:
        """The server's own description of its operations, in OpenRPC."""
        return self._ask(calls.discover())

    def _ask(self, call: Call[T]) -> T:
        attempts = Attempts(call, self._retries)
        while not attempts.settled(self._connections.send(call.request, self._token_for(call))):
            time.sleep(attempts.pause)
        return attempts.result


class Clock(Shown):
    """A clock: it shows what the last answer said, and its verbs ask the server."""

    def __init__(self, tickover: Tickover, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._tickover = tickover

    def advance(  # noqa: PLR0913 - as many as there are units of time
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
        return self._advance(self._destination(to, span))

    def advance_to_next(self) -> Happened:
        """Move the clock to the next instant at which something happens; NothingLeft when there is none."""
        return self._advance(self._next_or_nothing())

    def preview(self, at: When) -> Snapshot:
        """The clock as it would be at an instant, without moving it."""
        return self._tickover.get_clock(self.id, at).snapshot

    def refresh(self) -> None:
        """Show the clock as it is now, whoever has moved it."""
        self._show(self._tickover.get_clock(self.id).snapshot)

    def fork(self, at: When | None = None) -> "Clock":
        """A new clock with the same schedule, standing at `at` or where this one started."""
        return self._tickover.fork_clock(self.id, at)

    def delete(self) -> None:
        self._tickover.delete_clock(self.id)

    def _advance(self, to: datetime) -> Happened:
        answer = self._tickover._ask(calls.advance_clock(self.id, to))  # noqa: SLF001 - one of the family
        return self._show(answer.clock)
