"""Balances, events and expectations, against a real server."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from tests.system.client.rejections import rejected
from tests.system.client.servers import result, scripted_server
from tickover.client import (
    Clock,
    ExpectationFailed,
    Plan,
    Reason,
    Tickover,
    contribution,
    expense,
    goal,
    goal_reached,
    income,
    never_above,
    never_below,
    posted,
    total,
)
from tickover.scenarios import read as read_scenario

JANUARY = datetime(2027, 1, 1, tzinfo=UTC)
PLAN = Plan(
    frozen_time=date(2027, 1, 1),  # type: ignore[arg-type]
    transactions=[
        income("Salary", 2800.1, "EUR", "2027-01-25"),
        expense("Rent", Decimal("1150.2"), "EUR", date(2027, 1, 3), category="Home"),
        expense("Train", 30, "CHF", "2027-01-04"),
    ],
    goals=[goal("Trip", 300, 0, [contribution(200, "2027-01-26"), contribution(200, "2027-02-26")])],
    opening={"EUR": 1000},
    expectations=[never_below("EUR", -200)],
)


@pytest.fixture
def clock(client: Tickover) -> Clock:
    return client.create_clock(PLAN)


def test_advance_returns_the_balances_after_it(clock: Clock) -> None:
    result = clock.advance("2027-01-04")
    assert result.balances == {"CHF": -30, "EUR": Decimal("-150.2")}
    assert clock.advance(months=1).balances == {"CHF": -30, "EUR": Decimal("2649.9")}
    assert {name: each.balance for name, each in (clock.balances()).items()} == {
        "CHF": -30,
        "EUR": Decimal("2649.9"),
    }


def test_balance_is_at_the_frozen_time_or_at_an_instant(clock: Clock) -> None:
    assert clock.balance("EUR") == 1000
    assert clock.balance("EUR", date(2027, 1, 3)) == Decimal("-150.2")
    assert clock.balance("EUR", at="2027-01-25", opening={"EUR": 0.1}) == 1650
    assert clock.balance("JPY") == 0


def test_balances_have_the_lowest_and_highest_point(clock: Clock) -> None:
    euros = (clock.balances("2027-02-01"))["EUR"]
    assert [euros.opening, euros.income, euros.expense] == [1000, Decimal("2800.1"), Decimal("1150.2")]
    assert (euros.lowest.at, euros.lowest.balance) == (datetime(2027, 1, 3, tzinfo=UTC), Decimal("-150.2"))
    assert (euros.highest.at, euros.highest.balance) == (datetime(2027, 1, 25, tzinfo=UTC), Decimal("2649.9"))


def test_an_invalid_currency_is_rejected(clock: Clock) -> None:
    with rejected(Reason.INVALID_PARAMS):
        clock.balance("eur")


def test_events_have_balances_and_goals(clock: Clock) -> None:
    assert list(clock.events()) == []
    events = list(clock.events(until="2027-03-01"))
    assert [(event.type, event.balance, event.current_amount) for event in events] == [
        ("transaction.posted", Decimal("-150.2"), None),
        ("transaction.posted", -30, None),
        ("transaction.posted", Decimal("2649.9"), None),
        ("contribution.posted", None, 200),
        ("contribution.posted", None, 400),
        ("goal.reached", None, None),
    ]
    assert all(event.pending for event in events)
    assert events[0].transaction is not None
    assert events[0].transaction.name == "Rent"
    assert [event.id for event in events[-2:]] == [
        event.id for event in clock.events(after=date(2027, 1, 26), until=date(2027, 3, 1))
    ]
    without_opening = list(clock.events(until="2027-01-03", opening={}))
    assert [event.balance for event in without_opening] == [Decimal("-1150.2")]


def test_all_pages_of_events_are_requested() -> None:
    event = {"id": "evt_goal_1", "at": "2027-01-01T00:00:00Z", "type": "goal.reached", "goalId": "goal_1"}
    first = result({"events": [event], "nextCursor": "next"})
    with scripted_server(first, result({"events": [event]})) as server, Tickover(server.url, "tko_1") as client:
        assert len(list(client.list_events("clock_1", after="2027-01-01", opening={"EUR": 5}))) == 2
    one, two = (request.call["params"] for request in server.requests)
    assert two == {**one, "cursor": "next"}
    assert one["openingBalances"] == {"EUR": 5}


def test_expectations_that_hold_return_a_result(clock: Clock) -> None:
    checked = clock.check(
        never_below("EUR", Decimal("-150.2")),
        never_below("EUR", 0, from_="2027-01-25"),
        never_above("EUR", 2649.9),
        goal_reached("Trip", by="2027-02-26"),
        total("EXPENSE", "EUR", per="MONTH", category="Home", at_most=1150.2),
        posted("Rent", by=date(2027, 1, 3)),
    )
    assert checked
    assert [each.ok for each in checked.results] == [True] * 6
    assert checked.until == clock.max_time


def test_a_violation_shows_the_timeline_with_a_marker(clock: Clock) -> None:
    clock.advance("2027-01-03")
    with pytest.raises(ExpectationFailed) as caught:
        clock.check(never_above("EUR", 9e9), never_below("EUR", 0), goal_reached("Trip", by="2027-02-01"))
    assert isinstance(caught.value, AssertionError)
    assert [each.ok for each in caught.value.result.results] == [True, False, False]
    assert str(caught.value).splitlines() == [
        f"The EUR balance is -150.2, below 0. 2 of 3 expectations failed for {clock.id}.",
        "Expected: The EUR balance is never below 0.",
        "  Actual: The EUR balance is -150.2, below 0.",
        'Expected: Goal "Trip" is reached by 2027-02-01T00:00:00Z.',
        '  Actual: Goal "Trip" has 200 of 300 at 2027-02-01T00:00:00Z.',
        "",
        "  ● 2027-01-03T00:00:00Z  -1150.20 EUR  = -150.20 EUR  Rent",
        "  ✗ 2027-01-03T00:00:00Z  The EUR balance is -150.2, below 0.",
        "  ○ 2027-01-04T00:00:00Z       -30 CHF      = -30 CHF  Train",
        "  ○ 2027-01-25T00:00:00Z  +2800.10 EUR  = 2649.90 EUR  Salary",
        "  ○ 2027-01-26T00:00:00Z      +200                     Trip (goal)",
        "  ○ 2027-02-26T00:00:00Z      +200                     Trip (goal)",
    ]


def test_check_without_arguments_checks_the_plan(client: Tickover, clock: Clock) -> None:
    assert clock.check()
    assert clock.fork().check()
    with pytest.raises(ExpectationFailed):
        clock.check(opening={})
    assert clock.check(opening={}, until="2027-01-02")
    same = client.get_clock(clock.id)
    with pytest.raises(ValueError, match="pass one or more expectations"):
        same.check()
    same.opening = {"EUR": 151}
    with pytest.raises(ExpectationFailed):
        same.check(never_below("EUR", 0))
    same.opening = {"EUR": 1150.2}
    assert same.check(never_below("EUR", 0))


def test_check_clock_returns_a_false_result(client: Tickover, clock: Clock) -> None:
    checked = client.check_clock(clock.id, [never_below("EUR", 0)])
    assert not checked
    violation = checked.results[0].violation
    assert violation is not None
    assert (violation.actual, violation.at) == (Decimal("-1150.2"), datetime(2027, 1, 3, tzinfo=UTC))
    assert violation.item_ids == [clock.pending_transactions[0].id]


def test_values_that_are_not_expectations_are_rejected(clock: Clock) -> None:
    with pytest.raises(ValueError, match="pass one or more expectations"):
        clock.check(never_below)  # type: ignore[arg-type]


SCENARIO = """\
currency = "EUR"
[[transactions]]
name = "Rent"
amount = 840.50
type = "expense"
every = "quarterly"
[[expect]]
never_below = -1700
"""


def test_server_expands_a_scenario_into_a_plan_like_the_module(client: Tickover) -> None:
    plan = client.expand_scenario(SCENARIO, JANUARY)
    expected = read_scenario(SCENARIO, "toml", title="-").plan(JANUARY)
    assert list(plan.transactions) == list(expected.transactions)
    assert list(plan.expectations) == list(expected.expectations)
    assert client.create_clock(plan).check()


def test_error_of_an_invalid_scenario_has_a_line(client: Tickover) -> None:
    with rejected(Reason.INVALID_PARAMS) as caught:
        client.expand_scenario(SCENARIO.replace("every", "evry"))
    assert [fault.line for fault in caught.value.faults] == [6]
