"""Generated hostile addresses through POST /rpc: each is rejected, or gets an email in its canonical form."""

import asyncio
from collections.abc import Iterator
from itertools import islice

from tests.rpc.builders import call, send
from tests.support import hostile_addresses
from tests.support.world import World
from tickover.api.limits import MAX_BATCH
from tickover.server.sign_in import email_addresses

AT_ONCE = 8
OUTCOMES = {"ok", "INVALID_PARAMS", "RESEND_TOO_SOON"}


def canonical(text: str) -> str | None:
    try:
        return email_addresses.parse(text)
    except ValueError:
        return None


async def send_batch(world: World, texts: list[str]) -> list[str]:
    """Send an email to each in one batch, and return the addresses that got one."""
    response = await world.post([call("sendLoginCodeEmail", send(text), id) for id, text in enumerate(texts)])
    assert response.status == 200
    accepted = []
    for text, member in zip(texts, response.json, strict=True):
        outcome = member["error"]["data"]["reason"] if "error" in member else member["result"]["message"]
        assert outcome in OUTCOMES, (text, member)
        # A lone surrogate is sent as an escape and becomes U+0000.
        expected = canonical(text)
        assert (outcome == "INVALID_PARAMS") == (expected is None), (text, member)
        if outcome == "ok":
            assert expected is not None
            accepted.append(expected)
    return accepted


def take_recipients(world: World) -> list[str]:
    """Return the addresses of the emails in the outbox, and empty it."""
    found = []
    for file in world.outbox.glob("*.eml"):
        head = file.read_bytes().partition(b"\r\n\r\n")[0].decode()
        found += [line.removeprefix("To: ") for line in head.split("\r\n") if line.startswith("To: ")]
        file.unlink()
    return found


def batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, MAX_BATCH)):
        yield batch


async def test_hostile_address_is_rejected_or_gets_its_email(world: World) -> None:
    waiting = batches(hostile_addresses.generate(100, 400))
    sent = 0
    while at_once := list(islice(waiting, AT_ONCE)):
        accepted = [
            to for each in await asyncio.gather(*(send_batch(world, batch) for batch in at_once)) for to in each
        ]
        assert sorted(take_recipients(world)) == sorted(accepted)
        sent += len(accepted)
        world.pass_time(hours=2)
    assert sent > 40
