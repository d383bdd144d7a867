"""Messages of violations: what they say of time, of amounts, and without a cause."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import UNSET

from tickover.api.expectations import Cause, WorstValue
from tickover.server.schedule.violation_messages import balance_message, bounds_text, total_message

AT = datetime(2027, 2, 12, 9, tzinfo=UTC)
REPAIR = Cause("txn_1", AT, "Car repair", -980, 412.0, -568)
WORST = WorstValue(AT, -568)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((0,), "below 0.00 EUR"),
        ((-0.0,), "below 0.00 EUR"),
        ((UNSET, -12.5), "above -12.50 EUR"),
        ((0.005, 1e12), "outside 0.005 to 1000000000000.00 EUR"),
    ],
)
def test_bounds_have_at_least_two_decimals(bounds: Any, text: str) -> None:
    assert bounds_text("EUR", *bounds) == text


@pytest.mark.parametrize(
    ("until", "cause", "worst", "text"),
    [
        (
            datetime(2027, 2, 25, tzinfo=UTC),
            REPAIR,
            WORST,
            (
                "Below 0 from 12 Feb until 25 Feb 2027, because of Car repair (-980.00): 412.00 -> -568.00. "
                "Worst: -568.00 on 12 Feb."
            ),
        ),
        (
            datetime(2028, 1, 1, tzinfo=UTC),
            None,
            WORST,
            "Below 0 from 12 Feb 2027 until 1 Jan 2028: -568.00. Worst: -568.00 on 12 Feb 2027.",
        ),
        (
            None,
            None,
            WorstValue(datetime(2027, 3, 1, tzinfo=UTC), -600.5),
            "Below 0 from 12 Feb 2027 on: -568.00. Worst: -600.50 on 1 Mar.",
        ),
        (
            AT + timedelta(hours=1),
            None,
            WORST,
            "Below 0 from 2027-02-12T09:00:00Z until 2027-02-12T10:00:00Z: -568.00. Worst: -568.00 on 12 Feb.",
        ),
    ],
)
def test_balance_message_says_how_long_and_why(
    until: datetime | None, cause: Cause[Any] | None, worst: WorstValue[Any], text: str
) -> None:
    assert balance_message("below 0", AT, until, -568, cause, worst) == text


def test_total_below_its_bound_has_no_cause() -> None:
    assert total_message("Income below 5.00 EUR in Feb 2027", 4.5, None, WORST) == (
        "Income below 5.00 EUR in Feb 2027: 4.50."
    )
