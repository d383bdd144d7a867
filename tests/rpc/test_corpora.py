"""Public corpora of valid and invalid input. The environment variable CORPORA_DIR names their folder.

`make soak` sends them to the real program, and in more places.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lab.soak.corpora import PLACES, documents, examples, format_cases
from tests.rpc.builders import send
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
