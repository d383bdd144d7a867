"""Advice for recurrences that can't be read."""

import pytest

from tests.support.cases import each_case
from tickover.scenarios.locations import Advice
from tickover.scenarios.phrase_advice import parse
from tickover.scenarios.phrases import EXPECTED


def cron(every: str) -> str:
    return f"cron expressions aren't supported; write {every}"


@each_case(
    ("phrase", "advice"),
    [
        ("0 9 25 * *", cron('every = "month on the 25th" and time = "09:00"')),
        ("30 17 * * 5", cron('every = "week on Friday" and time = "17:30"')),
        ("0 0 * * *", cron('every = "day" and time = "00:00"')),
        ("0 8 * * 1-5", cron('every = "weekday" and time = "08:00"')),
        ("0 8 * * mon,thu", cron('every = "week on Monday and Thursday" and time = "08:00"')),
        ("0 8 1 */3 *", cron('every = "quarter on the 1st" and time = "08:00"')),
        ("0 8 1 4 *", cron('every = "year on 1 April" and time = "08:00"')),
        ("*/5 * * * *", cron('every = "day"')),
        ("0 9 L * *", cron('every = "month on the 25th" and time = "09:00"')),
        ("@monthly", cron('every = "month"')),
        ("FREQ=MONTHLY;BYDAY=-1FR", 'every takes a phrase; write rrule = "FREQ=MONTHLY;BYDAY=-1FR"'),
        (
            "bimonthly",
            'every "bimonthly" isn\'t supported; write every = "2 months" or every = "twice a month on the',
        ),
        ("semiannually", 'every "semiannually" isn\'t supported; write every = "6 months"'),
        ("mnth on the 25th", 'every "mnth on the 25th" isn\'t a recurrence; did you mean "month on the 25th"?'),
        ("evry Firday", 'every "evry Firday" isn\'t a recurrence; did you mean "every friday"?'),
        ("the 25th", 'every "the 25th" isn\'t a recurrence; did you mean "month on the 25th"?'),
        ("month on the 25.", 'every "month on the 25." isn\'t a recurrence; did you mean "month on the 25th"?'),
        ("lst busines day of the month", 'every "lst busines day of the month" isn\'t a recurrence;'),
    ],
)
def test_advice_for_invalid_recurrences(phrase: str, advice: str) -> None:
    with pytest.raises(Advice) as caught:
        parse(phrase)
    assert str(caught.value).startswith(advice)
    for written in str(caught.value).split('every = "')[1:]:
        assert parse(written.partition('"')[0])


@each_case("phrase", ["", "whenever", "x" * 5000, 5, None, "first Friday"])
def test_other_phrases_have_the_usual_error(phrase: object) -> None:
    with pytest.raises(ValueError, match=r"^(must be a recurrence|is ambiguous)") as caught:
        parse(phrase)
    assert not isinstance(caught.value, Advice)
    assert EXPECTED
