"""Methods of the client that no page shows, against a real server. The sync client runs the code of both."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.support.program import Program
from tests.system.client.rejections import rejected
from tests.system.client.servers import (
    Step,
    forward_to,
    lose_response_of,
    reject,
    respond_normally,
    respond_with,
    result,
    scripted_server,
)
from tickover.client import (
    Clock,
    ExpectationFailed,
    NoCode,
    NothingLeft,
    Plan,
    Reason,
    Rejection,
    Tickover,
    account,
    contribution,
    expense,
    goal,
    income,
    never_below,
    transfer,
)

START = datetime(2027, 1, 1, tzinfo=UTC)
RENT = datetime(2027, 1, 3, 8, tzinfo=UTC)
SAVED = datetime(2027, 1, 26, 8, tzinfo=UTC)
SALARY = datetime(2027, 1, 25, 8, tzinfo=UTC)

PLAN = Plan(
    frozen_time=START,
    transactions=[
        income("Salary", Decimal("2800.10"), "EUR", at="2027-01-25T09:00:00+01:00"),
        expense("Rent", 1150, "EUR", RENT, category="Home"),
    ],
    goals=[
        goal("Trip", 3000, 500, [contribution(0.1, SAVED), contribution(0.2, SAVED + timedelta(days=30))]),
        goal("Bike", target=400),
    ],
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


# Sign-in


def test_sign_in_with_a_code(visitor: Tickover, email: str) -> None:
    assert visitor.latest_email(email) is None
    visitor.send_code(email)
    received = visitor.latest_email(email)
    assert received is not None
    assert received.code is not None
    assert (received.to, received.subject) == (email, f"{received.code} is your Tickover code")
    assert received.code in received.text
    assert received.login_url is None
    assert abs(datetime.now(UTC) - received.sent_at) < timedelta(minutes=1)
    signed_in = visitor.log_in(email, received.code)
    assert visitor.token == signed_in.token
    user = visitor.current_user()
    assert (user.user_id, user.email, user.token.type) == (signed_in.user_id, email, "SESSION")
    assert timedelta(days=29) < user.token.expires_at - datetime.now(UTC) <= timedelta(days=30)


def test_sign_in_uses_the_unused_code_of_the_last_minute(visitor: Tickover, email: str) -> None:
    visitor.send_code(email)
    signed_in = visitor.sign_in(email)
    assert visitor.current_user().user_id == signed_in.user_id
    with rejected(Reason.RESEND_TOO_SOON):
        visitor.sign_in(email)
    visitor.log_out()
    assert visitor.sign_in(email).user_id == signed_in.user_id


NO_MAILBOX = respond_with("No.", 404, "text/plain")


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        pytest.param([respond_normally, NO_MAILBOX], NoCode, id="real emails"),
        pytest.param([respond_normally, respond_normally], NoCode, id="email without a code"),
        pytest.param([reject("RESEND_TOO_SOON"), NO_MAILBOX], Rejection, id="too soon, with real emails"),
        pytest.param([reject("RATE_LIMITED")], Rejection, id="rate limit"),
    ],
)
def test_sign_in_without_a_code_raises(steps: list[Step], error: type[Exception]) -> None:
    with scripted_server(*steps) as server, Tickover(server.url) as client:
        with pytest.raises(error):
            client.sign_in("ana@example.test")
        assert len(server.requests) == len(steps)


# Create


@pytest.mark.parametrize("key", ["", "k" * 256, "ключ", "a\nb"])
def test_an_invalid_idempotency_key_is_rejected_by_the_client(visitor: Tickover, key: str) -> None:
    with pytest.raises(ValueError, match="an idempotency key must have 1 to 255 printable ASCII characters"):
        visitor.create_clock(idempotency_key=key)


# Advance


def test_advance_returns_posted_items_in_order_of_time(client: Tickover) -> None:
    plan = Plan(
        START,
        [income("Second", 1, "EUR", RENT + timedelta(hours=2)), expense("First", 1, "EUR", RENT)],
        [
            goal("One", 10, 0, [contribution(1, RENT + timedelta(hours=3)), contribution(2, RENT)]),
            goal("Two", 10, 0, [contribution(3, RENT + timedelta(hours=1))]),
        ],
    )
    clock = client.create_clock(plan)
    moved = clock.advance(RENT + timedelta(hours=3))
    assert moved.clock == clock.snapshot
    assert [item.name for item in moved.transactions] == ["First", "Second"]
    assert [item.amount for item in moved.contributions] == [2, 3, 1]
    later = clock.advance(days=1)
    assert (later.events, later.transactions, later.contributions) == ([], [], [])


def test_advance_by_a_duration_counts_from_the_clock_at_the_server(client: Tickover) -> None:
    clock = client.create_clock(PLAN)
    client.advance_clock(clock.id, by="1d")
    clock.advance(years=1, months=2, weeks=3, days=4, hours=5, minutes=6, seconds=7)
    assert clock.frozen_time == datetime(2028, 3, 27, 5, 6, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("to", "duration", "message"),
    [
        (None, {}, "advance takes either an instant or a duration"),
        (None, {"days": 0}, "advance takes either an instant or a duration"),
        (utc(2028, 1, 1), {"days": 1}, "advance takes either an instant or a duration"),
        (None, {"days": 1, "by": "1d"}, "advance takes either an instant or a duration"),
    ],
)
def test_advance_rejects_invalid_arguments(client: Tickover, to: Any, duration: dict[str, Any], message: str) -> None:
    clock = client.create_clock(PLAN)
    with pytest.raises(ValueError, match=message):
        clock.advance(to, **duration)


def test_clock_shows_its_last_response(client: Tickover) -> None:
    clock, other = client.create_clock(PLAN), client.create_clock(PLAN)
    assert clock.preview(RENT) == client.get_clock(clock.id, RENT).snapshot
    for each in (clock, other):
        client.get_clock(each.id).advance(RENT)
        assert each.frozen_time == START
    assert [item.name for item in clock.advance(SALARY).transactions] == ["Salary"]
    other.refresh()
    assert (other.frozen_time, [item.name for item in other.transactions]) == (RENT, ["Rent"])


def test_advance_to_next_until_nothing_is_left(client: Tickover) -> None:
    clock = client.create_clock(PLAN)
    visited = []
    while clock.next_at is not None:
        moved = clock.advance_to_next()
        visited.append(moved.clock.frozen_time)
        assert len(moved.transactions) + len(moved.contributions) == 1
    assert visited == [RENT, SALARY, SAVED, SAVED + timedelta(days=30)]
    with pytest.raises(NothingLeft, match=f"^Nothing is pending or upcoming on {clock.id}.$"):
        clock.advance_to_next()


def test_advance_to_next_stops_at_transfers(client: Tickover) -> None:
    accounts = [account("checking", "Checking", "EUR"), account("savings", "Savings", "EUR")]
    saved = [transfer("Save", 5, "checking", "savings", at) for at in (RENT - timedelta(days=1), SALARY)]
    clock = client.create_clock(
        frozen_time=START, accounts=accounts, transfers=saved, transactions=[expense("Rent", 1, "EUR", RENT)]
    )
    moved = []
    while clock.next_at is not None:
        result = clock.advance_to_next()
        moved.append((result.clock.frozen_time, len(result.transactions), len(result.transfers)))
    assert moved == [(RENT - timedelta(days=1), 0, 1), (RENT, 1, 0), (SALARY, 0, 1)]


# Lost responses

MAKE_TWICE: dict[str, Callable[[Tickover, Clock], object]] = {
    "create": lambda client, _: client.create_clock(PLAN),
    "create from a scenario": lambda client, _: client.create_clock_from_scenario("trip"),
    "fork": lambda client, clock: client.fork_clock(clock.id),
    "advance": lambda client, clock: client.advance_clock(clock.id, by="1d"),
    "amend": lambda client, clock: client.amend_clock(clock.id, add=[expense("Coffee", 1, "EUR", RENT)]),
}


@pytest.mark.parametrize("name", MAKE_TWICE)
def test_call_whose_response_is_lost_is_done_once(program: Program, client: Tickover, name: str) -> None:
    clock = client.create_clock(PLAN)
    with (
        scripted_server(lose_response_of(program.url), forward_to(program.url)) as proxy,
        Tickover(proxy.url, client.token) as unlucky,
    ):
        MAKE_TWICE[name](unlucky, clock)
        assert len(proxy.requests) == 2
    clock.refresh()
    assert len(list(client.list_clocks())) == (1 if name in {"amend", "advance"} else 2)
    assert len(clock.pending_transactions) == (3 if name == "amend" else 2)


# Amendments


@pytest.fixture
def clock(client: Tickover) -> Clock:
    return client.create_clock(PLAN)


def test_items_and_ids_are_cancelled(clock: Clock) -> None:
    clock.cancel(clock.pending_transactions[0], clock.goals[0].upcoming_contributions[0].id)
    assert [item.name for item in clock.pending_transactions] == ["Salary"]
    assert [item.amount for item in clock.goals[0].upcoming_contributions] == [Decimal("0.2")]
    with rejected(Reason.INVALID_PARAMS) as caught:
        clock.cancel("txn_1")
    assert [fault.path for fault in caught.value.faults] == ["cancel[0]"]


def test_fork_with_a_rejected_amendment_is_deleted(client: Tickover, clock: Clock) -> None:
    with rejected(Reason.INVALID_PARAMS):
        clock.fork(add=[expense("Coffee", 1, "EUR", "2026-12-31")])
    assert [each.id for each in client.list_page().clocks] == [clock.id]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (contribution(1, START), "needs the goal"),
        (contribution(1, START, goal="Car"), "no goal with the name 'Car'"),
        (contribution(1, START, goal="Trip"), "2 goals with the name 'Trip'"),
    ],
)
def test_contribution_needs_one_goal(clock: Clock, item: Any, message: str) -> None:
    if "2 goals" in message:
        clock.add(goal("Trip", 1))
    with pytest.raises(ValueError, match=message):
        clock.add(item)


# Balances, events and expectations


def test_unknown_account_is_explained(client: Tickover) -> None:
    clock = client.create_clock(accounts=[account("checking", "Checking", "EUR"), account("cash", "Cash", "EUR")])
    with pytest.raises(ValueError, match="no account 'check'; it has checking, cash"):
        clock.balance(account="check")


def test_statements_begin_at_the_start_of_the_clock(client: Tickover) -> None:
    coffee = expense("Coffee", 3, "EUR", date(2027, 1, 10))
    clock = client.create_clock(frozen_time=START, transactions=[coffee], opening_balances={"EUR": 5})
    clock.advance(months=1)
    assert clock.export().splitlines()[1] == "opening,,2027-01-01T00:00:00Z,,,,EUR,5.00,"
    assert clock.export("json", opening_balances={}) == client.export_clock(clock.id, "json", opening_balances={})


def test_check_without_arguments_checks_the_plan(client: Tickover) -> None:
    rent, expected = expense("Rent", Decimal("1150.2"), "EUR", date(2027, 1, 3)), [never_below("EUR", -200)]
    clock = client.create_clock(
        frozen_time=START, transactions=[rent], opening_balances={"EUR": 1000}, expectations=expected
    )
    assert clock.check()
    assert clock.fork().check()
    with pytest.raises(ExpectationFailed):
        clock.check(opening_balances={})
    assert clock.check(opening_balances={}, until="2027-01-02")
    same = client.get_clock(clock.id)
    same.update(opening_balances={"EUR": 151})
    with pytest.raises(ExpectationFailed, match="Expected: The EUR balance is never below -200"):
        same.check()
    assert clock.fork(expectations=[never_below("EUR", -1000)]).check()
    same.update(opening_balances=None, expectations=None)
    assert (same.opening_balances, same.expectations) == ({}, ())
    with rejected(Reason.INVALID_PARAMS):
        same.check()


# Pages


def test_all_pages_of_events_are_requested() -> None:
    event = {"id": "evt_goal_1", "at": "2027-01-01T00:00:00Z", "type": "goal.reached", "goalId": "goal_1"}
    first = result({"events": [event], "nextCursor": "next"})
    with scripted_server(first, result({"events": [event]})) as server, Tickover(server.url, "tko_1") as client:
        assert len(list(client.list_events("clock_1", after="2027-01-01", opening_balances={"EUR": 5}))) == 2
    one, two = (request.call["params"] for request in server.requests)
    assert two == {**one, "cursor": "next"}
    assert one["openingBalances"] == {"EUR": 5}


def test_list_clocks_loads_all_pages(client: Tickover, program: Program) -> None:
    responses = program.batch("createTestClock", [{}] * 101, client.token)
    listed = [clock.id for clock in client.list_clocks()]
    assert sorted(listed) == sorted(response["result"]["clock"]["id"] for response in responses)
