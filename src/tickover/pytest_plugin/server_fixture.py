"""The fixtures `tickover` and `mailbox`: a private or running server, its signed-in clients, and its emails."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final
from uuid import uuid4

import pytest

from tickover.client import AsyncTickover, ClientError, Email, Reason, Rejection, SignedIn, Tickover
from tickover.client.base_client import DEFAULT_TIMEOUT
from tickover.client.http_pool import HttpPool
from tickover.client.rpc_messages import Deadline, Request
from tickover.client.sync_client import run
from tickover.client.timeline import format_clock

_MAX_RESEND_SECONDS: Final = 5
"""The longest wait before another email to the same address. A private server requires one second."""
_MAX_CLOCKS: Final = 5
_REPORT_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05


class Mailbox:
    """The emails of one server, for the whole session."""

    def __init__(self, latest: Callable[[str], Email | None], check_server: Callable[[], None]) -> None:
        self._latest = latest
        self._check_server = check_server
        self._returned: dict[str, str] = {}
        """The ID of the last email returned, by address."""

    def address(self) -> str:
        """Return a new email address."""
        return f"user-{uuid4().hex}@example.test"

    def skip(self, address: str) -> None:
        """Never return the newest email to the address."""
        if email := self._latest(address):
            self._returned[email.to] = email.id

    def wait_for(self, address: str, timeout: float = 5.0) -> Email:
        """Return the newest email to the address, once. Raise TimeoutError if no new one arrives in time."""
        __tracebackhide__ = True
        self._check_server()
        deadline = time.monotonic() + timeout
        while True:
            email = self._latest(address)
            if email and self._returned.get(email.to) != email.id:
                self._returned[email.to] = email.id
                return email
            if time.monotonic() >= deadline:
                new = "new " if email else ""
                raise TimeoutError(f"No {new}email to {address} arrived within {timeout:g} seconds.")
            time.sleep(_POLL_SECONDS)


class Server:
    """A Tickover server with a development mailbox, so that tests can sign in any user."""

    def __init__(self, client: Tickover, exit_message: Callable[[], str]) -> None:
        """`exit_message` returns an empty string while the server runs."""
        self.url = client.url
        self.mailbox = Mailbox(client.latest_email, self._fail_if_exited)
        self._exit_message = exit_message
        self._tokens: list[str] = []
        """The tokens of all users signed in since the test began."""

    def __repr__(self) -> str:
        return f"Server({self.url!r})"

    def client(self, email: str | None = None) -> Tickover:
        """Return a client signed in with this email address, or with a new one. Close it after use."""
        __tracebackhide__ = True
        return Tickover(self.url, self._sign_in(email))

    def async_client(self, email: str | None = None) -> AsyncTickover:
        """Return the same for asyncio."""
        __tracebackhide__ = True
        return AsyncTickover(self.url, self._sign_in(email))

    def _sign_in(self, email: str | None) -> str:
        __tracebackhide__ = True
        self._fail_if_exited()
        address = self.mailbox.address() if email is None else email
        with Tickover(self.url) as client:
            token = _sign_in(client, address).token
        self.mailbox.skip(address)
        self._tokens.append(token)
        return token

    def _fail_if_exited(self) -> None:
        if message := self._exit_message():
            pytest.fail(message, pytrace=False)

    def begin_test(self) -> None:
        """Forget the users of the previous test."""
        self._tokens.clear()

    def describe_clocks(self, is_property: bool = False) -> str:
        """Return the clocks of all users signed in since the test began as text. Mark that of a falsifying example."""
        if not self._tokens:
            return ""
        if message := self._exit_message():
            return message
        # A user may have several tokens, so remove duplicates.
        return "\n".join(dict.fromkeys(text for token in self._tokens for text in self._clocks_of(token, is_property)))

    def _clocks_of(self, token: str, is_property: bool) -> Iterator[str]:
        # Use a new client: the test may have closed its own, and the report needs a short timeout.
        with Tickover(self.url, token, timeout=_REPORT_SECONDS, retries=0) as client:
            try:
                page = client.list_page(limit=_MAX_CLOCKS)
                if page.next_cursor is not None:
                    yield "(older clocks are omitted)"
                newest = page.clocks[0].id if page.clocks else ""
                for clock in reversed(page.clocks):
                    # Hypothesis runs the falsifying example last.
                    mark = "The falsifying example:\n" if is_property and clock.id == newest else ""
                    yield mark + format_clock(client.get_clock(clock.id).snapshot)
            except (ClientError, Rejection) as error:
                yield f"(can't load the clocks: {error})"


@contextmanager
def use_server(url: str) -> Iterator[Server]:
    """Use a running server. Fail if tests can't use it."""
    if problem := _find_problem(url):
        source = "--tickover-url, TICKOVER_URL or tickover_url"
        pytest.fail(f"Tests can't use the Tickover server {url} (set by {source}): {problem}", pytrace=False)
    with Tickover(url) as client:
        yield Server(client, str)


def _find_problem(url: str) -> str:
    """Return why tests can't use this server, or an empty string. Send no email."""
    try:
        with Tickover(url) as client:
            client.discover()
    except (ClientError, Rejection, ValueError) as error:
        return str(error)
    return "" if _has_mailbox(url) else "it has no development mailbox, so tests can't sign in."


def _has_mailbox(url: str) -> bool:
    """Return whether the development mailbox is enabled. Without `to` it returns 400; if disabled, 404."""
    pool = HttpPool(url)
    response = run(pool.send(Request("GET", "/mailbox/latest"), Deadline(DEFAULT_TIMEOUT)))
    run(pool.close())
    return response.status == HTTPStatus.BAD_REQUEST


def _sign_in(client: Tickover, address: str) -> SignedIn:
    """Sign in. Wait first if an email was just sent to the address and its code was used."""
    try:
        return client.sign_in(address)
    except Rejection as rejection:
        seconds = rejection.details.get("retryAfterSeconds", 0)
        if rejection.reason != Reason.RESEND_TOO_SOON or seconds > _MAX_RESEND_SECONDS:
            raise
    time.sleep(seconds)
    return client.sign_in(address)
