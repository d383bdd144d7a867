"""When a call is made again, and when it is not: counted where calls arrive."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.client.driving import Client, Opener, done, every, raised
from tests.client.servers import Step, breaks_off, hangs_up, is_silent, refusal, scripted, trickles, well
from tickover.client import Reason, Rejection, Unreachable
from tickover.client.attempts import Attempts
from tickover.client.calls import delete_clock, fork_clock, get_clock
from tickover.client.exchanges import Lost, Reply

Ask = Callable[[Client], Any]

SAFE: dict[str, Ask] = {
    "createTestClock": lambda client: client.create_clock(),
    "deleteTestClock": lambda client: client.delete_clock("clock_1"),
    "getTestClock": lambda client: client.get_clock("clock_1"),
    "listTestClocks": lambda client: client.list_page(),
    "rpc.discover": lambda client: client.discover(),
    "the mailbox": lambda client: client.latest_letter("ana@example.test"),
}
UNSAFE: dict[str, Ask] = {
    "forkTestClock": lambda client: client.fork_clock("clock_1"),
    "loginByEmailLink": lambda client: client.log_in_by_link("secret"),
    "loginByEmailVerification": lambda client: client.log_in("ana@example.test", "123456"),
    "logout": lambda client: client.log_out(),
    "sendLoginCodeEmail": lambda client: client.send_code("ana@example.test"),
    "sendLoginCodeEmail, for a link": lambda client: client.send_link("ana@example.test"),
}
UNAVAILABLE = refusal("UNAVAILABLE", 503, retryAfterSeconds=0.01)
TROUBLES: dict[str, Step] = {
    "hangs up": hangs_up,
    "breaks off": breaks_off,
    "is silent": is_silent,
    "trickles": trickles,
    "is unavailable": UNAVAILABLE,
}
AT_ONCE = ["hangs up", "is unavailable"]
SOON = 0.3
"""A timeout that is over soon, and still enough for a server that answers."""


@pytest.mark.parametrize("trouble", AT_ONCE)
@pytest.mark.parametrize("name", SAFE)
async def test_what_is_safe_to_repeat_is_repeated(opened: Opener, name: str, trouble: str) -> None:
    with scripted(TROUBLES[trouble], well) as server:
        async with opened(server.url, "tko_1") as client:
            await done(SAFE[name](client))
        assert len(server.asked) == 2
        first, second = server.asked
        assert (first.call, first.headers) == (second.call, second.headers), "it is the same request"


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_an_advance_is_repeated(opened: Opener, trouble: str) -> None:
    with scripted(well, TROUBLES[trouble], well) as server:
        async with opened(server.url, "tko_1", timeout=SOON) as client:
            clock = await done(client.get_clock("clock_1"))
            await done(clock.advance(days=1))
        assert [asked.call["method"] for asked in server.asked] == ["getTestClock"] + 2 * ["advanceTestClock"]


async def made_once(opened: Opener, name: str, trouble: str) -> None:
    with scripted(TROUBLES[trouble], well) as server:
        async with opened(server.url, "tko_1", timeout=SOON) as client:
            error = await raised((Unreachable, Rejection), lambda: UNSAFE[name](client))
        assert len(server.asked) == 1
    if isinstance(error, Unreachable):
        assert str(error).endswith("Whether the call was carried out is not known.")


@pytest.mark.parametrize("trouble", AT_ONCE)
@pytest.mark.parametrize("name", UNSAFE)
async def test_what_is_not_safe_to_repeat_is_made_once(opened: Opener, name: str, trouble: str) -> None:
    await made_once(opened, name, trouble)


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_fork_is_made_once_whatever_happens(opened: Opener, trouble: str) -> None:
    await made_once(opened, "forkTestClock", trouble)


@pytest.mark.parametrize("retries", [0, 1, 2])
async def test_it_is_tried_so_often_and_then_given_up(opened: Opener, retries: int) -> None:
    with scripted(hangs_up) as server:
        async with opened(server.url, retries=retries) as client:
            error = await raised(Unreachable, client.discover)
        assert len(server.asked) == 1 + retries
        assert str(error) == (
            f"{server.url} broke the connection off, or does not speak HTTP; is a Tickover server there?"
        )


async def test_there_are_two_retries_unless_told_otherwise(opened: Opener) -> None:
    with scripted(UNAVAILABLE) as server:
        async with opened(server.url) as client:
            assert (await raised(Rejection, client.discover)).reason is Reason.UNAVAILABLE
        assert len(server.asked) == 3


async def test_trouble_may_change_from_one_attempt_to_the_next(opened: Opener) -> None:
    with scripted(hangs_up, UNAVAILABLE, well) as server:
        async with opened(server.url) as client:
            await done(client.discover())
        assert len(server.asked) == 3


@pytest.mark.parametrize("reason", ["RATE_LIMITED", "RESEND_TOO_SOON", "INTERNAL", "MAIL_NOT_SENT"])
async def test_other_refusals_are_final(opened: Opener, reason: str) -> None:
    with scripted(refusal(reason, 429, retryAfterSeconds=0.01), well) as server:
        async with opened(server.url) as client:
            assert (await raised(Rejection, client.list_page)).reason == reason
        assert len(server.asked) == 1


async def test_pages_that_are_listed_are_repeated_one_by_one(opened: Opener) -> None:
    with scripted(hangs_up, hangs_up, well) as server:
        async with opened(server.url) as client:
            assert await every(client.list_clocks()) == []
        assert [asked.call["params"] for asked in server.asked] == [{"limit": 100}] * 3


# Keys of creations


async def test_every_creation_has_a_key_of_its_own(opened: Opener) -> None:
    with scripted(well) as server:
        async with opened(server.url) as client:
            await done(client.create_clock())
            await done(client.create_clock())
            await done(client.create_clock(idempotency_key="mine"))
            await done(client.get_clock("clock_1"))
        first, second, third, fourth = (asked.headers.get("idempotency-key") for asked in server.asked)
    assert first is not None
    assert second is not None
    assert (len(first), len(second), first == second) == (32, 32, False)
    assert (third, fourth) == ("mine", None)


# Deletions


@pytest.mark.parametrize("trouble", AT_ONCE)
async def test_what_an_earlier_attempt_may_have_deleted_is_deleted(opened: Opener, trouble: str) -> None:
    with scripted(TROUBLES[trouble], refusal("CLOCK_NOT_FOUND")) as server:
        async with opened(server.url) as client:
            assert await done(client.delete_clock("clock_1")) is None
        assert len(server.asked) == 2


async def test_what_was_not_there_at_the_first_attempt_was_not_deleted(opened: Opener) -> None:
    with scripted(refusal("CLOCK_NOT_FOUND")) as server:
        async with opened(server.url) as client:
            assert (await raised(Rejection, lambda: client.delete_clock("x"))).reason is Reason.CLOCK_NOT_FOUND


async def test_another_refusal_of_a_deletion_is_told_as_it_is(opened: Opener) -> None:
    with scripted(hangs_up, refusal("CLOCK_EXPIRED")) as server:
        async with opened(server.url) as client:
            assert (await raised(Rejection, lambda: client.delete_clock("x"))).reason is Reason.CLOCK_EXPIRED


async def test_that_others_moved_the_clock_meanwhile_is_told_as_it_is(opened: Opener) -> None:
    with scripted(well, hangs_up, refusal("TIME_BEFORE_CURRENT")) as server:
        async with opened(server.url) as client:
            clock = await done(client.get_clock("clock_1"))
            assert (await raised(Rejection, lambda: clock.advance(days=1))).reason is Reason.TIME_BEFORE_CURRENT


# Pauses, by themselves: nothing is waited for


def refused(reason: str, asked_for: str = "1") -> Reply:
    data = f'{{"reason": "{reason}", "retryAfterSeconds": {asked_for}}}'
    answer = f'{{"jsonrpc": "2.0", "id": null, "error": {{"code": 1, "message": "Gone.", "data": {data}}}}}'
    return Reply("http://x/rpc", 503, answer.encode())


def test_pauses_double() -> None:
    attempts = Attempts(get_clock("x", None), retries=7)
    pauses = []
    for _ in range(7):
        assert not attempts.settled(Lost("Gone.", may_have_arrived=True))
        pauses.append(attempts.pause)
    assert pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0]
    with pytest.raises(Unreachable, match=r"^Gone\.$"):
        attempts.settled(Lost("Gone.", may_have_arrived=True))


@pytest.mark.parametrize(
    ("asked_for", "pause"),
    [
        ("1", 1),
        ("2.9", 2.9),
        ("3", 3),
        ("4", 3),
        ("600000", 3),
        ("0", 0.1),
        ("-1", 0.1),
        ('"soon"', 0.1),
        ("null", 0.1),
    ],
)
def test_the_server_may_ask_for_a_pause_within_reason(asked_for: str, pause: float) -> None:
    attempts = Attempts(get_clock("x", None), retries=1)
    assert not attempts.settled(refused("UNAVAILABLE", asked_for))
    assert attempts.pause == pause


def test_what_never_arrived_is_sent_again_even_if_it_is_not_safe() -> None:
    attempts = Attempts(fork_clock("x", None), retries=1)
    assert not attempts.settled(Lost("No connection.", may_have_arrived=False))
    with pytest.raises(Unreachable, match=r"^No connection\.$"):
        attempts.settled(Lost("No connection.", may_have_arrived=False))


def test_what_never_arrived_has_not_been_done() -> None:
    attempts = Attempts(delete_clock("x"), retries=1)
    assert not attempts.settled(Lost("No connection.", may_have_arrived=False))
    with pytest.raises(Rejection, match=r"^Gone\.$"):
        attempts.settled(refused("CLOCK_NOT_FOUND"))


async def test_all_attempts_together_end_in_time(opened: Opener) -> None:
    with scripted(is_silent) as server:
        async with opened(server.url, timeout=SOON, retries=1) as client:
            began = time.monotonic()
            error = await raised(Unreachable, client.discover)
        assert 2 * SOON <= time.monotonic() - began < 2 * SOON + 3
        assert str(error) == (
            f"{server.url} did not answer within 0.3 seconds; give it a longer timeout, or try later."
        )
