"""100 failures in a row stop codes for an address until it signs in with a link.

Only the first test uses the default limit. The others use a limit of 10, which needs fewer calls.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, World
from tickover.server.operations.services import Policy
from tickover.server.sign_in.logins import Limits
from tickover.server.sign_in.mail.compose import Composer
from tickover.server.sign_in.mail.mailer import Email
from tickover.server.storage import open_store
from tickover.server.storage.store import Store

SEND = "sendLoginCodeEmail"
BY_CODE = "loginByEmailVerification"
BY_LINK = "loginByEmailLink"
BEN = "ben@example.test"
SIX_DIGITS = re.compile(r"(?<![0-9])[0-9]{6}(?![0-9])")


class RecordingMailer:
    """A mailer that stores the last email."""

    is_local = False
    last: Email

    async def deliver(self, email: Email) -> None:
        self.last = email

    async def close(self) -> None:
        """Do nothing."""


class GuessedAtWorld(World):
    """A world with an attacker who uses a new network each time, to avoid the hourly limits."""

    def __init__(self, store: Store, recording_mailer: RecordingMailer, folder: Path, settled: Policy) -> None:
        super().__init__(store, recording_mailer, folder, settled)
        self._recording_mailer = recording_mailer
        self._networks = count(1)

    async def send(self, params: dict[str, str]) -> Email:
        """Wait until an email can be sent, and send it."""
        self.pass_time(minutes=3)
        self.client = f"198.51.100.{next(self._networks) % 250}"
        assert await self.result(SEND, params) == {"message": "ok"}
        return self._recording_mailer.last

    async def new_code(self, email: str = ANA) -> str:
        """Return a new code for the address, or an empty string if codes are stopped."""
        return (await self.send(code_params(email))).secret

    async def new_link(self, email: str = ANA) -> str:
        return (await self.send(link_params(email))).secret.partition("#token=")[2]

    async def fail(self, times: int, email: str = ANA) -> None:
        """Fail this many times in a row against live codes, five times per code."""
        for done in range(0, times, 5):
            code = await self.new_code(email)
            for _ in range(min(5, times - done)):
                assert not await self.opens(wrong(code), email)

    async def opens(self, code: str, email: str = ANA) -> bool:
        return await self._signs_in(BY_CODE, verify_params(email, code))

    async def link_opens(self, link: str) -> bool:
        return await self._signs_in(BY_LINK, {"token": link})

    async def _signs_in(self, method: str, params: dict[str, str]) -> bool:
        response = await self.call(method, params)
        if "result" in response.json:
            return True
        assert response.json["error"]["data"] == {"reason": "LOGIN_REFUSED"}
        return False


def wrong(code: str) -> str:
    """Return another code."""
    return f"{(int(code) + 1) % 1_000_000:06}"


@asynccontextmanager
async def open_guessed_at_world(folder: Path, database_url: str, **limits: Any) -> AsyncIterator[GuessedAtWorld]:
    store = await open_store(database_url)
    settled = Policy("https://tickover.example.test", 0, logins=Limits(**limits), client_burst=0)
    try:
        yield GuessedAtWorld(store, RecordingMailer(), folder, settled)
    finally:
        await store.close()


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[GuessedAtWorld]:
    async with open_guessed_at_world(tmp_path, database_url, failures_in_a_row=10) as opened:
        yield opened


# The limit


async def test_100_failures_in_a_row_stop_codes(tmp_path: Path, database_url: str) -> None:
    async with open_guessed_at_world(tmp_path, database_url) as world:
        await world.fail(98)
        code = await world.new_code()
        assert not await world.opens(wrong(code))
        assert await world.opens(code), "the 100th try is still compared"

        await world.fail(99)
        code = await world.new_code()
        assert not await world.opens(wrong(code))
        assert not await world.opens(code)
        assert await world.new_code() == ""


async def test_correct_code_is_rejected_like_a_wrong_code(world: GuessedAtWorld) -> None:
    await world.fail(9)
    code = await world.new_code()
    rejection = [await post(world, ANA, wrong(code)), await post(world, ANA, code)]
    rejection += [await post(world, "nobody@example.test", code)]
    assert {rejection.status for rejection in rejection} == {200}
    assert len({rejection.body for rejection in rejection}) == 1
    assert rejection[0].json["error"]["data"] == {"reason": "LOGIN_REFUSED"}


async def post(world: World, email: str, code: str) -> Any:
    return await world.post({"jsonrpc": "2.0", "id": 7, "method": BY_CODE, "params": verify_params(email, code)})


# While codes are stopped


async def test_send_response_is_unchanged_while_codes_are_stopped(world: GuessedAtWorld) -> None:
    await world.fail(10)
    world.pass_time(minutes=1)
    responses = [
        await world.post({"jsonrpc": "2.0", "id": 7, "method": SEND, "params": code_params(email)})
        for email in (ANA, BEN)
    ]
    assert responses[0].body == responses[1].body == b'{"jsonrpc":"2.0","result":{"message":"ok"},"id":7}'
    assert responses[0].headers.keys() == responses[1].headers.keys()


async def test_email_says_that_codes_are_off_and_a_link_works(world: GuessedAtWorld) -> None:
    await world.fail(10)
    message = written(await world.send(code_params(ANA)))
    assert (message["To"], message["Subject"]) == (ANA, "Codes are turned off for your address")
    for text in texts(message):
        assert f"codes are turned off for {ANA}" in text
        assert "Request a login link instead." in text
        assert "turns codes on again" in text
        assert SIX_DIGITS.search(text) is None
        assert "#token=" not in text


def written(message: Email) -> EmailMessage:
    """Return the composed email, parsed again."""
    return message_from_bytes(Composer("tickover@example.test").compose(message), policy=policy.default)


def texts(message: EmailMessage) -> list[str]:
    """Return the email as plain text and as HTML, each on one line."""
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert html is not None
    return [" ".join(part.get_content().split()) for part in (plain, html)]


# Enabling codes again


async def test_link_sign_in_enables_codes_and_resets_the_count(world: GuessedAtWorld) -> None:
    await world.fail(10)
    assert await world.link_opens(await world.new_link())
    await world.fail(9)
    assert await world.opens(await world.new_code())


# Configuration
