"""With TICKOVER_ALLOWED_EMAILS, only these addresses and domains can sign in."""

from pathlib import Path

import pytest

from tests.rpc.builders import login, reason_of, send
from tests.support.world import open_world
from tickover.api.limits import TOKEN_LIFETIME
from tickover.server.sign_in.login_emails import LoginEmail, SecretKind
from tickover.server.sign_in.resend_limits import EmailRecorded, SendLimits
from tickover.server.sign_in.tokens import digest
from tickover.server.storage.store import NewSession

ALLOWED = ["ana@example.test", "@team.test"]


@pytest.mark.parametrize(
    ("email", "is_allowed"),
    [
        ("Ana@Example.test", True),
        ("bo@TEAM.test", True),
        ("bo@example.test", False),
        ("bo@sub.team.test", False),
        ("ana@example.test.team", False),
    ],
)
async def test_only_allowed_addresses_sign_in(tmp_path: Path, database_url: str, email: str, is_allowed: bool) -> None:
    async with open_world(tmp_path, database_url, allowed_emails=ALLOWED) as world:
        for method, params in (
            ("sendLoginCodeEmail", send(email)),
            ("loginByEmailVerification", login("123456", email)),
        ):
            response = (await world.call(method, params)).json
            errors = response.get("error", {}).get("data", {}).get("errors", [])
            refused = [] if is_allowed else [("email", "allowed")]
            assert [(fault["path"], fault["rule"]) for fault in errors] == refused


async def test_link_of_an_address_that_is_not_allowed_is_not_used_up(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, allowed_emails=ALLOWED) as world:
        email = LoginEmail(digest("secret"), "bo@example.test", SecretKind.LINK, world.now, b"a network")
        assert isinstance(await world.store.record_email(email, SendLimits()), EmailRecorded)
        for token in ("secret", "unknown"):
            assert reason_of(await world.call("loginByEmailLink", {"token": token})) == "LOGIN_REFUSED"
        session = NewSession(bytes(16), bytes(32), world.now, world.now + TOKEN_LIFETIME)
        assert await world.store.redeem_link(digest("secret"), session)
