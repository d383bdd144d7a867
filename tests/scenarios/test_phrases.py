"""Recurrences in words: what means the same, and what means nothing."""

import pytest

from tickover.scenarios.phrases import EXPECTED, parse
from tickover.scenarios.recurrences import Days, MonthDay, Months, Recurrence, Weeks, Years

MONDAY, FRIDAY = frozenset({0}), frozenset({4})


@pytest.mark.parametrize(
    ("recurrence", "phrases"),
    [
        (Days(), ["every day", "day", "EVERY DAY", "  every   day ", "each day", "every single day", "every 1 day"]),
        (Days(3), ["every 3 days", "every third day", "every three days", "every 3rd day", "every 3 day"]),
        (Days(999), ["every 999 days"]),
        (Weeks(1, frozenset(range(5))), ["every weekday", "weekdays"]),
        (Weeks(), ["every week", "week"]),
        (Weeks(1, FRIDAY), ["every Friday", "Fridays", "every fri", "every week on Friday", "week friday"]),
        (Weeks(1, FRIDAY), ["every Friday and Friday"]),
        (Weeks(2, FRIDAY), ["every second Friday", "every other Friday", "every 2nd Friday", "every 2 Fridays"]),
        (Weeks(2, FRIDAY), ["every 2 weeks on Friday", "every two weeks on a Friday"]),
        (
            Weeks(1, MONDAY | FRIDAY),
            ["every Monday, Friday", "every Monday and Friday", "week on Monday, and Friday"],
        ),
        (Months(), ["every month"]),
        (Months(1, (MonthDay(25),)), ["every month on the 25th", "month 25", "every month on 25th"]),
        (Months(1, (MonthDay(25),)), ["every 25th of the month", "25th of each month", "the 25th of every month"]),
        (Months(1, (MonthDay(1),)), ["month on the 1st", "month on the first day", "first day of the month"]),
        (Months(1, (MonthDay(31),)), ["month on the 31st", "month on the last day", "the last day of every month"]),
        (Months(1, (MonthDay(31, FRIDAY),)), ["month on the last Friday", "every last Fri of a month"]),
        (Months(1, (MonthDay(2, FRIDAY),)), ["month on the second Friday", "every second Friday of the month"]),
        (Months(1, (MonthDay(3, MONDAY),)), ["month on the third Monday", "month on the 3rd Monday"]),
        (
            Months(1, (MonthDay(1), MonthDay(15))),
            ["twice a month on the 1st and 15th", "month on the 1st and the 15th"],
        ),
        (Months(2, (MonthDay(5),)), ["second month on the 5th", "2 months on the 5th", "other month on the 5th"]),
        (Months(3, (MonthDay(15),)), ["quarter on the 15th", "3 months on the 15th", "third month on the 15th"]),
        (Months(6), ["every second quarter", "every 6 months", "every sixth month"]),
        (Years(), ["every year"]),
        (Years(1, ((4, MonthDay(1)),)), ["year on 1 April", "year on April 1", "every year on the 1st of April"]),
        (Years(1, ((2, MonthDay(29)),)), ["every year on 29 February", "year on the 29th of Feb"]),
        (Years(5, ((9, MonthDay(3)), (12, MonthDay(24)))), ["fifth year on 3 sep and 24 dec", "5 years 3 sep, dec 24"]),
    ],
)
def test_these_mean_the_same(recurrence: Recurrence, phrases: list[str]) -> None:
    assert [parse(phrase) for phrase in phrases] == [recurrence] * len(phrases)


@pytest.mark.parametrize(
    "phrase",
    [
        None, 3, True, [], {}, "", " ", "every", "every second", "the", "moonth", "every moon", "every 3", "1000 days",
        "-1 days", "1.5 days", "day on Monday", "2 weekdays", "weekday on Monday", "week on the 5th",
        "week on Monday and", "week on and", "month on Friday", "month on the second", "month on the fifth Friday",
        "month on the 5th Friday", "month on the first", "month on 1st 15th", "month on the 25th or 26th", "month and",
        "year on April", "year on 1", "year on 1 Smarch", "year on the first Monday", "year on 1 April 2027",
        "twice a month", "twice a month on the 1st", "twice a month on the 1st, 10th and 20th",
        "twice a week on Monday and Friday", "second Friday of the year", "every ٣ days", "month on the 25th at noon",
        "x" * 100_000,
    ],
    ids=lambda phrase: repr(phrase)[:40],
)  # fmt: skip
def test_these_mean_nothing(phrase: object) -> None:
    with pytest.raises(ValueError, match=r"^must be a recurrence such as") as refused:
        parse(phrase)
    assert str(refused.value) == EXPECTED


@pytest.mark.parametrize(
    ("phrase", "message"),
    [
        ("every 0 days", "must count from 1 on"),
        ("every month on the 0th", "must name a day from 1 to 31"),
        ("every month on the 32nd", "must name a day from 1 to 31"),
        ("every month on the 1st and the 99th", "must name a day from 1 to 31"),
        ("every year on 30 February", "must name a day that February has"),
        ("every year on 31 April", "must name a day that April has"),
        ("every year on December 32", "must name a day from 1 to 31"),
    ],
)
def test_what_is_no_day_is_said_to_be_none(phrase: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parse(phrase)


def test_what_is_said_to_be_accepted_is_accepted() -> None:
    examples = EXPECTED.split('"')[1::2]
    assert len(examples) > 5
    assert all(parse(example) for example in examples)
