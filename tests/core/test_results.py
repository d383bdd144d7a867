"""Results as a client holds them: amounts to the digit, instants in UTC, and no token where it could be seen."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from msgspec import ValidationError, json

from tickover.core.results import Contribution, SignedIn


@pytest.mark.parametrize("written", ["0.1", "1000000000", "0.000000000001", "999999999.99"])
def test_an_amount_is_read_to_the_digit(written: str) -> None:
    content = f'{{"id": "ctb_1", "at": "2027-01-01T00:00:00Z", "amount": {written}}}'
    read = json.decode(content.encode(), type=Contribution)
    assert read == Contribution("ctb_1", datetime(2027, 1, 1, tzinfo=UTC), Decimal(written))


def test_an_instant_without_an_offset_is_none() -> None:
    with pytest.raises(ValidationError):
        json.decode(b'{"id": "ctb_1", "at": "2027-01-01T00:00:00", "amount": 1}', type=Contribution)


def test_who_is_signed_in_is_shown_without_the_token() -> None:
    shown = repr(SignedIn("tko_secret", "user_1"))
    assert "user_1" in shown
    assert "secret" not in shown
