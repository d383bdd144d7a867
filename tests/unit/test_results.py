"""Result types: exact amounts, instants in UTC, no token in a repr."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec import ValidationError, json

from tickover.api.clocks import ClockPage, Contribution, Summary, Transaction
from tickover.api.tokens import CreatedAccessToken, SignedIn


@pytest.mark.parametrize("written", ["0.1", "1000000000", "0.000000000001", "999999999.99"])
def test_amount_keeps_every_digit(written: str) -> None:
    content = f'{{"id": "ctb_1", "at": "2027-01-01T00:00:00Z", "amount": {written}}}'
    read = json.decode(content.encode(), type=Contribution)
    assert read == Contribution("ctb_1", datetime(2027, 1, 1, tzinfo=UTC), Decimal(written))


def test_instant_without_offset_is_rejected() -> None:
    with pytest.raises(ValidationError):
        json.decode(b'{"id": "ctb_1", "at": "2027-01-01T00:00:00", "amount": 1}', type=Contribution)


# JSON

NOON = datetime(2027, 1, 1, 12, tzinfo=UTC)
SUMMARY = Summary("clock_x", "READY", NOON, NOON.replace(year=2037), NOON + timedelta(days=7, microseconds=1))
WRITTEN = (
    b'{"id":"clock_x","status":"READY","frozenTime":"2027-01-01T12:00:00Z","maxTime":"2037-01-01T12:00:00Z",'
    b'"expiresAt":"2027-01-08T12:00:00.000001Z"}'
)
TRANSACTION = (
    b'{"id":"t","at":"2027-01-01T12:00:00Z","name":"n","amount":1,"currency":"EUR","type":"INCOME"%b,'
    b'"source":"SIMULATED_TEST_CLOCK"}'
)


@pytest.mark.parametrize(
    ("page", "written"),
    [
        pytest.param(ClockPage([]), b'{"clocks":[]}', id="empty"),
        pytest.param(ClockPage([SUMMARY]), b'{"clocks":[%b]}' % WRITTEN, id="the last"),
        pytest.param(
            ClockPage([SUMMARY], "cursor_x"),
            b'{"clocks":[%b],"nextCursor":"cursor_x"}' % WRITTEN,
            id="with more to come",
        ),
    ],
)
def test_page_has_next_cursor_only_if_there_is_a_next_page(page: ClockPage, written: bytes) -> None:
    assert json.encode(page) == written
    assert json.decode(written, type=ClockPage) == page


@pytest.mark.parametrize(("more", "category"), [(b"", None), (b',"category":""', ""), (b',"category":"Home"', "Home")])
def test_missing_category_is_none(more: bytes, category: str | None) -> None:
    read = json.decode(TRANSACTION % more, type=Transaction)
    assert read.category == category
    assert (b"category" in json.encode(read)) is (category is not None)


def test_repr_of_a_result_omits_the_token() -> None:
    created = CreatedAccessToken("token_1", "tka_secret", "ci", False, NOON)
    for result, id in ((SignedIn("tko_secret", "user_1"), "user_1"), (created, "token_1")):
        assert id in repr(result)
        assert "secret" not in repr(result)
