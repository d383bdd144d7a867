"""The fixtures, as any project uses them: this very run has the plugin, too."""

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tickover.client import Plan, Reason, Rejection, Tickover, contribution, expense, goal, income
from tickover.plans import to_instant
from tickover.pytest_plugin import ClockFactory, Mailbox, Server
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


def test_every_client_is_another_user(client: Tickover, tickover: Server) -> None:
    with tickover.client() as other:
        made = other.create_clock()
        with pytest.raises(Rejection) as refused:
            client.get_clock(made.id)
    assert refused.value.reason == Reason.CLOCK_NOT_FOUND


def test_one_address_is_one_user_however_soon_it_signs_in_again(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    with tickover.client(address) as one, tickover.client(address) as other:
        assert one.token != other.token
        made = one.create_clock()
        assert other.get_clock(made.id).id == made.id


def test_an_address_that_is_none_is_refused(tickover: Server) -> None:
    with pytest.raises(Rejection) as refused:
        tickover.client("nobody")
    assert refused.value.reason == Reason.INVALID_PARAMS


async def test_a_client_may_be_asynchronous(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    async with tickover.async_client(address) as one:
        made = await one.create_clock(frozen_time=START, transactions=[RENT])
        happened = await made.advance(months=1)
    assert [item.name for item in happened.transactions] == ["Rent"]
    with tickover.client(address) as other:
        assert other.get_clock(made.id).frozen_time == to_instant("2027-02-01T00:00:00Z")


def test_limits_are_off(tickover: Server, client: Tickover) -> None:
    """Forty letters to one network, which a server in the open refuses."""
    for _ in range(40):
        client.send_code(tickover.mailbox.address())


# clock


def test_a_clock_of_nothing_starts_at_the_documented_instant(clock: ClockFactory) -> None:
    made = clock()
    assert (made.frozen_time, made.transactions, made.pending_transactions) == (START, [], [])


def test_a_clock_of_parts(clock: ClockFactory) -> None:
    made = clock(frozen_time="2027-01-03T08:00:00Z", transactions=[RENT, SALARY], goals=[TRIP])
    assert made.frozen_time == RENT.at
    assert [item.name for item in made.transactions] == ["Rent"]
    assert [item.name for item in made.pending_transactions] == ["Salary"]
    assert [item.name for item in made.goals] == ["Trip"]


def test_parts_without_a_time_start_at_the_documented_instant(clock: ClockFactory) -> None:
    assert clock(transactions=[RENT]).frozen_time == START


@pytest.mark.parametrize(
    ("plan", "starts"),
    [
        (Plan(transactions=[RENT]), START),
        (Plan(frozen_time=datetime(2026, 1, 1, tzinfo=UTC)), datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_clock_of_a_plan(plan: Plan, starts: datetime, clock: ClockFactory) -> None:
    made = clock(plan)
    assert made.frozen_time == starts
    assert len(made.pending_transactions) == len(plan.transactions)


@pytest.mark.parametrize("name", names())
def test_a_clock_of_any_scenario(name: str, clock: ClockFactory) -> None:
    made = clock(name)
    assert made.frozen_time == (load(name).start or START)
    assert made.next_at


def test_a_scenario_starts_when_it_is_told_to(clock: ClockFactory) -> None:
    assert clock("salary-and-rent", start="2028-02-29T00:00:00Z").frozen_time == datetime(2028, 2, 29, tzinfo=UTC)


def test_a_clock_of_a_scenario_in_a_file(clock: ClockFactory, tmp_path: Path) -> None:
    file = tmp_path / "coffee.toml"
    file.write_text(SCENARIO)
    for given in (file, str(file), load(file)):
        assert [item.name for item in clock(given).pending_transactions] == ["Coffee"]


@pytest.mark.parametrize(
    ("what", "more", "told"),
    [
        ("salary-and-rent", {"frozen_time": START}, "frozen_time, transactions and goals are for a clock without"),
        ("salary-and-rent", {"transactions": [RENT]}, "frozen_time, transactions and goals are for a clock without"),
        (Plan(), {"goals": [TRIP]}, "frozen_time, transactions and goals are for a clock without"),
        (Plan(), {"start": START}, "start is for a scenario"),
        (None, {"start": START}, "start is for a scenario"),
    ],
)
def test_what_does_not_go_together_is_refused(what: Any, more: Any, told: str, clock: ClockFactory) -> None:
    with pytest.raises(TypeError, match=told):
        clock(what, **more)


def test_clocks_belong_to_the_user_of_the_client(clock: ClockFactory, client: Tickover) -> None:
    made = clock()
    assert [found.id for found in client.list_clocks()] == [made.id]


# mailbox


def test_addresses_are_new_and_in_a_domain_that_nobody_has(mailbox: Mailbox) -> None:
    addresses = {mailbox.address() for _ in range(100)}
    assert len(addresses) == 100
    assert all(address.endswith("@example.test") for address in addresses)


def test_a_letter_brings_what_signs_in(mailbox: Mailbox, tickover: Server) -> None:
    by_code, by_link = mailbox.address(), mailbox.address()
    with Tickover(tickover.url) as visitor:
        visitor.send_code(by_code)
        letter = mailbox.wait_for(by_code)
        assert letter.to == by_code
        assert letter.code
        visitor.log_in(by_code, letter.code)
        visitor.send_link(by_link)
        url = mailbox.wait_for(by_link).login_url
        assert url
        assert url.startswith(tickover.url)
        visitor.log_in_by_link(url)


def test_a_letter_is_returned_once_however_its_address_is_written(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    with Tickover(tickover.url) as visitor:
        visitor.send_code(address)
    mailbox.wait_for(address)
    for written in (address, address.upper()):
        with pytest.raises(TimeoutError, match=f"^No newer letter to {re.escape(written)} has come within 0.1 seconds"):
            mailbox.wait_for(written, timeout=0.1)


def test_the_next_letter_is_a_newer_one(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    tickover.client(address).close()
    tickover.client(address).close()
    with pytest.raises(TimeoutError):
        mailbox.wait_for(address, timeout=0)


def test_a_letter_that_does_not_come_is_named(mailbox: Mailbox) -> None:
    address = mailbox.address()
    with pytest.raises(TimeoutError, match=f"^No letter to {re.escape(address)} has come within 0 seconds"):
        mailbox.wait_for(address, timeout=0)


async def test_a_letter_is_waited_for(tickover: Server, mailbox: Mailbox) -> None:
    address = mailbox.address()
    waiting = asyncio.create_task(asyncio.to_thread(mailbox.wait_for, address))
    with Tickover(tickover.url) as visitor:
        await asyncio.to_thread(visitor.send_code, address)
    assert (await waiting).to == address
