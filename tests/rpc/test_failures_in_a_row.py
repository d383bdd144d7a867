"""Failures in a row stop codes for an address. tests/store/test_limits.py has the rules."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.rpc.builders import BEN, FailingMailer, open_failing_mail_world, wrong
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, HttpResponse, World
from tickover.server.operations.services import Policy
from tickover.server.sign_in.logins import Limits
from tickover.server.sign_in.mail.mailer import EmailKind

POLICY = Policy(
    "https://tickover.example.test",
    0,
    logins=Limits(resend_interval=timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0),
    client_burst=0,
)


class Guesser:
    def __init__(self, world: World, mailer: FailingMailer) -> None:
        self.world = world
        self.mailer = mailer

    async def request_code(self, email: str = ANA) -> HttpResponse:
        return await self.world.post(
            {"jsonrpc": "2.0", "id": 7, "method": "sendLoginCodeEmail", "params": code_params(email)}
        )

    async def new_code(self) -> str:
        """Return a new code, or an empty string if codes are stopped."""
        await self.request_code()
        return self.mailer.emails[-1].secret

    async def try_code(self, code: str, email: str = ANA) -> HttpResponse:
        params = verify_params(email, code)
        return await self.world.post(
            {"jsonrpc": "2.0", "id": 7, "method": "loginByEmailVerification", "params": params}
        )

    async def fail(self, times: int) -> None:
        for _ in range(times):
            assert "error" in (await self.try_code(wrong(await self.new_code()))).json


@pytest.fixture
async def guesser(tmp_path: Path, database_url: str) -> AsyncIterator[Guesser]:
    async with open_failing_mail_world(tmp_path, database_url, POLICY) as (world, mailer):
        yield Guesser(world, mailer)


async def test_100_failures_in_a_row_stop_codes_until_a_link_is_used(guesser: Guesser) -> None:
    await guesser.fail(99)
    assert "result" in (await guesser.try_code(await guesser.new_code())).json, "the 100th try is still compared"
    await guesser.fail(99)
    code = await guesser.new_code()
    # A correct code is rejected like a wrong one, and like one of an unknown address.
    rejected = [await guesser.try_code(wrong(code)), await guesser.try_code(code), await guesser.try_code(code, BEN)]
    assert {response.status for response in rejected} == {200}
    assert len({response.body for response in rejected}) == 1
    assert rejected[0].json["error"]["data"] == {"reason": "LOGIN_REFUSED"}

    # The response doesn't say that codes are stopped, but the email does.
    stopped, other = await guesser.request_code(ANA), await guesser.request_code(BEN)
    assert stopped.body == other.body == b'{"jsonrpc":"2.0","result":{"message":"ok"},"id":7}'
    assert stopped.headers.keys() == other.headers.keys()
    emails = [(email.to, email.kind, bool(email.secret)) for email in guesser.mailer.emails[-2:]]
    assert emails == [(ANA, EmailKind.CODES_STOPPED, False), (BEN, EmailKind.CODE, True)]

    await guesser.world.result("sendLoginCodeEmail", link_params(ANA))
    link = guesser.mailer.emails[-1].secret.partition("#token=")[2]
    await guesser.world.result("loginByEmailLink", {"token": link})
    await guesser.fail(99)
    assert "result" in (await guesser.try_code(await guesser.new_code())).json
