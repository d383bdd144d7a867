"""Advice for recurrences that can't be read."""

import pytest

from tickover.scenarios.errors import Advice
from tickover.scenarios.phrase_advice import parse


@pytest.mark.parametrize(
    ("phrase", "advice"),
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", 'every takes a phrase; write rrule = "FREQ=MONTHLY;BYDAY=-1FR"'),
        ("bimonthly", 'every "bimonthly" isn\'t supported; write every = "2 months" or every = "twice a month on the'),
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
