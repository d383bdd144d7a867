"""Result types: exact amounts, instants in UTC, no token in a repr."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from msgspec import ValidationError, json, to_builtins

from tickover.api.clocks import ClockPage, Contribution, Snapshot, Summary, Transaction
from tickover.api.tokens import CreatedAccessToken, Done, SignedIn


@pytest.mark.parametrize("written", ["0.1", "1000000000", "0.000000000001", "999999999.99"])
def test_amount_keeps_every_digit(written: str) -> None:
    content = f'{{"id": "ctb_1", "at": "2027-01-01T00:00:00Z", "amount": {written}}}'
    read = json.decode(content.encode(), type=Contribution)
    assert read == Contribution("ctb_1", datetime(2027, 1, 1, tzinfo=UTC), Decimal(written))


def test_instant_without_offset_is_rejected() -> None:
    with pytest.raises(ValidationError):
        json.decode(b'{"id": "ctb_1", "at": "2027-01-01T00:00:00", "amount": 1}', type=Contribution)


def test_repr_of_sign_in_omits_the_token() -> None:
    shown = repr(SignedIn("tko_secret", "user_1"))
    assert "user_1" in shown
    assert "secret" not in shown


def test_repr_of_new_access_token_omits_the_token() -> None:
    shown = repr(CreatedAccessToken("token_1", "tka_secret", "ci", False, datetime(2027, 1, 1, tzinfo=UTC)))
    assert "token_1" in shown
    assert "secret" not in shown


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


def test_done_has_message_ok() -> None:
    assert json.encode(Done()) == b'{"message":"ok"}'


def test_summary_is_encoded_like_the_clock() -> None:
    assert json.encode(SUMMARY) == WRITTEN
    assert json.decode(WRITTEN, type=Summary) == SUMMARY


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


def test_unknown_members_are_ignored() -> None:
    assert json.decode(WRITTEN[:-1] + b',"colour":"blue"}', type=Summary) == SUMMARY


def test_snapshot_is_a_summary_with_items() -> None:
    written = WRITTEN[:-1] + b',"transactions":[],"pendingTransactions":[],"goals":[]}'
    read = json.decode(written, type=Snapshot)
    assert to_builtins(read) == json.decode(written)
    assert isinstance(read, Summary)
