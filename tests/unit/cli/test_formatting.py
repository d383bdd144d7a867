"""Tests of amounts in the output for people. test_render_clock.py renders tables at any width."""

from decimal import Decimal

import pytest

from tickover.cli import formatting


@pytest.mark.parametrize(
    ("value", "shown", "with_sign"),
    [
        ("0", "0.00", "0.00"),
        ("1000", "1 000.00", "+1 000.00"),
        ("-1150.5", "−1 150.50", "−1 150.50"),
        ("1E+9", "1 000 000 000.00", "+1 000 000 000.00"),
        ("1E-7", "0.0000001", "+0.0000001"),
    ],
)
def test_amount_has_two_decimals_and_grouped_thousands(value: str, shown: str, with_sign: str) -> None:
    assert (formatting.amount(Decimal(value)), formatting.signed_amount(Decimal(value))) == (shown, with_sign)
