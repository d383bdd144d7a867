"""Sign-in: waits between emails, lifetimes of secrets, combinations of types."""

from datetime import UTC, datetime, timedelta

import pytest

from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.logins import TooSoon

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
ANA = EmailAddress("ana@example.test")


@pytest.mark.parametrize(
    ("passed", "wait"),
    [
        pytest.param(timedelta(microseconds=999_999), 60, id="just before a second has passed"),
        pytest.param(timedelta(seconds=1), 59, id="after a second"),
        pytest.param(timedelta(seconds=59, microseconds=999_999), 1, id="a microsecond left"),
        pytest.param(timedelta(hours=1), 1, id="long over"),
        pytest.param(timedelta(microseconds=-1), 60, id="taken a microsecond from now, by another server"),
    ],
)
def test_wait_is_1_to_60_seconds(passed: timedelta, wait: int) -> None:
    found = TooSoon(NOW, timedelta(seconds=60), by_last_email=True).retry_after_seconds(NOW + passed)
    assert found == wait
    assert isinstance(found, int)
