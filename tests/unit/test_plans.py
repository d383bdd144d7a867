"""Plans: validation, and encoding as JSON."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

import pytest

from tickover.api.command_arguments import midnight, to_exact_decimal, to_instant
from tickover.api.expectations import never_above, never_below
from tickover.api.plans import Plan, account, encode_json, expense, transfer

START = datetime(2027, 1, 1, tzinfo=UTC)
UTC_PLUS_1 = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2027, 1, 1, 1, tzinfo=UTC_PLUS_1), START),
        ("2027-01-01", START),
        (date(2027, 1, 1), START),
        ("2027-01-01t01:00:00.0000019+01:00", START + timedelta(microseconds=1)),
        (datetime(1, 1, 1, 1, tzinfo=UTC_PLUS_1), datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_instants_are_converted_to_utc(value: datetime | str, expected: datetime) -> None:
    assert to_instant(value) == expected
    assert to_instant(value).tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (datetime(2027, 1, 1), "2027-01-01T00:00:00 has no time zone; add one"),  # noqa: DTZ001
        (datetime(1, 1, 1, 0, 59, tzinfo=UTC_PLUS_1), "is outside of the years 0001 to 9999 in UTC"),
        ("0001-01-01T00:59:00+01:00", "must be in the years 0001 to 9999 in UTC"),
        ("2027-02-29", "'2027-02-29' must be an RFC 3339 timestamp with an offset"),
        (20270101, "invalid time 20270101; use a datetime with a time zone, a date or a string"),
    ],
)
def test_invalid_instants_are_rejected(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_instant(value)


@pytest.mark.parametrize(
    ("day", "zone", "expected"),
    [
        ("2027-01-31", "UTC", "2027-01-31T00:00:00Z"),
        (date(2027, 7, 1), UTC_PLUS_1, "2027-06-30T23:00:00Z"),
        ("2027-07-01", "America/New_York", "2027-07-01T04:00:00Z"),
        # In Beirut, clocks go forward at midnight: the day begins at 01:00.
        ("2027-03-28", "Asia/Beirut", "2027-03-27T22:00:00Z"),
    ],
)
def test_midnight_is_the_start_of_the_day_in_the_zone(day: date | str, zone: tzinfo | str, expected: str) -> None:
    assert midnight(day, zone) == to_instant(expected)


@pytest.mark.parametrize(
    ("day", "zone", "message"),
    [
        ("2027-02-29", "UTC", "invalid date '2027-02-29'; use a date such as 2027-01-31"),
        (START, "UTC", "has a time of day; pass a date"),
        ("2027-01-31", "", "unknown time zone ''"),
        ("2027-01-31", "Europe", "unknown time zone 'Europe'"),
        (date(1, 1, 1), UTC_PLUS_1, "is outside of the years 0001 to 9999 in UTC"),
    ],
)
def test_invalid_days_and_zones_are_rejected(day: Any, zone: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        midnight(day, zone)


@pytest.mark.parametrize(
    ("amount", "encoded"),
    [
        (0.1, "0.1"),
        (1e-7, "1E-7"),
        (Decimal("2800.10"), "2800.10"),
        (Decimal("0.30000000000000004"), "0.30000000000000004"),
    ],
)
def test_amounts_are_encoded_exactly(amount: Decimal | int | float, encoded: str) -> None:
    assert encode_json(to_exact_decimal(amount)).decode() == encoded


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (2**53 + 1, "has too many digits for a JSON number"),
        (Decimal("0.300000000000000041"), "has too many digits for a JSON number"),
        (Decimal("sNaN"), "is not finite"),
        (float("inf"), "is not finite"),
        (True, "invalid amount True; use a Decimal, an int or a float"),
        ("12.50", "invalid amount '12.50'; use a Decimal, an int or a float"),
    ],
)
def test_amounts_without_an_exact_json_number_are_rejected(amount: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_exact_decimal(amount)


def test_accounts_transfers_and_expectations_are_encoded() -> None:
    plan = Plan(
        transactions=[
            expense("Rent", 900, "EUR", START, account="checking", authorized_at="2026-12-31", authorized_amount=41.5)
        ],
        accounts=[account("checking", "Checking", "EUR", opening_balance=0.1), account("card", "Card", "USD", "CASH")],
        transfers=[transfer("Pay card", 10, "checking", "card", "2027-01-02", received=11.5)],
        expectations=[never_below(account="checking"), never_above("EUR", 5000, until=START)],
    )
    assert encode_json(plan).decode() == (
        '{"transactions":[{"at":"2027-01-01T00:00:00Z","name":"Rent","amount":900,"currency":"EUR","type":"EXPENSE",'
        '"account":"checking","authorizedAt":"2026-12-31T00:00:00Z","authorizedAmount":41.5}],"accounts":['
        '{"key":"checking","name":"Checking","currency":"EUR","openingBalance":0.1},'
        '{"key":"card","name":"Card","currency":"USD","type":"CASH","openingBalance":0}],"transfers":['
        '{"at":"2027-01-02T00:00:00Z","name":"Pay card","from":"checking","to":"card","amount":10,"received":11.5}],'
        '"expectations":[{"balance":{"atLeast":0,"account":"checking"}},'
        '{"balance":{"currency":"EUR","atMost":5000,"until":"2027-01-01T00:00:00Z"}}]}'
    )


def test_opening_balances_are_sent_only_if_they_were_given() -> None:
    assert encode_json(Plan(opening_balances={"EUR": 12.5})) == b'{"openingBalances":{"EUR":12.5}}'
    assert encode_json(Plan(opening_balances={})) == b'{"openingBalances":{}}'
    assert encode_json(Plan(expectations=[])) == b"{}"


@pytest.mark.parametrize("names", [{}, {"currency": "EUR", "account": "checking"}])
def test_balance_expectation_is_about_a_currency_or_an_account(names: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="pass either a currency or an account"):
        never_below(**names, amount=0)
