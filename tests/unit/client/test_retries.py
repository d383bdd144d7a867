"""Which calls are retried, and after which delay."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.unit.client.transport import (
    Outcome,
    ScriptedTransport,
    lose_response,
    refuse_connection,
    reject,
    respond_normally,
    response,
)
from tickover.client import InvalidResponse, Reason, Rejection, Unreachable, never_below
from tickover.client.async_client import AsyncClient
from tickover.client.rpc_messages import Request, Response

UNAVAILABLE = reject("UNAVAILABLE")
MakeCall = Callable[[AsyncClient], Any]


async def advance(client: AsyncClient) -> None:
    clock = await ScriptedTransport(respond_normally).client().get_clock("clock_1")
    clock._client = client
    await clock.advance(days=1)


IDEMPOTENT: dict[str, MakeCall] = {
    "advanceTestClock": advance,
    "amendTestClock": lambda client: client.amend_clock("clock_1", cancel=["txn_1"]),
    "checkTestClock": lambda client: client.check_clock("clock_1", [never_below("EUR", 0)]),
    "createTestClock": lambda client: client.create_clock(),
    "createTestClockFromScenario": lambda client: client.create_clock_from_scenario("trip"),
    "deleteTestClock": lambda client: client.delete_clock("clock_1"),
    "expandScenario": lambda client: client.expand_scenario("#"),
    "exportTestClock": lambda client: client.export_clock("clock_1"),
    "forkTestClock": lambda client: client.fork_clock("clock_1"),
    "getCurrentUser": lambda client: client.current_user(),
    "getTestClock": lambda client: client.get_clock("clock_1"),
    "deleteCurrentUser": lambda client: client.delete_current_user(),
    "getTestClockBalances": lambda client: client.get_balances("clock_1"),
    "listAccessTokens": lambda client: client.list_access_tokens(),
    "listTestClockConnections": lambda client: client.list_connections("clock_1"),
    "listTestClockEvents": lambda client: anext(client.list_events("clock_1"), None),
    "listTestClocks": lambda client: anext(client.list_clocks(), None),
    "updateTestClock": lambda client: client.update_clock("clock_1", name="Budget"),
    "listConnectionCalls": lambda client: client.list_connection_calls("clock_1", "conn_1"),
    "updateTestClockConnection": lambda client: client.update_connection("clock_1", "conn_1", quirks=None),
    "rpc.discover": lambda client: client.discover(),
    "mailbox": lambda client: client.latest_email("ana@example.test"),
}
NOT_IDEMPOTENT: dict[str, MakeCall] = {
    "connectTestClock": lambda client: client.connect_clock("clock_1", "PLAID"),
    "createAccessToken": lambda client: client.create_access_token("CI"),
    "disconnectTestClock": lambda client: client.disconnect_clock("clock_1", "conn_1"),
    "loginByEmailLink": lambda client: client.log_in_by_link("secret"),
    "loginByEmailVerification": lambda client: client.log_in("ana@example.test", "123456"),
    "logout": lambda client: client.log_out(),
    "revokeAccessToken": lambda client: client.revoke_access_token("token_1"),
    "sendLoginCodeEmail": lambda client: client.send_code("ana@example.test"),
    "sendLoginCodeEmail with a link": lambda client: client.send_link("ana@example.test"),
}


@pytest.mark.parametrize("failure", [lose_response, UNAVAILABLE])
@pytest.mark.parametrize("name", IDEMPOTENT)
async def test_idempotent_calls_are_retried(name: str, failure: Outcome) -> None:
    transport = ScriptedTransport(failure, respond_normally)
    await IDEMPOTENT[name](transport.client())
    first, second = transport.requests
    assert first == second, "the retry must be the same request"
    assert name == (json.loads(first.content)["method"] if first.content else "mailbox")


@pytest.mark.parametrize("failure", [lose_response, UNAVAILABLE])
@pytest.mark.parametrize("name", NOT_IDEMPOTENT)
async def test_calls_that_are_not_idempotent_are_sent_once(name: str, failure: Outcome) -> None:
    transport = ScriptedTransport(failure, respond_normally)
    with pytest.raises((Unreachable, Rejection)) as caught:
        await NOT_IDEMPOTENT[name](transport.client())
    assert len(transport.requests) == 1
    if failure is lose_response:
        assert str(caught.value) == "Gone. The server may or may not have processed the call."


@pytest.mark.parametrize("name", NOT_IDEMPOTENT)
async def test_request_that_never_arrived_is_retried_even_if_not_idempotent(name: str) -> None:
    transport = ScriptedTransport(refuse_connection, respond_normally)
    await NOT_IDEMPOTENT[name](transport.client())
    assert len(transport.requests) == 2


@pytest.mark.parametrize("reason", ["RATE_LIMITED", "RESEND_TOO_SOON", "INTERNAL", "MAIL_NOT_SENT"])
async def test_other_errors_are_not_retried(reason: str) -> None:
    transport = ScriptedTransport(reject(reason, retryAfterSeconds=0.01))
    with pytest.raises(Rejection, match=reason):
        await transport.client().list_page()
    assert len(transport.requests) == 1


async def test_delays_double_until_the_last_retry() -> None:
    transport = ScriptedTransport(lose_response, UNAVAILABLE, lose_response)
    with pytest.raises(Unreachable, match=r"^Gone\.$"):
        await transport.client(retries=7).discover()
    assert transport.delays == [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 3.0]
    assert len(transport.requests) == 8


@pytest.mark.parametrize(
    ("retry_after", "delay"), [(1, 1), (2.9, 2.9), (4, 3), (600000, 3), (0, 0.1), (-1, 0.1), ("soon", 0.1), (None, 0.1)]
)
async def test_server_sets_the_delay_up_to_a_maximum(retry_after: object, delay: float) -> None:
    transport = ScriptedTransport(reject("UNAVAILABLE", retryAfterSeconds=retry_after), respond_normally)
    await transport.client().discover()
    assert transport.delays == [delay]


async def test_every_creation_has_a_new_idempotency_key() -> None:
    transport = ScriptedTransport(respond_normally)
    client = transport.client()
    await client.create_clock()
    await client.create_clock()
    await client.create_clock(idempotency_key="mine")
    await client.get_clock("clock_1")
    first, second, third, fourth = (request.headers.get("Idempotency-Key") for request in transport.requests)
    assert first is not None
    assert second is not None
    assert (len(first), len(second), first == second) == (32, 32, False)
    assert (third, fourth) == ("mine", None)


# Deletions


@pytest.mark.parametrize(
    "failures", [[lose_response], [UNAVAILABLE], [lose_response, refuse_connection]], ids=["lost", "unavailable", "two"]
)
async def test_not_found_after_a_retried_deletion_counts_as_deleted(failures: list[Outcome]) -> None:
    transport = ScriptedTransport(*failures, reject("CLOCK_NOT_FOUND"))
    await transport.client().delete_clock("clock_1")
    assert len(transport.requests) == 1 + len(failures)


@pytest.mark.parametrize(
    ("outcomes", "reason"),
    [
        ([reject("CLOCK_NOT_FOUND")], Reason.CLOCK_NOT_FOUND),
        ([refuse_connection, reject("CLOCK_NOT_FOUND")], Reason.CLOCK_NOT_FOUND),
        ([lose_response, reject("CLOCK_EXPIRED")], Reason.CLOCK_EXPIRED),
    ],
    ids=["at the first attempt", "the first attempt never arrived", "another error"],
)
async def test_deletion_that_did_not_happen_is_an_error(outcomes: list[Outcome], reason: Reason) -> None:
    with pytest.raises(Rejection) as caught:
        await ScriptedTransport(*outcomes).client().delete_clock("clock_1")
    assert caught.value.reason is reason


# Deadlines and pages


async def test_attempts_end_when_no_time_is_left_for_the_next_delay() -> None:
    transport = ScriptedTransport(reject("UNAVAILABLE", retryAfterSeconds=3))
    client = AsyncClient("http://x.test", "tko_1", transport, timeout=2, retries=2)
    with pytest.raises(Rejection, match="UNAVAILABLE"):
        await client.discover()
    assert (len(transport.requests), transport.delays) == (1, [])


@pytest.mark.parametrize("cursors", [["a"], ["a", "b"]], ids=["the same", "an earlier one"])
@pytest.mark.parametrize(
    ("items", "iterate"),
    [("clocks", AsyncClient.list_clocks), ("events", partial(AsyncClient.list_events, id="clock_1"))],
)
async def test_repeated_cursor_is_an_error(items: str, iterate: Any, cursors: list[str]) -> None:
    """The client would follow it for ever."""
    # A client that follows them further gets a last page.
    pages = iter([*cursors * 10, None])

    def respond(request: Request) -> Response:
        page: dict[str, Any] = {items: [], "nextCursor": next(pages)}
        return response(request, {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": page})

    transport = ScriptedTransport(respond)
    with pytest.raises(InvalidResponse, match="the cursor of an earlier page"):
        [item async for item in iterate(transport.client())]
    assert len(transport.requests) == len(cursors) + 1
