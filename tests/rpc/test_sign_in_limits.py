"""Failed sign-ins in a row: what the caller sees. tests/store/test_resend_limits.py has the rules."""

from pathlib import Path

from msgspec.structs import replace

from lab.soak.guessing import Attack, run_attack
from tests.rpc.builders import BEN, call, login, open_failing_mail_world, send, wrong
from tests.support.world import ANA, SETTINGS, World
from tickover.server.sign_in.mail.mailer import EmailKind
from tickover.server.storage import open_store

SEND, LOGIN = "sendLoginCodeEmail", "loginByEmailVerification"


async def test_only_the_email_says_that_codes_are_stopped(tmp_path: Path, database_url: str) -> None:
    settings = replace(SETTINGS, resend_seconds=0, sends_per_hour_per_network=0)
    async with open_failing_mail_world(tmp_path, database_url, settings) as (world, mailer):
        world.services.send_limits = replace(world.services.send_limits, failures_in_a_row=1)
        await world.result(SEND, send())
        code = mailer.emails[-1].secret
        rejected = await world.post(call(LOGIN, login(wrong(code))))
        assert (await world.post(call(LOGIN, login(code)))).body == rejected.body
        stopped, other = [await world.post(call(SEND, send(email))) for email in (ANA, BEN)]
        assert stopped.body == other.body == b'{"jsonrpc":"2.0","result":{"message":"ok"},"id":7}'
        emails = [(email.to, email.kind, bool(email.secret)) for email in mailer.emails[-2:]]
        assert emails == [(ANA, EmailKind.CODES_STOPPED, False), (BEN, EmailKind.CODE, True)]


async def test_default_limits_of_an_address_and_of_a_network_differ(world: World) -> None:
    """The defaults: 10 emails an hour from one network, and 30 from all."""
    sent = 0
    for network in range(5):
        world.client = f"203.0.113.{network}"
        from_network = 0
        while "result" in (await world.call(SEND, send())).json:
            from_network += 1
            world.pass_time(seconds=60)
        world.pass_time(seconds=60)
        assert from_network == (10 if network < 3 else 0)
        sent += from_network
    assert sent == 30


# Guessing, in a short form


async def test_guessing_never_signs_in_and_never_locks_out_the_owner(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path / 'tickover.db'}")
    try:
        await run_attack(store, tmp_path, Attack(addresses=3, clients=30, guesses=1_800))
    finally:
        await store.close()
