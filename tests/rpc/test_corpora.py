"""Public corpora of valid, invalid and naughty input. The environment variable CORPORA_DIR names their folder.

`make soak` sends them to the real program, and in more places.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.soak.corpora import AT, PLACES, TRANSACTION, documents, examples, format_cases, naughty_strings, raw_call
from tests.rpc.builders import goal, login, send, transaction
from tests.support.world import World


@pytest.fixture
def corpora() -> Path:
    folder = os.environ.get("CORPORA_DIR")
    if not folder:
        pytest.skip("CORPORA_DIR doesn't name the folder with the public corpora")
    return Path(folder)


def responses_in(content: bytes) -> list[Any]:
    found = json.loads(content) if content else []
    return found if isinstance(found, list) else [found]


def codes(responses: list[Any]) -> set[int]:
    return {response["error"]["code"] for response in responses if "error" in response}


def faults_of(response: Any) -> dict[str, str]:
    assert response["error"]["data"]["reason"] == "INVALID_PARAMS", response
    return {fault["path"]: fault["rule"] for fault in response["error"]["data"]["errors"]}


def is_name(text: str) -> bool:
    return 1 <= len(text) <= 120 and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


@pytest.mark.parametrize("place", ["as the whole body", "as the name of a transaction", "as the id of a request"])
@pytest.mark.parametrize(
    "pattern", ["test_parsing/y_*.json", "test_parsing/n_*.json", "test_parsing/i_*.json", "test_transform/*.json"]
)
async def test_json_test_suite(
    corpora: Path, world: World, token: str, subtests: pytest.Subtests, pattern: str, place: str
) -> None:
    """Valid JSON is never a parse error, invalid JSON always is, and ambiguous JSON is harmless."""
    found = documents(corpora, pattern)
    assert len(found) > 20
    for name, document in found.items():
        with subtests.test(name):
            response = await world.post(PLACES[place](document), token)
            responses = responses_in(response.body)
            if "/n_" in pattern:
                assert (response.status, [one["id"] for one in responses], codes(responses)) == (400, [None], {-32700})
            else:
                assert response.status in (200, 204, 400)
                assert not codes(responses) & ({-32700, -32603} if "/y_" in pattern else {-32603})


async def test_string_in_json_is_echoed_or_rejected(corpora: Path, world: World, token: str) -> None:
    given_back = 0
    for name, document in documents(corpora, "test_parsing/y_string_*.json").items():
        # Most files are an array of one string. Its source is between the brackets.
        read = json.loads(document)
        [text], written = (read, document.strip()[1:-1]) if isinstance(read, list) else ([read], document)
        params = b'{"frozenTime":"%b","transactions":[%b]}' % (AT.encode(), TRANSACTION % written)
        body = raw_call("createTestClock", params)
        response = (await world.post(body, token)).json
        if "result" in response:
            assert response["result"]["clock"]["transactions"][0]["name"] == text, name
            given_back += 1
        else:
            assert faults_of(response).keys() == {"transactions[0].name"}, name
            assert not is_name(text), name
    assert given_back > 30


async def test_timestamps_follow_rfc_3339(corpora: Path, world: World, token: str) -> None:
    for case in format_cases(corpora, "date-time.json"):
        response = (await world.call("createTestClock", {"frozenTime": case["data"]}, token)).json
        rule = faults_of(response).get("frozenTime") if "error" in response else None
        if not isinstance(case["data"], str):
            assert rule in ("type", "null"), case
        elif case["valid"]:
            # The timestamp was parsed, but may be out of range.
            assert rule in (None, "range"), case
        else:
            assert rule == "format", case


async def test_email_addresses_match_the_corpus(corpora: Path, world: World) -> None:
    for case in format_cases(corpora, "email.json"):
        response = (await world.call("sendLoginCodeEmail", send(case["data"]))).json
        # The corpus accepts IP addresses in brackets. Tickover rejects them.
        if case["valid"] and isinstance(case["data"], str) and "@[" not in case["data"]:
            assert response["result"]["message"] == "ok", case
        else:
            assert faults_of(response) == {"email": "format" if isinstance(case["data"], str) else "type"}, case
        world.pass_time(minutes=1)


async def test_examples_of_the_json_rpc_specification(corpora: Path, world: World) -> None:
    """Methods of the examples are unknown, so METHOD_NOT_FOUND replaces their results."""

    def shape(response: Any) -> Any:
        code = response["error"]["code"] if "error" in response else -32601
        return {"jsonrpc": response["jsonrpc"], "id": response["id"], "code": code}

    for example in examples(corpora):
        response = await world.post(example["request"].encode())
        if example["response"] is None:
            assert (response.status, response.body) == (204, b""), example["name"]
            continue
        expected = json.loads(example["response"])
        assert list(map(shape, responses_in(response.body))) == list(
            map(shape, expected if isinstance(expected, list) else [expected])
        ), example["name"]
        assert isinstance(response.json, list) == isinstance(expected, list), example["name"]


# Naughty strings


@pytest.mark.parametrize(
    ("params", "path", "is_good"),
    [
        (lambda text: {"transactions": [transaction(name=text)]}, "transactions[0].name", is_name),
        (lambda text: {"goals": [goal(name=text)]}, "goals[0].name", is_name),
        (
            lambda text: {"transactions": [transaction(currency=text)]},
            "transactions[0].currency",
            lambda text: len(text) == 3 and text.isascii() and text.isalpha() and text.isupper(),
        ),
        (lambda text: {text: 1}, None, lambda text: False),
    ],
    ids=["name", "name of a goal", "currency", "name of a parameter"],
)
async def test_naughty_string_is_echoed_or_rejected(
    corpora: Path,
    world: World,
    token: str,
    params: Callable[[str], Any],
    path: str | None,
    is_good: Callable[[str], bool],
) -> None:
    for text in naughty_strings(corpora):
        response = (await world.call("createTestClock", params(text), token)).json
        if is_good(text):
            clock = response["result"]["clock"]
            assert text in [*clock["pendingTransactions"], *clock["goals"]][0].values()
        else:
            faults = faults_of(response)
            assert path is None or faults.keys() == {path}, text


@pytest.mark.parametrize(
    ("method", "params", "reasons"),
    [
        ("advanceTestClock", lambda text: {"id": text, "frozenTime": "2027-01-01T00:00:00Z"}, {"CLOCK_NOT_FOUND"}),
        ("sendLoginCodeEmail", send, {"INVALID_PARAMS", "RESEND_TOO_SOON", "ok"}),
        ("loginByEmailVerification", login, {"INVALID_PARAMS", "LOGIN_REFUSED"}),
        ("loginByEmailLink", lambda text: {"token": text}, {"LOGIN_REFUSED"}),
    ],
    ids=["id", "email", "code", "link"],
)
async def test_naughty_string_in_other_fields_is_handled(
    corpora: Path, world: World, token: str, method: str, params: Callable[[str], Any], reasons: set[str]
) -> None:
    for text in naughty_strings(corpora):
        response = (await world.call(method, params(text), token)).json
        assert (response["error"]["data"]["reason"] if "error" in response else "ok") in reasons, text


async def test_naughty_method_is_unknown_and_naughty_id_is_echoed(corpora: Path, world: World) -> None:
    for text in naughty_strings(corpora):
        response = await world.post({"jsonrpc": "2.0", "id": text, "method": text})
        assert (response.status, response.json["id"], response.json["error"]["code"]) == (200, text, -32601), text
