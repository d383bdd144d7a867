"""Tests of the values of options."""

import click
import pytest

from tickover.cli.options import parse_time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2027-02-01", "2027-02-01T00:00:00+00:00"),
        ("2027-02-01 09:00", "2027-02-01T09:00:00+00:00"),
        ("2027-02-01t09:00:00z", "2027-02-01T09:00:00+00:00"),
        ("2027-02-01T09:00:00+01:00", "2027-02-01T08:00:00+00:00"),
    ],
)
def test_times_are_in_utc_unless_they_have_an_offset(text: str, time: str) -> None:
    assert parse_time(text).isoformat() == time


@pytest.mark.parametrize("text", ["2027-02-01x09:00", "20270201", "2027-02-30", "9999-12-31T23:59:59-01:00", ""])
def test_other_forms_of_times_are_rejected(text: str) -> None:
    with pytest.raises(click.BadParameter, match=f"'{text}' isn't a time. Use 2027-01-31"):
        parse_time(text)
