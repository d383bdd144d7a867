"""Weekends, holidays, time zones, seeded variety, and late, skipped and reversed payments."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec import UNSET

from tests.unit.scenarios.strategies import instants, plan, rent, to_toml
from tickover.scenarios import ScenarioError, read
from tickover.scenarios.adjustments import draw

NEW_YEAR = "2027-01-01T00:00:00Z"


def days(start: str = NEW_YEAR, length: str = "6 months", **keys: Any) -> str:
    return " ".join(f"{at:%m-%d}" for at in instants(start, length, **keys))


def hours(start: str, length: str, **keys: Any) -> str:
    return " ".join(f"{at:%m-%dT%H:%M}" for at in instants(start, length, **keys))


def error_message(**keys: Any) -> str:
    with pytest.raises(ScenarioError) as caught:
        instants(NEW_YEAR, **keys)
    return str(caught.value).partition('"Rent": ')[2]


# In 2027, 31 January, 28 February and 30 May are Sundays, and 1 May is a Saturday.
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, "01-31 02-28 03-31 04-30 05-31 06-30"),
        ({"weekend": "before"}, "01-29 02-26 03-31 04-30 05-31 06-30"),
        ({"weekend": "after"}, "02-01 03-01 03-31 04-30 05-31 06-30"),
        ({"weekend": "before", "holidays": ["2027-01-29", "2027-03-31"]}, "01-28 02-26 03-30 04-30 05-31 06-30"),
        ({"weekend": "after", "holidays": ["2027-02-01"]}, "02-02 03-01 03-31 04-30 05-31 06-30"),
    ],
)
def test_dates_move_away_from_weekends_and_holidays(keys: dict[str, Any], expected: str) -> None:
    assert days(every="month on the last day", **keys) == expected


def test_a_file_sets_the_weekend_and_an_item_overrides_it() -> None:
    moved = plan(NEW_YEAR, rent(every="month on the 31st"), weekend="before", length="1 month")
    kept = plan(NEW_YEAR, rent(every="month on the 31st", weekend="keep"), weekend="before", length="1 month")
    assert [item.at.day for item in (*moved.transactions, *kept.transactions)] == [29, 31]


def test_public_holidays_of_a_country() -> None:
    # 3 October is a holiday in Germany, and Epiphany, 6 January, in Bavaria.
    unity = {"every": "year on 3 October", "length": "1 year", "weekend": "after"}
    assert days("2028-01-01T00:00:00Z", **unity) == "10-03"
    assert days("2028-01-01T00:00:00Z", holidays="DE", **unity) == "10-04"
    epiphany = {"every": "year on 6 January", "weekend": "before"}
    assert days(holidays="DE", **epiphany) == "01-06"
    assert days(holidays="DE-BY", **epiphany) == "01-05"


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"holidays": ["2027-01-01"]}, 'holidays requires weekend = "before" or weekend = "after".'),
        ({"weekend": "before", "holidays": "XX"}, 'holidays must be a list of dates or a country code such as "DE"'),
        (
            {"weekend": "after", "holidays": [str(date(2027, 1, 25) + timedelta(number)) for number in range(90)]},
            "holidays leave no working day near 2027-03-26.",
        ),
        ({"weekend": "after", "holidays": ["soon"]}, 'entry 1 of holidays must be a date such as "2027-01-31"'),
        ({"timezone": "Europe/Berlino"}, 'timezone "Europe/Berlino" is unknown; did you mean "Europe/Berlin"?'),
        ({"jitter_days": 16}, "jitter_days must be a whole number from 1 to 15, not 16."),
        ({"chance": 1.01}, "chance must be a number from 0 to 1, not 1.01."),
        ({"late_by": {"x": "3d"}}, 'a key of late_by must be a date such as "2027-01-31", not "x".'),
        ({"skipped": "2027-01-26"}, 'skipped "2027-01-26" isn\'t a date of this item; the nearest one is 2027-01-25.'),
        ({"authorized_amount": 5}, 'authorized_amount requires pending, for example "2 days".'),
        ({"authorized_at": "start"}, "authorized_at requires at, and can't be used with pending."),
        ({"pending": "2d", "authorized_amount": 0}, "authorized_amount must be a number greater than 0"),
        ({"amount": {}}, "between is missing; it must have the lowest and the highest amount, as in {between = [40"),
        ({"amount": {"between": [90, 40]}}, "between must have the lowest and the highest amount"),
        ({"amount": {"between": [1, 1000000], "step": 1e-9}}, "step is too small for between; increase it."),
    ],
)  # fmt: skip
def test_invalid_adjustments(keys: dict[str, Any], problem: str) -> None:
    assert error_message(**{"every": "month on the 25th", **keys}).startswith(problem)


def test_card_payment_can_be_authorized_at_an_instant() -> None:
    [hotel] = plan("2027-01-01T00:00:00Z", rent(at="2027-01-03", authorized_at="2027-01-02T09:00:00.5Z")).transactions
    assert hotel.authorized_at == datetime(2027, 1, 2, 9, 0, 0, 500_000, UTC)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"pending": "2d"}, "authorized_at requires at, and can't be used with pending."),
        ({"at": "2027-01-01"}, 'authorized_at "2027-01-02" is 2027-01-02T08:00:00Z; it must be from the start to the '),
    ],
)
def test_invalid_authorizations(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        plan("2027-01-01T00:00:00Z", rent(**{"at": "2027-01-03", "authorized_at": "2027-01-02", **keys}))
    assert problem in str(raised.value)


# Time zones. In Berlin, clocks go forward on 28 March 2027 at 02:00 and back on 31 October 2027 at 03:00.


@pytest.mark.parametrize(
    ("start", "time", "expected"),
    [
        pytest.param("2027-03-27", "09:00", "03-27T08:00 03-28T07:00 03-29T07:00", id="9:00 stays 9:00 in spring"),
        pytest.param("2027-10-30", "09:00", "10-30T07:00 10-31T08:00 11-01T08:00", id="9:00 stays 9:00 in autumn"),
        pytest.param(
            "2027-03-27", "02:30", "03-27T01:30 03-28T01:30 03-29T00:30", id="a skipped time is an hour later"
        ),
        pytest.param("2027-10-30", "02:30", "10-30T00:30 10-31T00:30 11-01T01:30", id="the first of two equal times"),
    ],
)
def test_local_times_across_daylight_saving(start: str, time: str, expected: str) -> None:
    found = hours(f"{start}T00:00:00Z", "3 days", every="day", time=time, timezone="Europe/Berlin")
    assert found.split() == expected.split()


# In Berlin, clocks go forward on Sunday, 31 March 2030 at 02:00.
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, "03-31T01:30"),
        ({"weekend": "before"}, "03-29T01:30"),
        ({"weekend": "after"}, "04-01T00:30"),
        ({"late_by": "2 days"}, "04-02T00:30"),
        ({"weekend": "after", "late_by": "2 days"}, "04-03T00:30"),
        ({"jitter_days": 3, "seed": 1}, "03-28T01:30"),
    ],
)
def test_payment_that_moves_from_a_day_without_its_time_has_it_again(keys: dict[str, Any], expected: str) -> None:
    timing = {"every": "month on the last day", "time": "02:30", "timezone": "Europe/Berlin", **keys}
    assert hours("2030-03-01T00:00:00Z", "2 months", **timing).split()[0] == expected


def test_days_are_those_of_the_time_zone() -> None:
    # In Auckland, 23:30 on 31 December UTC is already 1 January.
    found = hours("2026-12-31T11:30:00Z", "2 days", every="month on the 1st", time="00:30", timezone="Pacific/Auckland")
    assert found == "12-31T11:30"


def test_a_start_without_a_time_is_midnight_in_the_time_zone() -> None:
    text = to_toml({"start": "2027-07-01", "timezone": "Europe/Berlin", "transactions": [rent(at="start")]})
    assert read(text).start == datetime(2027, 6, 30, 22, tzinfo=UTC)


# Variety


def test_variety_gives_the_same_numbers_in_every_version() -> None:
    """Golden values, as in docs/scenarios.md. If this test fails, existing scenarios change: add a version instead."""
    day = date(2027, 1, 2)
    assert [draw(7, "Groceries", day, use, 1_000_000) for use in ("amount", "chance", "jitter")] == [
        235198,
        427030,
        338102,
    ]
    assert [draw(seed, "Groceries", day, "amount", 100) for seed in range(5)] == [94, 84, 12, 24, 91]
    assert draw(7, "Café", day, "amount", 1_000_000) == 102420


def test_variety_depends_on_the_seed_the_name_and_the_day_only() -> None:
    varied = {"amount": {"between": [1, 1000]}, "every": "day"}
    alone = plan(NEW_YEAR, rent(**varied), length="20 days").transactions
    later = plan("2027-01-05T00:00:00Z", rent(name="Other", every="day"), rent(**varied), length="5 days").transactions
    assert [item.amount for item in later if item.name == "Rent"] == [item.amount for item in alone[4:9]]
    other_seed = plan(NEW_YEAR, rent(**varied, seed=1), length="20 days").transactions
    other_name = plan(NEW_YEAR, rent(name="x", **varied), length="20 days").transactions
    amounts = [tuple(item.amount for item in items) for items in (alone, other_seed, other_name)]
    assert len(set(amounts)) == 3


@pytest.mark.parametrize("step", ["0.01", "0.5", "5", "7"])
def test_amounts_are_between_the_bounds_in_steps(step: str) -> None:
    varied = rent(amount={"between": [40, 90], "step": float(step)}, every="day", seed=1)
    drawn = {item.amount for item in plan(NEW_YEAR, varied, length="1990 days").transactions}
    highest = Decimal(40) + Decimal(step) * (Decimal(50) // Decimal(step))
    assert all((amount - 40) % Decimal(step) == 0 for amount in drawn)
    if len(drawn) < 500:
        assert (min(drawn), max(drawn)) == (Decimal(40), highest)
    assert 40 <= min(drawn) <= max(drawn) <= highest


def test_chance_and_jitter() -> None:
    assert days("2027-01-01T00:00:00Z", "20 days", every="day", chance=0) == ""
    assert len(instants(NEW_YEAR, "20 days", every="day", chance=1)) == 20
    assert 500 < len(instants(NEW_YEAR, "1999 days", every="day", chance=0.3, seed=3)) < 700
    moved = read(to_toml({"transactions": [rent(every="day", jitter_days=2)], "length": "200 days"}))
    assert {(item.at - nominal).days for item, nominal in moved.occurrences(NEW_YEAR)} == {-2, -1, 0, 1, 2}


# Accidents


def test_all_or_some_payments_are_late() -> None:
    assert days("2027-01-01T00:00:00Z", "3 months", every="month on the 25th", late_by="3 days") == "01-28 02-28 03-28"
    late = {"2027-02-25": "1 month", "2027-12-25": "1d"}
    assert days(length="4 months", every="month on the 25th", late_by=late) == "01-25 03-25 03-25 04-25"


def test_a_payment_is_skipped_on_its_nominal_date() -> None:
    keys: dict[str, Any] = {"every": "month on the last day", "weekend": "before"}
    assert days(length="3 months", skipped=["2027-02-28"], **keys) == "01-29 03-31"
    assert days(length="3 months", skipped="+1 month 27 days", **keys) == "01-29 03-31"
    assert days(length="3 months", skipped="2030-01-31", **keys) == "01-29 02-26 03-31"


def test_a_reversal_is_an_item_of_the_opposite_type() -> None:
    made = plan(NEW_YEAR, rent(at=["+10 days", "+40 days"], reversed_after="3d", category="Home"), length="41 days")
    assert [(f"{item.at:%m-%d}", item.name, item.type, item.amount, item.category) for item in made.transactions] == [
        ("01-11", "Rent", "EXPENSE", Decimal(10), "Home"),
        ("01-14", "Reversal: Rent", "INCOME", Decimal(10), "Home"),
        ("02-10", "Rent", "EXPENSE", Decimal(10), "Home"),
    ]


def test_a_reversal_at_the_end_happens_and_is_no_card_payment() -> None:
    fuel = rent(
        at="+1 day", time="00:00", reversed_after="1 day", pending="1 day", authorized_amount=5, authorized_name="F"
    )
    [paid, reversal] = plan(NEW_YEAR, fuel, length="2 days").transactions
    assert reversal.at == datetime(2027, 1, 3, tzinfo=UTC)
    assert reversal.type == "INCOME"
    assert paid.authorized_amount == 5
    assert {reversal.authorized_at, reversal.authorized_amount, reversal.authorized_name} == {UNSET}
    timing = {"at": "+1 day", "authorized_at": "start", "reversed_after": "1 day"}
    assert plan(NEW_YEAR, rent(**timing), length="3 days").transactions[1].authorized_at is UNSET


def test_a_card_payment_is_authorized_before_it_is_booked() -> None:
    fuel: dict[str, Any] = {"at": ["start", "+1 day", "+10 days"], "time": "18:00", "pending": "2 days"}
    made = plan(NEW_YEAR, rent(**fuel, authorized_amount=100, authorized_name="FUEL", reversed_after="1d"))
    assert [
        (f"{item.at:%m-%d}", f"{item.authorized_at:%m-%dT%H:%M}", item.authorized_amount, item.authorized_name)
        for item in made.transactions
        if item.authorized_at is not UNSET
    ] == [
        ("01-01", "01-01T00:00", Decimal(100), "FUEL"),
        ("01-02", "01-01T00:00", Decimal(100), "FUEL"),
        ("01-11", "01-09T18:00", Decimal(100), "FUEL"),
    ]
    assert len(made.transactions) == 6
    [alone] = plan(NEW_YEAR, rent(at="+10 days", pending="2d")).transactions
    assert (alone.authorized_amount, alone.authorized_name) == (UNSET, UNSET)


def test_an_authorization_is_never_after_the_payment() -> None:
    """At 02:30, the time that the clocks skip on 28 March, it is 03:30."""
    fuel = rent(at="2027-03-28", time="03:10", timezone="Europe/Berlin", pending="40min")
    [booked] = plan(NEW_YEAR, fuel).transactions
    assert booked.authorized_at == booked.at
