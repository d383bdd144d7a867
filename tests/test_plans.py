"""Plans: what goes into them, and how it is written for the wire."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

import pytest
from msgspec import UNSET

from tickover.plans import Plan, contribution, encode_json, expense, goal, income, to_exact_decimal, to_instant

START = datetime(2027, 1, 1, tzinfo=UTC)
EARLIER = timezone(timedelta(hours=1))


class Nowhere(tzinfo):
    """A time zone that does not know how far it is from UTC."""

    def utcoffset(self, when: datetime | None) -> None:
        return None

    dst = tzname = utcoffset


@pytest.mark.parametrize(
    ("when", "moment"),
    [
        (START, START),
        (datetime(2027, 1, 1, 1, tzinfo=EARLIER), START),
        ("2027-01-01T00:00:00Z", START),
        ("2027-01-01t01:00:00.0000019+01:00", START + timedelta(microseconds=1)),
        (datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)),
        (datetime(1, 1, 1, 1, tzinfo=EARLIER), datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_an_instant_is_in_utc(when: datetime | str, moment: datetime) -> None:
    assert to_instant(when) == moment
    assert to_instant(when).tzinfo is UTC


@pytest.mark.parametrize(
    ("when", "message"),
    [
        (datetime(2027, 1, 1), "2027-01-01T00:00:00 has no time zone; say which"),  # noqa: DTZ001 - that is the fault
        (datetime(2027, 1, 1, tzinfo=Nowhere()), "2027-01-01T00:00:00 has no time zone; say which"),
        (datetime(1, 1, 1, 0, 59, tzinfo=EARLIER), "is not in the years 0001 to 9999 when written in UTC"),
        ("0001-01-01T00:59:00+01:00", "must lie in the years 0001 to 9999 when written in UTC"),
        ("2027-01-01T00:00:00", "'2027-01-01T00:00:00' must be an RFC 3339 timestamp with an offset"),
        ("2027-01-01", "'2027-01-01' must be an RFC 3339 timestamp with an offset"),
        ("", "'' must be an RFC 3339 timestamp with an offset"),
    ],
)
def test_what_is_no_instant_is_refused(when: datetime | str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_instant(when)


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0, "0"),
        (1_000_000_000, "1000000000"),
        (0.1, "0.1"),
        (1e-7, "1E-7"),
        (2**53, "9007199254740992"),
        (Decimal("2800.10"), "2800.10"),
        (Decimal("1E+2"), "1E+2"),
        (Decimal("0.30000000000000004"), "0.30000000000000004"),
    ],
)
def test_an_amount_travels_as_it_is(amount: Decimal | int | float, written: str) -> None:
    assert encode_json(to_exact_decimal(amount)).decode() == written


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (2**53 + 1, "has more digits than a JSON number keeps"),
        (10**400, "has more digits than a JSON number keeps"),
        (Decimal("0.300000000000000041"), "has more digits than a JSON number keeps"),
        (Decimal("1E-400"), "has more digits than a JSON number keeps"),
        (Decimal("NaN"), "or is no number"),
        (Decimal("sNaN"), "or is no number"),
        (Decimal("-Infinity"), "or is no number"),
        (float("nan"), "or is no number"),
        (float("inf"), "or is no number"),
        (True, "True is no amount; give a Decimal, an int or a float"),
        (False, "False is no amount; give a Decimal, an int or a float"),
        ("12.50", "'12.50' is no amount; give a Decimal, an int or a float"),
        (None, "None is no amount; give a Decimal, an int or a float"),
    ],
)
def test_an_amount_that_would_not_arrive_as_it_is_is_refused(amount: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_exact_decimal(amount)


def test_a_plan_is_written_as_the_parameters_of_a_creation() -> None:
    plan = Plan(
        frozen_time=START,
        transactions=[
            income("Salary", Decimal("2800.10"), "EUR", "2027-01-25T09:00:00+01:00"),
            expense("Rent", 1150.5, "EUR", START, category="Home"),
        ],
        goals=[goal("Trip", 3000, 500, [contribution(0.1, START)]), goal("Bike", target=400)],
    )
    assert encode_json(plan).decode() == (
        '{"frozenTime":"2027-01-01T00:00:00Z","transactions":['
        '{"at":"2027-01-25T08:00:00Z","name":"Salary","amount":2800.10,"currency":"EUR","type":"INCOME"},'
        '{"at":"2027-01-01T00:00:00Z","name":"Rent","amount":1150.5,"currency":"EUR","type":"EXPENSE","category":"Home"}'
        '],"goals":[{"name":"Trip","targetAmount":3000,"initialAmount":500,"contributions":'
        '[{"at":"2027-01-01T00:00:00Z","amount":0.1}]},{"name":"Bike","targetAmount":400,"initialAmount":0}]}'
    )


def test_a_plan_of_nothing_says_nothing() -> None:
    assert encode_json(Plan()) == b"{}"
    assert Plan().frozen_time is UNSET


def test_an_empty_category_is_one() -> None:
    assert b'"category":""' in encode_json(income("Salary", 1, "EUR", START, category=""))


@pytest.mark.parametrize(
    "plan",
    [
        lambda naive: Plan(frozen_time=naive),
        lambda naive: income("Salary", 1, "EUR", naive),
        lambda naive: expense("Rent", 1, "EUR", at=naive),
        lambda naive: contribution(1, naive),
    ],
)
def test_no_plan_takes_a_time_without_a_zone(plan: Any) -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        plan(datetime(2027, 1, 1))  # noqa: DTZ001 - that is the fault


@pytest.mark.parametrize(
    "plan",
    [
        lambda amount: income("Salary", amount, "EUR", START),
        lambda amount: expense("Rent", amount, "EUR", START),
        lambda amount: contribution(amount, START),
        lambda amount: goal("Trip", amount),
        lambda amount: goal("Trip", 1, amount),
    ],
)
def test_no_plan_takes_an_amount_that_would_change(plan: Any) -> None:
    with pytest.raises(ValueError, match="has more digits than a JSON number keeps"):
        plan(2**53 + 1)
