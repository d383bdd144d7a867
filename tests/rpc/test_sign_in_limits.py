"""Limits of emails and of failures, with their defaults. tests/store/test_email_limits.py has the rules."""

from datetime import timedelta
from pathlib import Path

from lab.soak.guessing import Attack, run_attack
from tests.rpc.builders import BEN, call, login, open_failing_mail_world, send, send_link, wrong
from tests.support.world import ANA, HttpResponse
from tickover.server.operations.services import Policy
from tickover.server.sign_in.logins import Limits
from tickover.server.sign_in.mail.mailer import EmailKind
from tickover.server.storage import open_store

SEND, LOGIN = "sendLoginCodeEmail", "loginByEmailVerification"
URL = "https://tickover.example.test"
UNLIMITED_EMAILS = Limits(resend_interval=timedelta(0), sends_an_hour=0, sends_an_hour_from_one_network=0)


async def test_100_failures_in_a_row_stop_codes_until_a_link_is_used(tmp_path: Path, database_url: str) -> None:
    policy = Policy(URL, 0, logins=UNLIMITED_EMAILS, client_burst=0)
    async with open_failing_mail_world(tmp_path, database_url, policy) as (world, mailer):

        async def new_code() -> str:
            await world.result(SEND, send())
            return mailer.emails[-1].secret

        async def try_code(code: str) -> HttpResponse:
            return await world.post(call(LOGIN, login(code)))

        async def fail(times: int) -> None:
            for _ in range(times):
                assert "error" in (await try_code(wrong(await new_code()))).json

        await fail(99)
        assert "result" in (await try_code(await new_code())).json, "the 100th try is still compared"
        await fail(99)
        code = await new_code()
        # A correct code is rejected like a wrong one.
        rejected = await try_code(wrong(code))
        assert (await try_code(code)).body == rejected.body

        # The response doesn't say that codes are stopped, but the email does.
        stopped, other = [await world.post(call(SEND, send(email))) for email in (ANA, BEN)]
        assert stopped.body == other.body == b'{"jsonrpc":"2.0","result":{"message":"ok"},"id":7}'
        emails = [(email.to, email.kind, bool(email.secret)) for email in mailer.emails[-2:]]
        assert emails == [(ANA, EmailKind.CODES_STOPPED, False), (BEN, EmailKind.CODE, True)]

        await world.result(SEND, send_link())
        link = mailer.emails[-1].secret.partition("#token=")[2]
        await world.result("loginByEmailLink", {"token": link})
        await fail(99)
        assert "result" in (await try_code(await new_code())).json


# Guessing, in a short form


async def test_guessing_never_signs_in_and_never_locks_out_the_owner(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'tickover.db'}")
    try:
        await run_attack(store, tmp_path, Attack(addresses=3, clients=30, guesses=1_800))
    finally:
        await store.close()
