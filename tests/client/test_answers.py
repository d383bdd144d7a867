"""Answers that are none: whatever is there instead of a Tickover server, one sentence says so and names the url."""

import json
import re
from typing import Any

import pytest

from tests.client.driving import Opener, done, raised
from tests.client.servers import (
    CLOCK,
    LETTER,
    Scripted,
    Step,
    floods,
    refusal,
    result,
    says,
    scripted,
)
from tickover.client import BadAnswer, ClientError, Fault, Reason, Rejection, Unreachable
from tickover.client.calls import discover
from tickover.client.exchanges import Reply

PAGE = "<!doctype html><title>It works!</title>"
TOKEN = "tko_this_is_nobody_s_business"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CLOCK.items() if key != name}


def envelope(**members: Any) -> Step:
    """An answer with these members, where `id` stays that of the call unless it is one of them."""

    def step(handler: Any, call: Any) -> None:
        handler.say(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], **members}))

    return step


async def bad_answer(opened: Opener, server: Scripted) -> BadAnswer:
    async with opened(server.url, TOKEN) as client:
        error: BadAnswer = await raised(BadAnswer, lambda: client.get_clock("clock_1"))
    assert isinstance(error, ClientError)
    assert str(error).startswith(f"{server.url}/rpc ")
    assert TOKEN not in str(error)
    assert error.__cause__ is None
    assert len(server.asked) == 1, "it would not be better the next time"
    return error


NOT_TICKOVER = "answered with HTTP status {} and no JSON-RPC; is this the address of a Tickover server, without /rpc?"
NOT_READ = "answered what this client cannot read{}; is one of the two older than the other?"
OTHER_CALL = "answered another call than the one that was made; is something in between?"
UNKNOWN = "refused the call in a way that this client does not know; it may be too old for this server."


@pytest.mark.parametrize(
    ("step", "message"),
    [
        pytest.param(says(PAGE, kind="text/html"), NOT_TICKOVER.format(200), id="a page"),
        pytest.param(says(PAGE, 404, "text/html"), NOT_TICKOVER.format(404), id="a page that is not there"),
        pytest.param(says("Bad gateway", 502, "text/plain"), NOT_TICKOVER.format(502), id="a gateway"),
        pytest.param(says(""), NOT_TICKOVER.format(200), id="nothing"),
        pytest.param(says("null"), NOT_TICKOVER.format(200), id="null"),
        pytest.param(says("[]"), NOT_TICKOVER.format(200), id="a batch"),
        pytest.param(says('{"jsonrpc": "2.0", "id": 1, "resu'), NOT_TICKOVER.format(200), id="cut off"),
        pytest.param(says(b'{"jsonrpc": "2.0", "id": "\xff"}'), NOT_TICKOVER.format(200), id="no UTF-8"),
        pytest.param(says('{"jsonrpc":' * 100_000), NOT_TICKOVER.format(200), id="too deep"),
        pytest.param(says('{"id": 1, "result": {}}'), NOT_TICKOVER.format(200), id="another version"),
        pytest.param(floods, NOT_TICKOVER.format(200), id="without end"),
        pytest.param(envelope(), NOT_TICKOVER.format(200), id="neither result nor error"),
        pytest.param(envelope(error={"code": 1}), NOT_TICKOVER.format(200), id="half an error"),
        pytest.param(envelope(error={"code": 1, "message": "x"}), NOT_TICKOVER.format(200), id="no reason at all"),
        pytest.param(envelope(id=-1, result={"clock": CLOCK}), OTHER_CALL, id="another id"),
        pytest.param(envelope(id=None, result={"clock": CLOCK}), OTHER_CALL, id="no id"),
        pytest.param(
            envelope(id=-1, error={"code": 1, "message": "x", "data": {"reason": "CLOCK_NOT_FOUND"}}),
            OTHER_CALL, id="another call's error",
        ),
        pytest.param(refusal("NEVER_HEARD_OF"), UNKNOWN, id="an unknown reason"),
        pytest.param(refusal(["INTERNAL"]), UNKNOWN, id="a reason that is no word"),  # type: ignore[arg-type]
        pytest.param(refusal("INVALID_PARAMS", errors=[{"path": "x"}]), UNKNOWN, id="half a fault"),
        pytest.param(result({}), NOT_READ.format(""), id="no clock"),
        pytest.param(result({"clock": without("goals")}), NOT_READ.format(" (at `$.clock`)"), id="no goals"),
        pytest.param(
            result({"clock": {**CLOCK, "status": TOKEN}}), NOT_READ.format(" (at `$.clock.status`)"),
            id="another status, which could be the token",
        ),
        pytest.param(
            result({"clock": {**CLOCK, "frozenTime": "today"}}), NOT_READ.format(" (at `$.clock.frozenTime`)"),
            id="no timestamp",
        ),
    ],
)  # fmt: skip
async def test_what_is_no_answer_is_told_in_a_sentence(opened: Opener, step: Step, message: str) -> None:
    with scripted(step) as server:
        assert str(await bad_answer(opened, server)) == f"{server.url}/rpc {message}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(opened: Opener, status: int) -> None:
    with scripted(says("{}")) as elsewhere, scripted(says("", status, Location=f"{elsewhere.url}/rpc?x=1")) as server:
        error = await bad_answer(opened, server)
        told = f"redirects to {elsewhere.url}, and redirects are not followed; give the address it leads to."
        assert str(error) == f"{server.url}/rpc {told}"
        assert elsewhere.asked == []


@pytest.mark.parametrize("place", ["mailto:ana@example.test", "http://elsewhere.test:port"])
async def test_a_redirect_to_what_is_no_url_is_told_in_a_sentence(opened: Opener, place: str) -> None:
    with scripted(says("", 302, Location=place)) as server:
        async with opened(server.url, TOKEN, retries=0) as client:
            error = await raised(Unreachable, client.list_page)
        assert str(error).startswith(f"{server.url} broke the connection off, or does not speak HTTP;")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (says(PAGE, 404, "text/html"), NOT_TICKOVER.format(404)),
        (says("Oh dear", 500, "text/plain"), NOT_TICKOVER.format(500)),
        (says('{"jsonrpc": "2.0", "id": null, "result": {}}', 404), NOT_TICKOVER.format(404)),
        (says(json.dumps({**LETTER, "sentAt": 5})), NOT_READ.format(" (at `$.sentAt`)")),
    ],
)
async def test_a_mailbox_that_is_none_is_told_in_a_sentence(opened: Opener, step: Step, message: str) -> None:
    with scripted(step) as server:
        async with opened(server.url) as client:
            error = await raised(BadAnswer, lambda: client.latest_letter("a@example.test"))
        assert str(error) == f"{server.url}/mailbox/latest?to=a%40example.test {message}"


async def test_a_mailbox_can_be_refused(opened: Opener) -> None:
    with scripted(refusal("INVALID_REQUEST", 400)) as server:
        async with opened(server.url) as client:
            error = await raised(Rejection, lambda: client.latest_letter("a@example.test"))
        assert error.reason is Reason.INVALID_REQUEST


@pytest.mark.parametrize("status", [200, 401, 429, 500])
async def test_a_rejection_is_one_whatever_the_status(opened: Opener, status: int) -> None:
    with scripted(refusal("RATE_LIMITED", status, retryAfterSeconds=45)) as server:
        async with opened(server.url) as client:
            error = await raised(Rejection, lambda: client.get_clock("clock_1"))
        assert (error.reason, error.message) == (Reason.RATE_LIMITED, "It is RATE_LIMITED.")
        assert (error.details, error.faults) == ({"retryAfterSeconds": 45}, ())
        assert len(server.asked) == 1


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_known(reason: Reason) -> None:
    error = {"code": -32000, "message": "No.", "data": {"reason": reason}}
    reply = Reply("http://x/rpc", 200, json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())
    with pytest.raises(Rejection, match=r"^No\.$") as caught:
        discover().read(reply)
    assert caught.value.reason is reason


async def test_a_request_that_could_not_be_read_is_refused_without_an_id(opened: Opener) -> None:
    error = {"code": -32600, "message": "Too large.", "data": {"reason": "BODY_TOO_LARGE"}}
    with scripted(envelope(id=None, error=error)) as server:
        async with opened(server.url) as client:
            assert (await raised(Rejection, client.discover)).reason is Reason.BODY_TOO_LARGE


async def test_faults_are_faults(opened: Opener) -> None:
    errors = [
        {"path": "id", "rule": "required", "message": "is required"},
        {"path": "at", "rule": "format", "message": "no", "got": 5, "and": "more"},
    ]
    with scripted(refusal("INVALID_PARAMS", errors=errors)) as server:
        async with opened(server.url) as client:
            error = await raised(Rejection, lambda: client.get_clock("clock_1"))
    assert error.faults == (Fault("id", "required", "is required"), Fault("at", "format", "no", 5))


async def test_what_a_newer_server_answers_besides_is_left_alone(opened: Opener) -> None:
    clock = {**CLOCK, "colour": "blue", "goals": [], "pendingTransactions": []}
    with scripted(result({"clock": clock, "more": 1})) as server:
        async with opened(server.url) as client:
            assert (await done(client.get_clock("clock_1"))).id == "clock_1"


@pytest.mark.parametrize("written", ["0.1", "1.10", "1000000000", "12345678.12", "1e-7", "-0.3"])
async def test_amounts_are_the_decimals_that_the_answer_shows(opened: Opener, written: str) -> None:
    names = ("targetAmount", "currentAmount", "remainingAmount", "progressPercent")
    amounts_of_it = ", ".join(f'"{name}": {written}' for name in names)
    goal = f'{{"id": "1", "name": "Trip", {amounts_of_it}, "contributions": [], "upcomingContributions": []}}'

    def step(handler: Any, call: Any) -> None:
        content = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"clock": CLOCK}})
        handler.say(200, re.sub(r'"goals": \[\]', f'"goals": [{goal}]', content))

    with scripted(step) as server:
        async with opened(server.url) as client:
            (got,) = (await done(client.get_clock("clock_1"))).goals
    amounts = {got.target_amount, got.current_amount, got.remaining_amount, got.progress_percent}
    assert {str(amount).replace("E", "e") for amount in amounts} == {written}
