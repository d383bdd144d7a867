"""What the fixture `tickover` is: a server to test against, private or found, and ways to sign in to it."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Final

import pytest

from tickover.client import AsyncTickover, ClientError, Reason, Rejection, Tickover
from tickover.client.connections import Connections
from tickover.client.messages import Request, Response
from tickover.pytest_plugin.emails import Mailbox
from tickover.pytest_plugin.process import running
from tickover.pytest_plugin.timeline import draw

_LONGEST_PAUSE: Final = 5
"""As many seconds are waited until another letter may go to an address. A private server asks for one."""
_MOST_CLOCKS: Final = 5
_REPORT_SECONDS: Final = 2.0
_MAILBOX_SECONDS: Final = 15.0


class Server:
    """A Tickover server that has a development mailbox, so that anybody can be signed in."""

    def __init__(self, visitor: Tickover, ending: Callable[[], str]) -> None:
        """`ending` tells how the server has ended, and nothing while it runs."""
        self.url = visitor.url.rstrip("/")
        self.mailbox = Mailbox(visitor.latest_email, self._check)
        self._ending = ending
        self._tokens: list[str] = []
        """Of everybody who was signed in since the test began."""

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def client(self, email: str | None = None) -> Tickover:
        """A new client, signed in with this address, or with a new one. Leave it with `with` or `close()`."""
        __tracebackhide__ = True
        return Tickover(self.url, self._sign_in(email))

    def async_client(self, email: str | None = None) -> AsyncTickover:
        """The same, for calls that are awaited."""
        __tracebackhide__ = True
        return AsyncTickover(self.url, self._sign_in(email))

    def _sign_in(self, email: str | None) -> str:
        __tracebackhide__ = True
        self._check()
        address = self.mailbox.address() if email is None else email
        with Tickover(self.url) as visitor:
            _send_code(visitor, address)
            code = self.mailbox.wait_for(address).code
            if code is None:
                raise RuntimeError(f"{address} gets no more codes, because too many were wrong; use another address.")
            token = visitor.log_in(address, code).token
        self._tokens.append(token)
        return token

    def _check(self) -> None:
        if ending := self._ending():
            pytest.fail(ending, pytrace=False)

    def begin_test(self) -> None:
        """From here on, tell of the clocks of those who are signed in by the next test."""
        self._tokens.clear()

    def tell(self) -> str:
        """How the clocks stand of everybody who was signed in since the test began; empty when there are none."""
        if not self._tokens:
            return ""
        if ending := self._ending():
            return ending
        # Who was signed in twice has the same clocks twice.
        return "\n".join(dict.fromkeys(story for token in self._tokens for story in self._tell_of(token)))

    def _tell_of(self, token: str) -> Iterator[str]:
        # A client of its own: the test's may be closed by now, and a report must not take long.
        with Tickover(self.url, token, timeout=_REPORT_SECONDS, retries=0) as reader:
            try:
                page = reader.list_page(limit=_MOST_CLOCKS)
                if page.next_cursor is not None:
                    yield "(older clocks are not shown)"
                for clock in reversed(page.clocks):
                    yield draw(reader.get_clock(clock.id).snapshot)
            except (ClientError, Rejection) as error:
                yield f"(no clocks are shown: {error})"


@contextmanager
def start_server(folder: Path) -> Iterator[Server]:
    """A private server with its data in `folder`."""
    with running(folder) as process, Tickover(process.url) as visitor:
        yield Server(visitor, process.ending)


@contextmanager
def find_server(url: str) -> Iterator[Server]:
    """A server that runs already, if tests can use it."""
    if problem := _problem_with(url):
        named = f"the Tickover server {url}, which --tickover-url, TICKOVER_URL or tickover_url names"
        pytest.fail(f"Tests cannot use {named}: {problem}", pytrace=False)
    with Tickover(url) as visitor:
        yield Server(visitor, str)


def _problem_with(url: str) -> str:
    """Why tests cannot use this server, found out without having any mail sent; empty when they can."""
    try:
        with Tickover(url) as visitor:
            visitor.discover()
    except (ClientError, Rejection, ValueError) as error:
        return str(error)
    return "" if _has_mailbox(url) else "it has no development mailbox, so nobody can be signed in."


def _has_mailbox(url: str) -> bool:
    """A mailbox asks back whose letter is meant; where there is none, there is no such page."""
    with closing(Connections(url, _MAILBOX_SECONDS)) as connections:
        response = connections.send(Request("GET", "/mailbox/latest"), None)
    return isinstance(response, Response) and response.status == HTTPStatus.BAD_REQUEST


def _send_code(visitor: Tickover, address: str) -> None:
    """Have a code sent, after a pause if a letter has gone to the address just now."""
    try:
        visitor.send_code(address)
    except Rejection as refused:
        pause = refused.details.get("retryAfterSeconds", 0)
        if refused.reason != Reason.RESEND_TOO_SOON or pause > _LONGEST_PAUSE:
            raise
        time.sleep(pause)
        visitor.send_code(address)
