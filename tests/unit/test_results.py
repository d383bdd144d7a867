"""Result types: exact amounts, instants in UTC, no secret in a repr."""

from datetime import UTC, datetime

import pytest
from msgspec import ValidationError, json

from tickover.api.clocks import Contribution, Transaction
from tickover.api.connections import Connected, Connection
from tickover.api.expectations import CheckResult
from tickover.api.fields import Result
from tickover.api.tokens import CreatedAccessToken, SignedIn


def test_instant_without_offset_is_rejected() -> None:
    with pytest.raises(ValidationError):
        json.decode(b'{"id": "ctb_1", "at": "2027-01-01T00:00:00", "amount": 1}', type=Contribution)


# JSON

NOON = datetime(2027, 1, 1, 12, tzinfo=UTC)
TRANSACTION = (
    b'{"id":"t","at":"2027-01-01T12:00:00Z","name":"n","amount":1,"currency":"EUR","type":"INCOME"%b,'
    b'"source":"SIMULATED_TEST_CLOCK"}'
)


@pytest.mark.parametrize(("more", "category"), [(b"", None), (b',"category":""', ""), (b',"category":"Home"', "Home")])
def test_missing_category_is_none(more: bytes, category: str | None) -> None:
    read = json.decode(TRANSACTION % more, type=Transaction)
    assert read.category == category
    assert (b"category" in json.encode(read)) is (category is not None)


def test_repr_of_a_result_omits_the_secret() -> None:
    connection = Connection("conn_1", "PLAID", "Bank", NOON)
    results: list[Result] = [
        SignedIn("tko_secret", "user_1"),
        CreatedAccessToken("token_1", "tka_secret", "ci", False, NOON),
        Connected(connection, "secret", "public-secret"),
    ]
    for result, id in zip(results, ("user_1", "token_1", "conn_1"), strict=True):
        assert id in repr(result)
        assert "secret" not in repr(result)


@pytest.mark.parametrize("ok", [True, False])
def test_check_is_true_if_all_expectations_hold(ok: bool) -> None:
    assert bool(CheckResult(ok, NOON, [])) is ok
