"""The fixtures. This test run uses the plugin itself."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tickover.client import BankFault, Plan, Reason, Rejection, Tickover, contribution, expense, goal, income
from tickover.pytest_plugin import BankFactory, ClockFactory, Mailbox, Server
from tickover.scenarios import load, names

START = datetime(2027, 1, 1, tzinfo=UTC)
RENT = expense("Rent", 1150, "EUR", "2027-01-03T08:00:00Z")
SALARY = income("Salary", 2800, "EUR", "2027-01-25T08:00:00Z")
TRIP = goal("Trip", 3000, 500, [contribution(310, "2027-01-26T08:00:00Z")])

SCENARIO = """
title = "One coffee"

[[transactions]]
name = "Coffee"
amount = 3
currency = "EUR"
type = "EXPENSE"
at = "2027-01-02T08:00:00Z"
"""


# client


def test_every_client_is_a_new_user(client: Tickover, tickover: Server) -> None:
    with tickover.client() as other:
        made = other.create_clock()
        with pytest.raises(Rejection) as caught:
            client.get_clock(made.id)
    assert caught.value.reason == Reason.CLOCK_NOT_FOUND


# clock


@pytest.mark.parametrize(
    ("source", "arguments", "start", "posted", "pending"),
    [
        (None, {"transactions": [RENT]}, START, [], ["Rent"]),
        (
            None,
            {"frozen_time": RENT.at, "transactions": [RENT, SALARY], "goals": [TRIP]},
            RENT.at,
            ["Rent"],
            ["Salary"],
        ),
        (Plan(transactions=[RENT]), {}, START, [], ["Rent"]),
    ],
)
def test_a_clock_from_parts_or_a_plan(
    clock: ClockFactory, source: Any, arguments: Any, start: datetime, posted: list[str], pending: list[str]
) -> None:
    made = clock(source, **arguments)
    assert made.frozen_time == start
    assert [item.name for item in made.transactions] == posted
    assert [item.name for item in made.pending_transactions] == pending
    assert [item.name for item in made.goals] == [item.name for item in arguments.get("goals", ())]


def test_a_clock_from_a_scenario(clock: ClockFactory, tmp_path: Path) -> None:
    for name in names():
        assert clock(name).frozen_time == (load(name).start or START)
    assert clock("salary-and-rent", start="2028-02-29T00:00:00Z").frozen_time == datetime(2028, 2, 29, tzinfo=UTC)
    file = tmp_path / "coffee.toml"
    file.write_text(SCENARIO)
    for source in (file, str(file), load(file)):
        assert [item.name for item in clock(source).pending_transactions] == ["Coffee"]


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


def test_emails_contain_the_code_or_the_link(mailbox: Mailbox, tickover: Server) -> None:
    by_code, by_link = mailbox.address(), mailbox.address()
    with Tickover(tickover.url) as app:
        app.send_code(by_code)
        email = mailbox.wait_for(by_code)
        assert email.to == by_code
        assert email.code
        app.log_in(by_code, email.code)
        app.send_link(by_link)
        url = mailbox.wait_for(by_link).login_url
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
    day: Any = "2027-03-03"
    down, limited = BankFault("INSTITUTION_DOWN", day), {"kind": "RATE_LIMITED", "from": day, "until": "2027-03-04"}
    other = bank(clock(frozen_time=START), "SIMPLEFIN", faults=[down, limited])
    assert (other.url, other.public_token, bool(other.setup_token)) == (f"{client.url}/simplefin", "", True)
    [connection] = client.list_connections(other.clock.id)
    first, second = datetime(2027, 3, 3, tzinfo=UTC), datetime(2027, 3, 4, tzinfo=UTC)
    assert connection.faults == [BankFault("INSTITUTION_DOWN", first), BankFault("RATE_LIMITED", first, second)]
    client.disconnect_clock(other.clock.id, connection.id)
    assert list(client.list_connections(other.clock.id)) == []
    created = connected.clock.connect("PLAID")
    assert str(created.public_token) not in repr(created)
