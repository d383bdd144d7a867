"""Expectations: their parameters and their text."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tickover.api.expectations import Expectation, goal_reached, never_above, never_below, posted, total
from tickover.api.plans import encode_json

MAY = "2027-05-01T00:00:00Z"

EXAMPLES = [
    (never_below("EUR", 0), {"balance": {"currency": "EUR", "atLeast": 0}}, "The EUR balance is never below 0."),
    (
        never_below("EUR", Decimal("-68.05"), from_=date(2027, 2, 1), until="2027-05-01"),
        {"balance": {"currency": "EUR", "atLeast": -68.05, "from": "2027-02-01T00:00:00Z", "until": MAY}},
        "The EUR balance is never below -68.05 from 2027-02-01T00:00:00Z until 2027-05-01T00:00:00Z.",
    ),
    (
        never_above("USD", 1e5),
        {"balance": {"currency": "USD", "atMost": 100000.0}},
        "The USD balance is never above 100000.0.",
    ),
    (
        goal_reached("Emergency fund", by=MAY),
        {"goalReached": {"goal": "Emergency fund", "by": MAY}},
        'Goal "Emergency fund" is reached by 2027-05-01T00:00:00Z.',
    ),
    (
        total("EXPENSE", "EUR", per="MONTH", category="Home", at_most=100),
        {"total": {"type": "EXPENSE", "currency": "EUR", "per": "MONTH", "category": "Home", "atMost": 100}},
        'The total expense in EUR for "Home" is never above 100 in every month.',
    ),
    (
        total("INCOME", "EUR", at_least=1, at_most=2),
        {"total": {"type": "INCOME", "currency": "EUR", "per": "ALL", "atLeast": 1, "atMost": 2}},
        "The total income in EUR is never below 1 and never above 2.",
    ),
    (posted("Rent", by=MAY), {"posted": {"name": "Rent", "by": MAY}}, '"Rent" is posted by 2027-05-01T00:00:00Z.'),
    (
        posted("Rent", by=MAY, count=5),
        {"posted": {"name": "Rent", "by": MAY, "count": 5}},
        '"Rent" is posted 5 times by 2027-05-01T00:00:00Z.',
    ),
]


@pytest.mark.parametrize(("expectation", "params", "text"), EXAMPLES)
def test_expectations_have_parameters_and_a_text(expectation: Expectation, params: Any, text: str) -> None:
    assert json.loads(encode_json(expectation)) == params
    assert str(expectation) == text


def test_a_total_without_bounds_is_rejected() -> None:
    with pytest.raises(ValueError, match="total requires at_least, at_most or both"):
        total("INCOME", "EUR")
