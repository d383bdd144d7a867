"""Hourly limits on emails without a sign-in: their defaults and responses. tests/store/test_limits.py has the rules."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.rpc.builders import FailingMailer
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, NOW, HttpResponse, World
from tickover.server.operations.services import Policy
from tickover.server.storage import open_store

SEND = "sendLoginCodeEmail"
BEN = "ben@example.test"
NETWORKS = [f"198.51.100.{number}" for number in range(1, 31)]


class MailWorld(World):
    """A world that records emails."""

    recording_mailer: FailingMailer

    async def send_every_minute(self, times: int, email: str = ANA) -> None:
        """Send codes and links in turn, and pass a minute after each."""
        for number in range(times):
            params = link_params(email) if number % 2 else code_params(email)
            assert await self.result(SEND, params) == {"message": "ok"}
            self.pass_time(minutes=1)

    async def rejected_send(self) -> HttpResponse:
        response = await self.call(SEND, code_params(ANA))
        error = response.json["error"]
        assert (response.status, error["code"], error["data"]["reason"]) == (429, -32005, "RATE_LIMITED")
        assert response.headers["retry-after"] == str(error["data"]["retryAfterSeconds"])
        return response


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[MailWorld]:
    store = await open_store(database_url)
    mailer = FailingMailer()
    world = MailWorld(store, mailer, tmp_path, Policy("https://tickover.example.test", 0, client_burst=0))
    world.recording_mailer = mailer
    yield world
    await store.close()


async def test_one_network_can_send_ten_emails_per_hour_to_an_address(world: MailWorld) -> None:
    await world.send_every_minute(10)
    error = (await world.rejected_send()).json["error"]
    # The first of them was sent ten minutes ago.
    assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 3_000}
    assert "3000 s" in error["message"]
    assert len(world.recording_mailer.emails) == 10
    await world.send_every_minute(10, BEN)


async def test_all_networks_can_send_thirty_emails_per_hour_to_an_address(world: MailWorld) -> None:
    for world.client in NETWORKS:
        await world.send_every_minute(1)
    world.client = "192.0.2.1"
    await world.rejected_send()
    world.now = NOW + timedelta(hours=1)
    await world.send_every_minute(1)


async def test_rate_limited_call_in_a_batch_does_not_affect_others(world: MailWorld) -> None:
    await world.send_every_minute(10)
    batch = [
        {"jsonrpc": "2.0", "id": number, "method": SEND, "params": code_params(email)}
        for number, email in enumerate((ANA, BEN))
    ]
    response = await world.post(batch)
    assert (response.status, "retry-after" in response.headers) == (200, False)
    rejected, sent = response.json
    assert rejected["error"]["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 3_000}
    assert sent["result"] == {"message": "ok"}


async def test_known_and_unknown_addresses_are_limited_equally(world: MailWorld) -> None:
    await world.send_every_minute(1)
    code = world.recording_mailer.emails[0].secret
    await world.result("loginByEmailVerification", verify_params(ANA, code))
    start = world.now + timedelta(hours=2)
    bodies = set()
    for email in (ANA, BEN):
        world.now = start
        await world.send_every_minute(10, email)
        call = {"jsonrpc": "2.0", "id": 7, "method": SEND, "params": code_params(email)}
        bodies.add((await world.post(call)).body)
    assert len(bodies) == 1
