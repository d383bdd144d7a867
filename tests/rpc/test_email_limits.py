"""Hourly limits on emails without a sign-in: their defaults and responses. tests/store/test_limits.py has the rules."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import BEN, FailingMailer, open_failing_mail_world
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, World
from tickover.server.operations.services import Policy

SEND = "sendLoginCodeEmail"


class Sender:
    def __init__(self, world: World, mailer: FailingMailer) -> None:
        self.world = world
        self.mailer = mailer

    async def send_every_minute(self, times: int, email: str = ANA) -> None:
        """Send codes and links in turn, and pass a minute after each."""
        for number in range(times):
            params = link_params(email) if number % 2 else code_params(email)
            assert await self.world.result(SEND, params) == {"message": "ok"}
            self.world.pass_time(minutes=1)

    async def rejected_send(self) -> dict[str, Any]:
        response = await self.world.call(SEND, code_params(ANA))
        error: dict[str, Any] = response.json["error"]
        assert (response.status, error["code"], error["data"]["reason"]) == (429, -32005, "RATE_LIMITED")
        assert response.headers["retry-after"] == str(error["data"]["retryAfterSeconds"])
        return error


@pytest.fixture
async def sender(tmp_path: Path, database_url: str) -> AsyncIterator[Sender]:
    policy = Policy("https://tickover.example.test", 0, client_burst=0)
    async with open_failing_mail_world(tmp_path, database_url, policy) as (world, mailer):
        yield Sender(world, mailer)


async def test_one_network_can_send_ten_emails_per_hour_to_an_address(sender: Sender) -> None:
    await sender.send_every_minute(10)
    error = await sender.rejected_send()
    # The first of them was sent ten minutes ago.
    assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 3_000}
    assert "3000 s" in error["message"]
    assert len(sender.mailer.emails) == 10
    await sender.send_every_minute(10, BEN)


async def test_known_and_unknown_addresses_are_limited_equally(sender: Sender) -> None:
    await sender.send_every_minute(1)
    code = sender.mailer.emails[0].secret
    await sender.world.result("loginByEmailVerification", verify_params(ANA, code))
    start = sender.world.now + timedelta(hours=2)
    bodies = set()
    for email in (ANA, BEN):
        sender.world.now = start
        await sender.send_every_minute(10, email)
        call = {"jsonrpc": "2.0", "id": 7, "method": SEND, "params": code_params(email)}
        bodies.add((await sender.world.post(call)).body)
    assert len(bodies) == 1
