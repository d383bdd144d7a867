"""Result types."""

from datetime import UTC, datetime

import pytest

from tickover.api.access_tokens import CreatedAccessToken, SignedIn
from tickover.api.connections import Connected, Connection
from tickover.api.expectations import CheckResult
from tickover.api.fields import Result

NOON = datetime(2027, 1, 1, 12, tzinfo=UTC)


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
