"""The fixtures. This test run uses the plugin itself. docs/pytest.md shows the ways to create a clock."""

import asyncio
import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tickover.client import BankFault, Tickover, expense
from tickover.pytest_plugin import BankFactory, ClockFactory, Mailbox, Server

START = datetime(2027, 1, 1, tzinfo=UTC)
RENT = expense("Rent", 1150, "EUR", "2027-01-03T08:00:00Z")


@pytest.mark.parametrize(
    ("source", "arguments", "message"),
    [
        ("salary-and-rent", {"transactions": [RENT]}, "pass either a plan or its parts"),
        (None, {"start": START}, "start requires a scenario"),
    ],
)
def test_conflicting_arguments_are_rejected(source: Any, arguments: Any, message: str, clock: ClockFactory) -> None:
    with pytest.raises(ValueError, match=message):
        clock(source, **arguments)


# mailbox


def test_email_contains_the_link(mailbox: Mailbox, tickover: Server) -> None:
    address = mailbox.address()
    with Tickover(tickover.url) as app:
        app.send_link(address)
        url = mailbox.wait_for(address).login_url
        assert url
        assert url.startswith(tickover.url)
        app.log_in_by_link(url)


def test_an_email_is_returned_once_regardless_of_case(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    with pytest.raises(TimeoutError, match=f"^No email to {re.escape(address)} arrived within 0 seconds"):
        mailbox.wait_for(address, timeout=0)
    # The email with which the plugin signs in a user is not for the test.
    own = mailbox.address()
    with tickover.client(own), pytest.raises(TimeoutError, match="No new email"):
        mailbox.wait_for(own, timeout=0)
    with Tickover(tickover.url) as app:
        app.send_code(address)
    mailbox.wait_for(address)
    for spelling in (address, address.upper()):
        with pytest.raises(TimeoutError, match=f"^No new email to {re.escape(spelling)} arrived within 0 seconds"):
            mailbox.wait_for(spelling, timeout=0)


async def test_wait_for_waits_for_an_email(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    waiting = asyncio.create_task(asyncio.to_thread(mailbox.wait_for, address))
    with Tickover(tickover.url) as app:
        await asyncio.to_thread(app.send_code, address)
    assert (await waiting).to == address


# bank


def test_bank_has_the_settings_for_an_app(bank: BankFactory, clock: ClockFactory, client: Tickover) -> None:
    connected = bank("salary-and-rent", institution="First Bank")
    assert (connected.url, connected.setup_token) == (f"{client.url}/plaid", "")
    assert connected.public_token.startswith("public-sandbox-")
    assert bank("salary-and-rent").plaid_secret == connected.plaid_secret
    keys = {"client_id": "any", "secret": connected.plaid_secret}
    query = {**keys, "count": 1, "offset": 0, "country_codes": ["US"]}
    headers = {"Content-Type": "application/json"}
    request = Request(f"{connected.url}/institutions/get", json.dumps(query).encode(), headers)
    with urlopen(request) as response:
        assert json.load(response)["total"] == 2
    first, second = datetime(2027, 3, 3, tzinfo=UTC), datetime(2027, 3, 4, tzinfo=UTC)
    down = {"kind": "INSTITUTION_DOWN", "from": "2027-03-03"}
    limited = {"kind": "RATE_LIMITED", "from": first, "until": "2027-03-04"}
    other = bank(clock(frozen_time=START), "simplefin", faults=[down, limited])
    assert (other.url, other.public_token, other.plaid_secret) == (f"{client.url}/simplefin", "", "")
    assert other.setup_token
    [connection] = client.list_connections(other.clock.id)
    assert connection.faults == [BankFault("INSTITUTION_DOWN", first), BankFault("RATE_LIMITED", first, second)]
    client.disconnect_clock(other.clock.id, connection.id)
    assert list(client.list_connections(other.clock.id)) == []
    created = connected.clock.connect("PLAID")
    assert str(created.public_token) not in repr(created)
