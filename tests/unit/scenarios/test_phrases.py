"""Parsing of recurrences: synonyms, invalid and ambiguous phrases, and advice for them."""

import pytest

from tickover.scenarios.phrases import EXPECTED, parse
from tickover.scenarios.recurrences import Days, MonthDay, Months, Recurrence, Weeks
from tickover.scenarios.scenario_errors import Advice

MONDAY, FRIDAY = frozenset({0}), frozenset({4})
WEEKDAY = frozenset(range(5))


def fridays(*positions: int) -> Months:
    return Months(1, tuple(MonthDay(position, FRIDAY) for position in positions))


@pytest.mark.parametrize(
    ("recurrence", "phrases"),
    [
        (Days(), ["every day", "EVERY DAY", "  every   day ", "each day", "every single day", "every 1 day"]),
        (Days(3), ["every 3 days", "every third day", "every three days", "every 3rd day", "every 3 day"]),
        (Weeks(1, WEEKDAY), ["every weekday", "weekdays", "every business day"]),
        (Weeks(1, FRIDAY), ["every Friday", "Fridays", "every fri", "every week on Friday", "week friday"]),
        (Weeks(2, FRIDAY), ["every second Friday", "every other Friday", "every 2 Fridays", "bi-weekly on Friday"]),
        (Weeks(2), ["every 2 weeks", "fortnight", "every fortnight"]),
        (Weeks(4), ["every second fortnight", "2 fortnights"]),
        (Weeks(1, MONDAY | FRIDAY), ["every Monday, Friday", "every Monday and Friday", "week on Monday, and Friday"]),
        (Months(1, (MonthDay(25),)), ["month 25", "every 25th of the month", "25th of each month", "month on 25th"]),
        (Months(1, (MonthDay(1),)), ["month on the first", "first day of the month", "on the 1st of a month"]),
        (Months(1, (MonthDay(31),)), ["month on the last day", "the last day of every month", "last of the month"]),
        (Months(1, (MonthDay(31, FRIDAY),)), ["month on the last Friday", "every last Fri of a month"]),
        (Months(1, (MonthDay(1, WEEKDAY),)), ["month on the first weekday", "monthly on the first working day"]),
        (Months(1, (MonthDay(22),)), ["month on the twenty-second", "month on the 22nd day"]),
        (Months(1, (MonthDay(2, FRIDAY),)), ["month on the second Friday", "every second Friday of the month"]),
        (
            Months(1, (MonthDay(1), MonthDay(15))),
            [
                "twice a month on the 1st and 15th",
                "1st and 15th day of the month",
                "twice each month on the first, 15th",
            ],
        ),
        (fridays(1, 3), ["month on 1st and third Fridays", "twice a month on the 1st and 3rd Friday"]),
        (Months(1, (MonthDay(1), MonthDay(31, FRIDAY))), ["month on the first day and the last Friday"]),
        (Months(2, (MonthDay(5),)), ["second month on the 5th", "2 months on the 5th", "other month on the 5th"]),
        (Months(3, (MonthDay(15),)), ["quarter on the 15th", "3 months on the 15th", "third month on the 15th"]),
        (Months(6), ["every second quarter", "every 6 months", "every sixth month"]),
        (Months(1, (), 12), ["every year", "annually"]),
        (
            Months(1, (MonthDay(1, month=3),), 12),
            ["year on April 1", "every year on the 1st of April", "year on April the 1st"],
        ),
        (
            Months(5, (MonthDay(3, month=8), MonthDay(24, month=11)), 12),
            ["fifth year on 3 sep and 24 dec", "5 years 3 sep, dec 24"],
        ),
    ],
)
def test_synonyms(recurrence: Recurrence, phrases: list[str]) -> None:
    assert [parse(phrase) for phrase in phrases] == [recurrence] * len(phrases)


@pytest.mark.parametrize(
    "phrase",
    [
        None, 3, "", "every second", "moonth", "every 3", "1000 days", "-1 days", "1.5 days", "day on Monday",
        "2 weekdays", "week on the 5th", "week on Monday and", "month on Friday", "month on the 5th Friday",
        "month on 1st 15th", "month on the 25th or 26th", "year on April", "year on 1 Smarch", "year on 1 April 2027",
        "twice a month on the 1st", "twice a month on the 1st, 10th and 20th", "twice a month on the 1st and 1st",
        "twice a month on the 31st and the last day", "second Friday of the year", "every ٣ days",
        "month on the 25th at noon", "of the month", "15th of the quarter", "1st and 3rd Friday", "first week",
        "1st month on the 5th", "15th of every second month", "2 Fridays of the month", "month on the 10th weekday",
        "year on 1 and 15 April", "month on the thirty-second",
        pytest.param("x" * 100_000, id="long"),
    ],
)  # fmt: skip
def test_invalid_phrases(phrase: object) -> None:
    with pytest.raises(ValueError, match=r"^must be a recurrence such as") as caught:
        parse(phrase)
    assert str(caught.value) == EXPECTED


@pytest.mark.parametrize(
    ("phrase", "message"),
    [
        ("every 0 days", "must have a count of 1 or more"),
        ("every month on the 0th", "must name a day from 1 to 31"),
        ("every month on the 32nd", "must name a day from 1 to 31"),
        ("every year on 30 February", "must name a day that exists in February"),
    ],
)
def test_invalid_days(phrase: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parse(phrase)


@pytest.mark.parametrize(
    ("phrase", "ordinal", "readings"),
    [
        # A month has at most 5 of one weekday and 23 days from Monday to Friday. Higher ordinals are days of the month.
        ("month on the 1st and the last Friday", "1st", ("first day", "first Friday")),
        ("month on the 1st Friday and 3rd", "3rd", ("third day", "third Friday")),
        ("month on the 5th and last Friday", "5th", ("fifth day", "")),
        ("month on the 23rd and the last weekday", "23rd", ("twenty-third day", "")),
    ],
)
def test_ambiguous_ordinals(phrase: str, ordinal: str, readings: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=f'^is ambiguous: for "{ordinal}" write "') as caught:
        parse(phrase)
    supported = [reading for reading in readings if reading]
    assert "write " + " or ".join(f'"{reading}"' for reading in supported) in str(caught.value)
    assert all(parse(f"month on the {reading}") for reading in supported)


# Advice


@pytest.mark.parametrize(
    ("phrase", "advice"),
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", 'every takes a phrase; write rrule = "FREQ=MONTHLY;BYDAY=-1FR"'),
        ("bimonthly", 'every "bimonthly" isn\'t supported; write every = "2 months" or every = "twice a month on the'),
        ("semiannually", 'every "semiannually" isn\'t supported; write every = "6 months"'),
    ],
)
def test_advice_for_invalid_recurrences(phrase: str, advice: str) -> None:
    with pytest.raises(Advice) as caught:
        parse(phrase)
    assert str(caught.value).startswith(advice)
    for written in str(caught.value).split('every = "')[1:]:
        assert parse(written.partition('"')[0])
