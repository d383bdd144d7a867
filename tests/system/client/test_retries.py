"""Which calls are retried, and after which delay."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.cases import each_case
from tests.system.client.clients import Client, OpenClient, catch, collect, resolve
from tests.system.client.servers import (
    Step,
    close_connection_early,
    never_respond,
    reject,
    respond_after_many_interim_responses,
    respond_normally,
    respond_slowly,
    respond_with_slow_head,
    scripted_server,
    truncate_response,
)
from tickover.client import Reason, Rejection, Unreachable, never_below
from tickover.client.calls import delete_clock, get_clock, log_out
from tickover.client.messages import NoResponse, Response
from tickover.client.retries import RetryState

MakeCall = Callable[[Client], Any]

IDEMPOTENT: dict[str, MakeCall] = {
    "expandScenario": lambda client: client.expand_scenario("#"),
    "checkTestClock": lambda client: client.check_clock("clock_1", [never_below("EUR", 0)]),
    "createTestClock": lambda client: client.create_clock(),
    "deleteTestClock": lambda client: client.delete_clock("clock_1"),
    "amendTestClock": lambda client: client.amend_clock("clock_1", cancel=["txn_1"]),
    "forkTestClock": lambda client: client.fork_clock("clock_1"),
    "getCurrentUser": lambda client: client.current_user(),
    "getTestClock": lambda client: client.get_clock("clock_1"),
    "getTestClockBalances": lambda client: client.get_balances("clock_1"),
    "listAccessTokens": lambda client: client.list_access_tokens(),
    "listTestClockEvents": lambda client: collect(client.list_events("clock_1")),
    "listTestClocks": lambda client: client.list_page(),
    "updateTestClock": lambda client: client.update_clock("clock_1", name="Budget"),
    "rpc.discover": lambda client: client.discover(),
    "mailbox": lambda client: client.latest_email("ana@example.test"),
}
NOT_IDEMPOTENT: dict[str, MakeCall] = {
    "createAccessToken": lambda client: client.create_access_token("CI"),
    "loginByEmailLink": lambda client: client.log_in_by_link("secret"),
    "loginByEmailVerification": lambda client: client.log_in("ana@example.test", "123456"),
    "logout": lambda client: client.log_out(),
    "revokeAccessToken": lambda client: client.revoke_access_token("token_1"),
    "sendLoginCodeEmail": lambda client: client.send_code("ana@example.test"),
    "sendLoginCodeEmail with a link": lambda client: client.send_link("ana@example.test"),
}
UNAVAILABLE = reject("UNAVAILABLE", 503, retryAfterSeconds=0.01)
FAILURES: dict[str, Step] = {
    "closed": close_connection_early,
    "truncated": truncate_response,
    "silent": never_respond,
    "slow": respond_slowly,
    "slow head": respond_with_slow_head,
    "many 100 Continue": respond_after_many_interim_responses,
    "unavailable": UNAVAILABLE,
}
FAST_FAILURES = ["closed", "unavailable"]
SHORT_TIMEOUT = 0.4
"""Short, but long enough for a server that responds."""


def timeout_for(failure: str) -> float:
    """Return a short timeout only if the failure lasts until the timeout."""
    return 120 if failure in ("closed", "truncated", "unavailable") else SHORT_TIMEOUT


@each_case("failure", FAST_FAILURES)
@each_case("name", IDEMPOTENT)
async def test_idempotent_calls_are_retried(open_client: OpenClient, name: str, failure: str) -> None:
    with scripted_server(FAILURES[failure], respond_normally) as server:
        async with open_client(server.url, "tko_1") as client:
            await resolve(IDEMPOTENT[name](client))
        assert len(server.requests) == 2
        first, second = server.requests
        assert (first.call, first.headers) == (second.call, second.headers), "the retry must be the same request"


@each_case("failure", FAILURES)
async def test_advance_is_retried(open_client: OpenClient, failure: str) -> None:
    with scripted_server(respond_normally, FAILURES[failure], respond_normally) as server:
        async with open_client(server.url, "tko_1", timeout=timeout_for(failure)) as client:
            clock = await resolve(client.get_clock("clock_1"))
            await resolve(clock.advance(days=1))
        assert [request.call["method"] for request in server.requests] == ["getTestClock"] + 2 * ["advanceTestClock"]


async def assert_sent_once(open_client: OpenClient, name: str, failure: str) -> None:
    with scripted_server(FAILURES[failure], respond_normally) as server:
        async with open_client(server.url, "tko_1", timeout=timeout_for(failure)) as client:
            error = await catch((Unreachable, Rejection), lambda: NOT_IDEMPOTENT[name](client))
        assert len(server.requests) == 1
    if isinstance(error, Unreachable):
        assert str(error).endswith("The server may or may not have processed the call.")


@each_case("failure", FAST_FAILURES)
@each_case("name", NOT_IDEMPOTENT)
async def test_calls_that_are_not_idempotent_are_sent_once(open_client: OpenClient, name: str, failure: str) -> None:
    await assert_sent_once(open_client, name, failure)


@each_case("failure", FAILURES)
async def test_sign_out_is_sent_once_after_any_failure(open_client: OpenClient, failure: str) -> None:
    await assert_sent_once(open_client, "logout", failure)


@each_case("retries", [0, 1, 2])
async def test_the_client_gives_up_after_the_last_retry(open_client: OpenClient, retries: int) -> None:
    with scripted_server(close_connection_early) as server:
        async with open_client(server.url, retries=retries) as client:
            error = await catch(Unreachable, client.discover)
        assert len(server.requests) == 1 + retries
        assert str(error) == (
            f"{server.url} closed the connection or doesn't speak HTTP."
            " Check that the URL is the address of a Tickover server."
        )


async def test_two_retries_are_the_default(open_client: OpenClient) -> None:
    with scripted_server(UNAVAILABLE) as server:
        async with open_client(server.url) as client:
            assert (await catch(Rejection, client.discover)).reason is Reason.UNAVAILABLE
        assert len(server.requests) == 3


async def test_attempts_may_fail_in_different_ways(open_client: OpenClient) -> None:
    with scripted_server(close_connection_early, UNAVAILABLE, respond_normally) as server:
        async with open_client(server.url) as client:
            await resolve(client.discover())
        assert len(server.requests) == 3


@each_case("reason", ["RATE_LIMITED", "RESEND_TOO_SOON", "INTERNAL", "MAIL_NOT_SENT"])
async def test_other_errors_are_not_retried(open_client: OpenClient, reason: str) -> None:
    with scripted_server(reject(reason, 429, retryAfterSeconds=0.01), respond_normally) as server:
        async with open_client(server.url) as client:
            assert (await catch(Rejection, client.list_page)).reason == reason
        assert len(server.requests) == 1


async def test_each_page_of_a_list_is_retried(open_client: OpenClient) -> None:
    with scripted_server(close_connection_early, close_connection_early, respond_normally) as server:
        async with open_client(server.url) as client:
            assert await collect(client.list_clocks()) == []
        assert [request.call["params"] for request in server.requests] == [{"limit": 100}] * 3


# Idempotency keys


async def test_every_creation_has_a_new_idempotency_key(open_client: OpenClient) -> None:
    with scripted_server(respond_normally) as server:
        async with open_client(server.url) as client:
            await resolve(client.create_clock())
            await resolve(client.create_clock())
            await resolve(client.create_clock(idempotency_key="mine"))
            await resolve(client.get_clock("clock_1"))
        first, second, third, fourth = (request.headers.get("idempotency-key") for request in server.requests)
    assert first is not None
    assert second is not None
    assert (len(first), len(second), first == second) == (32, 32, False)
    assert (third, fourth) == ("mine", None)


# Deletions


@each_case("failure", FAST_FAILURES)
async def test_not_found_after_a_retried_deletion_counts_as_deleted(open_client: OpenClient, failure: str) -> None:
    with scripted_server(FAILURES[failure], reject("CLOCK_NOT_FOUND")) as server:
        async with open_client(server.url) as client:
            assert await resolve(client.delete_clock("clock_1")) is None
        assert len(server.requests) == 2


async def test_not_found_at_the_first_deletion_is_an_error(open_client: OpenClient) -> None:
    with scripted_server(reject("CLOCK_NOT_FOUND")) as server:
        async with open_client(server.url) as client:
            assert (await catch(Rejection, lambda: client.delete_clock("x"))).reason is Reason.CLOCK_NOT_FOUND


async def test_other_errors_of_a_retried_deletion_are_raised(open_client: OpenClient) -> None:
    with scripted_server(close_connection_early, reject("CLOCK_EXPIRED")) as server:
        async with open_client(server.url) as client:
            assert (await catch(Rejection, lambda: client.delete_clock("x"))).reason is Reason.CLOCK_EXPIRED


async def test_a_concurrent_advance_is_raised_after_a_retry(open_client: OpenClient) -> None:
    with scripted_server(respond_normally, close_connection_early, reject("TIME_BEFORE_CURRENT")) as server:
        async with open_client(server.url) as client:
            clock = await resolve(client.get_clock("clock_1"))
            assert (await catch(Rejection, lambda: clock.advance(days=1))).reason is Reason.TIME_BEFORE_CURRENT


# Delays


def rejected(reason: str, retry_after: str = "1") -> Response:
    data = f'{{"reason": "{reason}", "retryAfterSeconds": {retry_after}}}'
    content = f'{{"jsonrpc": "2.0", "id": null, "error": {{"code": 1, "message": "Gone.", "data": {data}}}}}'
    return Response("http://x/rpc", 503, content.encode())


def test_delays_double() -> None:
    state = RetryState(get_clock("x", None), max_retries=7)
    delays = []
    for _ in range(7):
        assert not state.is_finished(NoResponse("Gone.", may_have_arrived=True))
        delays.append(state.delay)
    assert delays == [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0]
    with pytest.raises(Unreachable, match=r"^Gone\.$"):
        state.is_finished(NoResponse("Gone.", may_have_arrived=True))


@each_case(
    ("retry_after", "delay"),
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
def test_the_server_sets_the_delay_up_to_a_maximum(retry_after: str, delay: float) -> None:
    state = RetryState(get_clock("x", None), max_retries=1)
    assert not state.is_finished(rejected("UNAVAILABLE", retry_after))
    assert state.delay == delay


def test_a_request_that_never_arrived_is_retried_even_if_not_idempotent() -> None:
    state = RetryState(log_out(), max_retries=1)
    assert not state.is_finished(NoResponse("No connection.", may_have_arrived=False))
    with pytest.raises(Unreachable, match=r"^No connection\.$"):
        state.is_finished(NoResponse("No connection.", may_have_arrived=False))


def test_a_deletion_that_never_arrived_does_not_count_as_done() -> None:
    state = RetryState(delete_clock("x"), max_retries=1)
    assert not state.is_finished(NoResponse("No connection.", may_have_arrived=False))
    with pytest.raises(Rejection, match=r"^Gone\.$"):
        state.is_finished(rejected("CLOCK_NOT_FOUND"))


def test_an_attempt_that_never_arrived_does_not_undo_an_earlier_one() -> None:
    state = RetryState(delete_clock("x"), max_retries=2)
    assert not state.is_finished(NoResponse("Gone.", may_have_arrived=True))
    assert not state.is_finished(NoResponse("No connection.", may_have_arrived=False))
    assert state.is_finished(rejected("CLOCK_NOT_FOUND"))


async def test_all_attempts_end_within_their_timeouts(open_client: OpenClient) -> None:
    with scripted_server(never_respond) as server:
        async with open_client(server.url, timeout=SHORT_TIMEOUT, retries=1) as client:
            start = time.monotonic()
            error = await catch(Unreachable, client.discover)
        assert time.monotonic() - start >= 2 * SHORT_TIMEOUT
        assert str(error) == (
            f"{server.url} didn't respond within 0.4 seconds. Use a longer timeout, or try again later."
        )
