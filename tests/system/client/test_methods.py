"""Every method of the client, against a real server. The sync client runs the code of both."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.support.program import Program
from tests.system.client.rejections import rejected
from tests.system.client.servers import Step, reject, respond_normally, respond_with, scripted_server
from tickover.client import NoCode, NothingLeft, Plan, Reason, Rejection, Tickover, contribution, expense, goal, income

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
    result = clock.advance(RENT + timedelta(hours=3))
    assert (result.before, result.after) == (START, RENT + timedelta(hours=3))
    assert [item.name for item in result.transactions] == ["First", "Second"]
    assert [of.name for of, _ in result.contributions] == ["One", "Two", "One"]
    assert [item.amount for _, item in result.contributions] == [2, 3, 1]
    assert [of.current_amount for of, _ in result.contributions] == [3, 3, 3]
    later = clock.advance(days=1)
    assert (later.before, later.transactions, later.contributions) == (result.after, [], [])


@pytest.mark.parametrize(
    ("to", "duration", "message"),
    [
        (None, {}, "advance takes either an instant or a duration"),
        (None, {"days": 0}, "advance takes either an instant or a duration"),
        (utc(2028, 1, 1), {"days": 1}, "advance takes either an instant or a duration"),
        (None, {"years": 7973}, "plus this duration is after the year 9999"),
    ],
)
def test_advance_rejects_invalid_arguments(client: Tickover, to: Any, duration: dict[str, int], message: str) -> None:
    clock = client.create_clock(PLAN)
    with pytest.raises(ValueError, match=message):
        clock.advance(to, **duration)


def test_clock_shows_its_last_response(client: Tickover) -> None:
    clock, other = client.create_clock(PLAN), client.create_clock(PLAN)
    assert clock.preview(RENT) == client.get_clock(clock.id, RENT).snapshot
    for each in (clock, other):
        client.get_clock(each.id).advance(RENT)
        assert each.frozen_time == START
    assert [item.name for item in clock.advance(SALARY).transactions] == ["Rent", "Salary"]
    other.refresh()
    assert (other.frozen_time, [item.name for item in other.transactions]) == (RENT, ["Rent"])


def test_advance_to_next_until_nothing_is_left(client: Tickover) -> None:
    clock = client.create_clock(PLAN)
    visited = []
    while clock.next_at is not None:
        result = clock.advance_to_next()
        visited.append(result.after)
        assert len(result.transactions) + len(result.contributions) == 1
    assert visited == [RENT, SALARY, SAVED, SAVED + timedelta(days=30)]
    with pytest.raises(NothingLeft, match=f"^Nothing is pending or upcoming on {clock.id}.$"):
        clock.advance_to_next()


# List


def test_list_clocks_loads_all_pages(client: Tickover, program: Program) -> None:
    responses = program.batch("createTestClock", [{}] * 101, client.token)
    listed = [clock.id for clock in client.list_clocks()]
    assert sorted(listed) == sorted(response["result"]["clock"]["id"] for response in responses)
