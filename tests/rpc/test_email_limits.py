"""Hourly limits on emails without a sign-in: per address, and per address and network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.rpc.builders import FailingMailer
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import ANA, NOW, HttpResponse, World, run_concurrently
from tickover.server.operations.services import Policy
from tickover.server.sign_in.logins import Limits
from tickover.server.sign_in.mail.mailer import MailOutcomeUnknown, MailRejected
from tickover.server.storage import open_store

SEND = "sendLoginCodeEmail"
BEN = "ben@example.test"
ALONE = "203.0.113.7"
"""The default network of these tests."""


class MailWorld(World):
    """A world with a mailer that can fail."""

    recording_mailer: FailingMailer

    async def send(self, params: dict[str, str] | None = None, client: str = ALONE) -> HttpResponse:
        self.client = client
        return await self.call(SEND, params or code_params(ANA))

    async def send_every_minute(self, times: int, email: str = ANA, clients: list[str] | None = None) -> None:
        """Send codes and links in turn, and pass a minute after each."""
        for number in range(times):
            params = link_params(email) if number % 2 else code_params(email)
            response = await self.send(params, clients[number % len(clients)] if clients else ALONE)
            assert response.json.get("result") == {"message": "ok"}, (number, response.json)
            self.pass_time(minutes=1)

    async def may_send(self, params: dict[str, str] | None = None, client: str = ALONE) -> bool:
        response = await self.send(params, client)
        if "result" in response.json:
            return True
        assert response.json["error"]["data"]["reason"] == "RATE_LIMITED", response.json
        return False

    async def retry_seconds(self, client: str = ALONE) -> int:
        """Return the wait of a send, which an hourly limit must reject."""
        response = await self.send(client=client)
        error = response.json["error"]
        assert (response.status, error["code"], error["data"]["reason"]) == (429, -32005, "RATE_LIMITED")
        wait: int = error["data"]["retryAfterSeconds"]
        assert response.headers["retry-after"] == str(wait)
        return wait


@asynccontextmanager
async def open_postal_world(folder: Path, database_url: str, **limits: Any) -> AsyncIterator[MailWorld]:
    store = await open_store(database_url)
    recording_mailer = FailingMailer()
    policy = Policy("https://tickover.example.test", 0, logins=Limits(**limits), client_burst=0)
    try:
        world = MailWorld(store, recording_mailer, folder, policy)
        world.recording_mailer = recording_mailer
        yield world
    finally:
        await store.close()


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[MailWorld]:
    async with open_postal_world(tmp_path, database_url) as opened:
        yield opened


def networks(count: int) -> list[str]:
    return [f"198.51.100.{number}" for number in range(1, count + 1)]


# Ten emails per hour from one network


async def test_one_network_can_send_ten_emails_per_hour_to_an_address(world: MailWorld) -> None:
    await world.send_every_minute(10)
    response = await world.send()
    error = response.json["error"]
    assert (response.status, error["code"]) == (429, -32005)
    # The first of them was sent ten minutes ago.
    assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 3_000}
    assert response.headers["retry-after"] == "3000"
    assert "3000 s" in error["message"]
    assert len(world.recording_mailer.emails) == 10


async def test_window_is_exactly_one_hour_and_slides(world: MailWorld) -> None:
    for _ in range(10):
        assert await world.may_send()
        world.pass_time(minutes=2)
    for number in range(3):
        # Two minutes apart, so that the resend interval never applies.
        world.now = NOW + timedelta(hours=1, minutes=2 * number, microseconds=-1)
        assert await world.retry_seconds() == 1
        world.pass_time(microseconds=1)
        assert await world.may_send()
    assert len(world.recording_mailer.emails) == 13


@pytest.mark.parametrize(
    ("passed", "wait"),
    [(600, 3_000), (600.000001, 3_000), (600.999999, 3_000), (601, 2_999), (3_598.5, 2), (3_599, 1), (3_599.999999, 1)],
)
async def test_wait_is_whole_seconds(world: MailWorld, passed: float, wait: int) -> None:
    await world.send_every_minute(10)
    world.now = NOW + timedelta(seconds=passed)
    assert await world.retry_seconds() == wait


async def test_send_after_the_wait_succeeds(world: MailWorld) -> None:
    await world.send_every_minute(10)
    world.pass_time(seconds=17.3)
    world.pass_time(seconds=await world.retry_seconds())
    assert await world.may_send()


async def test_wait_is_one_second_to_one_hour(tmp_path: Path, database_url: str) -> None:
    async with open_postal_world(
        tmp_path, database_url, resend_interval=timedelta(0), sends_an_hour_from_one_network=1
    ) as world:
        assert await world.may_send()
        assert await world.retry_seconds() == 3_600
        world.pass_time(seconds=3_599.999999)
        assert await world.retry_seconds() == 1


async def test_wait_after_wall_clock_was_set_back_is_at_most_an_hour(world: MailWorld) -> None:
    # Emails with unknown outcome hold no slot, so only the hourly limit applies.
    world.recording_mailer.error = MailOutcomeUnknown
    for _ in range(10):
        await world.send()
    world.pass_time(minutes=-9)
    assert await world.retry_seconds() == 3_600


async def test_wall_clock_set_back_for_good_blocks_nobody(world: MailWorld) -> None:
    await world.send_every_minute(10)
    world.pass_time(days=-1)
    assert await world.may_send()


async def test_rejected_sends_do_not_count_or_extend_the_wait(world: MailWorld) -> None:
    await world.send_every_minute(10)
    for _ in range(30):
        assert not await world.may_send()
        world.pass_time(minutes=1)
    world.now = NOW + timedelta(hours=1)
    assert await world.may_send()


async def test_invalid_parameters_do_not_count(world: MailWorld) -> None:
    await world.send_every_minute(9)
    for _ in range(20):
        response = await world.send({**code_params(ANA), "loginCodeType": "LONG_LIVED"})
        assert response.json["error"]["data"]["reason"] == "INVALID_PARAMS"
    assert await world.may_send()


@pytest.mark.parametrize("params", [code_params, link_params], ids=["codes alone", "links alone"])
async def test_codes_and_links_both_count(world: MailWorld, params: Any) -> None:
    for _ in range(10):
        assert await world.may_send(params(ANA))
        world.pass_time(minutes=1)
    assert not await world.may_send(code_params(ANA))
    assert not await world.may_send(link_params(ANA))


async def test_same_network_can_send_to_other_addresses(world: MailWorld) -> None:
    await world.send_every_minute(10)
    assert not await world.may_send()
    await world.send_every_minute(10, BEN)
    assert not await world.may_send(code_params(BEN))


async def test_spellings_of_one_address_count_together(world: MailWorld) -> None:
    for number in range(10):
        assert await world.may_send(code_params(["ANA@example.test", "ana@EXAMPLE.TEST"][number % 2]))
        world.pass_time(minutes=1)
    assert not await world.may_send()


async def test_another_network_can_send_to_the_address(world: MailWorld) -> None:
    await world.send_every_minute(10)
    assert not await world.may_send()
    assert await world.may_send(client="203.0.113.8")


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        pytest.param("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True, id="one IPv6 /64"),
        pytest.param("2001:db8:1:2::1", "2001:0DB8:0001:0002:0:0:0:1", True, id="one IPv6 address in two forms"),
        pytest.param("2001:db8:1:2::1", "2001:db8:1:3::1", False, id="the next IPv6 /64"),
        pytest.param("203.0.113.7", "::ffff:203.0.113.7", True, id="IPv4 mapped into IPv6"),
        pytest.param("::ffff:203.0.113.7", "::ffff:203.0.113.8", False, id="two IPv4 addresses mapped into IPv6"),
        pytest.param("203.0.113.7", "203.0.113.6", False, id="two IPv4 addresses"),
    ],
)
async def test_network_is_an_ipv4_address_or_an_ipv6_64(world: MailWorld, first: str, second: str, same: bool) -> None:
    await world.send_every_minute(10, clients=[first])
    assert await world.may_send(client=second) != same


async def test_client_cannot_choose_its_network_with_a_header(world: MailWorld) -> None:
    for number in range(10):
        response = await post_send(world, f"198.51.100.{number}")
        assert "result" in response.json
        world.pass_time(minutes=1)
    response = await post_send(world, "198.51.100.99")
    assert response.json["error"]["data"]["reason"] == "RATE_LIMITED"


async def post_send(world: World, forwarded_for: str) -> HttpResponse:
    envelope = {"jsonrpc": "2.0", "id": 7, "method": SEND, "params": code_params(ANA)}
    return await world.post(envelope, **{"X-Forwarded-For": forwarded_for})


# Thirty emails per hour from all networks


async def test_all_networks_can_send_thirty_emails_per_hour_to_an_address(world: MailWorld) -> None:
    await world.send_every_minute(30, clients=networks(30))
    assert await world.retry_seconds(client="192.0.2.1") == 1_800
    world.now = NOW + timedelta(hours=1, microseconds=-1)
    assert await world.retry_seconds(client="192.0.2.1") == 1
    world.pass_time(microseconds=1)
    assert await world.may_send(client="192.0.2.1")
    world.pass_time(seconds=59)
    assert (await world.send(client="192.0.2.2")).json["error"]["data"]["reason"] == "RESEND_TOO_SOON"
    world.pass_time(seconds=1)
    assert await world.may_send(client="192.0.2.2")
    assert len(world.recording_mailer.emails) == 32


async def test_three_networks_exhaust_the_limit_of_an_address(world: MailWorld) -> None:
    await world.send_every_minute(30, clients=networks(3))
    assert not await world.may_send(client="192.0.2.1")
    assert await world.may_send(code_params(BEN), client="192.0.2.1")


async def test_wait_covers_both_limits(world: MailWorld) -> None:
    # The limit of the address ends at 13:00, but that of this network at 13:20.
    await world.send_every_minute(20, clients=networks(20))
    await world.send_every_minute(10)
    world.pass_time(seconds=await world.retry_seconds())
    assert await world.may_send()


# Emails that count


@pytest.mark.parametrize("params", [code_params, link_params], ids=["codes", "links"])
async def test_rejected_emails_do_not_count(world: MailWorld, params: Any) -> None:
    world.recording_mailer.error = MailRejected
    for _ in range(40):
        response = await world.send(params(ANA))
        assert response.json["error"]["data"]["reason"] == "MAIL_NOT_SENT"
        world.pass_time(microseconds=1)
    world.recording_mailer.error = None
    world.now = NOW
    await world.send_every_minute(10)
    assert not await world.may_send()


@pytest.mark.parametrize("params", [code_params, link_params], ids=["codes", "links"])
async def test_emails_with_unknown_outcome_count(world: MailWorld, params: Any) -> None:
    world.recording_mailer.error = MailOutcomeUnknown
    for _ in range(10):
        response = await world.send(params(ANA))
        assert response.json["error"]["data"]["reason"] == "MAIL_NOT_SENT"
        world.pass_time(seconds=1)
    # Their slots are free, so only the hourly limit applies.
    assert await world.retry_seconds() == 3_590
    assert len(world.recording_mailer.emails) == 10


# Sign-ins


async def sign_in_by_last_letter(world: MailWorld) -> None:
    email = world.recording_mailer.emails[-1]
    if len(email.secret) == 6:
        await world.result("loginByEmailVerification", verify_params(email.to, email.secret))
    else:
        await world.result("loginByEmailLink", {"token": email.secret.partition("#token=")[2]})


@pytest.mark.parametrize("last", [code_params, link_params], ids=["by code", "by link"])
async def test_sign_in_resets_the_count_of_the_network(world: MailWorld, last: Any) -> None:
    await world.send_every_minute(9)
    assert await world.may_send(last(ANA))
    await sign_in_by_last_letter(world)
    world.pass_time(minutes=1)
    await world.send_every_minute(10)
    assert not await world.may_send()


@pytest.mark.parametrize("last", [code_params, link_params], ids=["by code", "by link"])
async def test_sign_in_resets_the_count_of_the_address(world: MailWorld, last: Any) -> None:
    await world.send_every_minute(29, clients=networks(29))
    assert await world.may_send(last(ANA))
    await sign_in_by_last_letter(world)
    world.pass_time(minutes=1)
    world.client = ALONE
    # The first emails leave the hour meanwhile, and must not be subtracted twice.
    await world.send_every_minute(30, clients=networks(30))
    assert not await world.may_send(client="192.0.2.1")


async def test_sign_in_at_the_limit_allows_the_next_send(world: MailWorld) -> None:
    await world.send_every_minute(10)
    assert not await world.may_send()
    await sign_in_by_last_letter(world)
    assert await world.may_send()


async def test_sign_in_does_not_free_the_slot(world: MailWorld) -> None:
    await world.send_every_minute(9)
    assert await world.may_send()
    await sign_in_by_last_letter(world)
    world.pass_time(seconds=59.999999)
    assert (await world.send()).json["error"]["data"] == {"reason": "RESEND_TOO_SOON", "retryAfterSeconds": 1}


async def test_failed_sign_in_does_not_reset_the_count(world: MailWorld) -> None:
    await world.send_every_minute(10)
    for code in ("000000", "999999"):
        await world.error("loginByEmailVerification", verify_params(ANA, code))
    await world.error("loginByEmailLink", {"token": "x" * 43})
    assert not await world.may_send()


async def test_sign_in_of_another_address_does_not_reset_the_count(world: MailWorld) -> None:
    await world.send_every_minute(10)
    assert await world.may_send(code_params(BEN))
    await sign_in_by_last_letter(world)
    assert not await world.may_send()


# The resend interval


@pytest.mark.parametrize(("passed", "wait"), [(0, 60), (30.5, 30), (59.999999, 1)])
async def test_resend_interval_is_checked_before_hourly_limits(world: MailWorld, passed: float, wait: int) -> None:
    await world.send_every_minute(9)
    assert await world.may_send()
    world.pass_time(seconds=passed)
    response = await world.send()
    assert response.json["error"]["data"] == {"reason": "RESEND_TOO_SOON", "retryAfterSeconds": wait}
    assert response.headers["retry-after"] == str(wait)
    world.pass_time(seconds=60 - passed)
    assert not await world.may_send()


# Configuration


@pytest.mark.parametrize(
    ("limits", "one_network", "all_networks"),
    [
        pytest.param({}, 10, 30, id="as it comes"),
        pytest.param({"sends_an_hour_from_one_network": 1}, 1, 30, id="one from a network"),
        pytest.param({"sends_an_hour": 3}, 3, 3, id="three in all"),
        pytest.param({"sends_an_hour": 5, "sends_an_hour_from_one_network": 2}, 2, 5, id="both changed"),
        pytest.param({"sends_an_hour_from_one_network": 0}, 30, 30, id="no limit for a network"),
        pytest.param({"sends_an_hour": 0}, 10, 45, id="no limit in all"),
        pytest.param({"sends_an_hour": 0, "sends_an_hour_from_one_network": 0}, 45, 45, id="no limits"),
    ],
)
async def test_hourly_limits_are_configurable(
    tmp_path: Path, database_url: str, limits: dict[str, int], one_network: int, all_networks: int
) -> None:
    async with open_postal_world(tmp_path, database_url, resend_interval=timedelta(seconds=1), **limits) as world:
        assert await sent_of_45(world, ANA, [ALONE]) == one_network
        world.now = NOW
        assert await sent_of_45(world, BEN, networks(45)) == all_networks


async def sent_of_45(world: MailWorld, email: str, clients: list[str]) -> int:
    sent = 0
    for number in range(45):
        sent += await world.may_send(code_params(email), clients[number % len(clients)])
        world.pass_time(seconds=1)
    return sent


async def test_resend_interval_is_configurable(tmp_path: Path, database_url: str) -> None:
    async with open_postal_world(tmp_path, database_url, resend_interval=timedelta(seconds=5)) as world:
        assert await world.may_send()
        world.pass_time(seconds=4.999999)
        response = await world.send()
        assert response.json["error"]["data"] == {"reason": "RESEND_TOO_SOON", "retryAfterSeconds": 1}
        world.pass_time(microseconds=1)
        assert await world.may_send()


# Concurrency, restarts and batches


@pytest.mark.parametrize(
    ("clients", "sent"),
    [
        pytest.param([ALONE], 10, id="from one network"),
        pytest.param(["2001:db8::1", "2001:db8::2"], 10, id="from one IPv6 network"),
        pytest.param(networks(2), 20, id="from two networks"),
        pytest.param(networks(50), 30, id="from fifty networks"),
    ],
)
async def test_concurrent_sends_stay_within_hourly_limits(
    tmp_path: Path, database_url: str, clients: list[str], sent: int
) -> None:
    async with open_postal_world(tmp_path, database_url, resend_interval=timedelta(0)) as world:
        responses = await run_concurrently(50, lambda number: world.send(client=clients[number % len(clients)]))
        assert sorted(response.status for response in responses) == [200] * sent + [429] * (50 - sent)
        assert len(world.recording_mailer.emails) == sent


async def test_count_survives_a_restart(tmp_path: Path, database_url: str) -> None:
    later: datetime
    async with open_postal_world(tmp_path, database_url) as world:
        await world.send_every_minute(10)
        later = world.now
    async with open_postal_world(tmp_path, database_url) as world:
        world.now = later
        assert await world.retry_seconds() == 3_000


async def test_sweep_does_not_shorten_the_hour(world: MailWorld) -> None:
    await world.send_every_minute(10)
    world.now = NOW + timedelta(hours=1, microseconds=-1)
    await world.store.sweep(world.now, 1_000)
    assert await world.retry_seconds() == 1


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
    assert await world.may_send()
    await sign_in_by_last_letter(world)
    world.pass_time(hours=2)
    start = world.now
    bodies = []
    for email in (ANA, BEN):
        world.now = start
        await world.send_every_minute(10, email)
        envelope = {"jsonrpc": "2.0", "id": 7, "method": SEND, "params": code_params(email)}
        bodies.append((await world.post(envelope)).body)
    assert bodies[0] == bodies[1]
