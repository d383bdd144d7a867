"""Sign-in: waits between emails, lifetimes of secrets, combinations of types."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import json

from tests.support.cases import each_case
from tickover.api.errors import Fault
from tickover.api.tokens import Sent, SignedIn
from tickover.server.operations.send_login_code_email import SendEntry
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.logins import LoginEmail, SecretKind, TooSoon

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)
ANA = EmailAddress("ana@example.test")


@each_case(
    ("passed", "wait"),
    [
        pytest.param(timedelta(0), 60, id="at once"),
        pytest.param(timedelta(microseconds=1), 60, id="after a microsecond"),
        pytest.param(timedelta(microseconds=999_999), 60, id="just before a second has passed"),
        pytest.param(timedelta(seconds=1), 59, id="after a second"),
        pytest.param(timedelta(seconds=30.5), 30, id="in the middle"),
        pytest.param(timedelta(seconds=58, microseconds=999_999), 2, id="a little more than a second left"),
        pytest.param(timedelta(seconds=59), 1, id="a second left"),
        pytest.param(timedelta(seconds=59, microseconds=999_999), 1, id="a microsecond left"),
        pytest.param(timedelta(seconds=60), 1, id="nothing left"),
        pytest.param(timedelta(hours=1), 1, id="long over"),
        pytest.param(timedelta(microseconds=-1), 60, id="taken a microsecond from now, by another server"),
        pytest.param(timedelta(hours=-1), 60, id="taken an hour from now, by another server"),
    ],
)
def test_wait_is_1_to_60_seconds(passed: timedelta, wait: int) -> None:
    found = TooSoon(NOW, timedelta(seconds=60), by_last_email=True).retry_after_seconds(NOW + passed)
    assert found == wait
    assert isinstance(found, int)


@each_case(
    ("kind", "lifetime"),
    [(SecretKind.CODE, timedelta(minutes=10)), (SecretKind.LINK, timedelta(hours=1))],
)
def test_code_lives_ten_minutes_and_link_an_hour(kind: SecretKind, lifetime: timedelta) -> None:
    assert LoginEmail(b"digest", ANA, kind, NOW, b"network").expires_at == NOW + lifetime


@each_case(
    ("code_type", "email_type", "kind"),
    [("SHORT_LIVED", "LOGIN_CODE", SecretKind.CODE), ("LONG_LIVED", "WEB_LOGIN_LINK", SecretKind.LINK)],
)
def test_matching_types_have_no_fault(code_type: str, email_type: str, kind: SecretKind) -> None:
    entry = SendEntry(ANA, code_type, email_type)  # type: ignore[arg-type]
    assert list(entry.faults(NOW)) == []
    assert entry.kind is kind


@each_case(
    ("code_type", "email_type", "needed"),
    [("LONG_LIVED", "LOGIN_CODE", "SHORT_LIVED"), ("SHORT_LIVED", "WEB_LOGIN_LINK", "LONG_LIVED")],
)
def test_mismatched_types_are_one_fault(code_type: str, email_type: str, needed: str) -> None:
    entry = SendEntry(ANA, code_type, email_type)  # type: ignore[arg-type]
    message = f"must be {needed} when emailType is {email_type}"
    assert list(entry.faults(NOW)) == [Fault("loginCodeType", "combination", message, code_type)]


@each_case(
    ("code_type", "email_type"),
    [(None, "LOGIN_CODE"), ("LONG_LIVED", None), (None, None)],
)
def test_invalid_type_has_no_combination_fault(code_type: str | None, email_type: str | None) -> None:
    entry = SendEntry(ANA, code_type, email_type)  # type: ignore[arg-type]
    assert list(entry.faults(NOW)) == []


def test_missing_login_url_is_not_encoded() -> None:
    assert json.encode(Sent("ok")) == b'{"message":"ok"}'
    assert json.encode(Sent("ok", "https://x.test/login")) == b'{"message":"ok","loginUrl":"https://x.test/login"}'


def test_sign_in_is_encoded_with_interface_names() -> None:
    assert json.encode(SignedIn("tko_x", "user_y")) == b'{"token":"tko_x","userId":"user_y"}'
