"""Public corpora of valid, invalid and naughty input.

The environment variable CORPORA_DIR names their folder.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab.soak.corpora import (
    AT,
    PLACES,
    TRANSACTION,
    Place,
    documents,
    examples,
    format_cases,
    naughty_strings,
    raw_call,
)
from tests.support.program import Program, code_params, verify_params


class Caller:
    """A signed-in user of a running program, with one connection."""

    def __init__(self, program: Program, token: str) -> None:
        self.program = program
        self.token = token
        self._connection = HTTPConnection(urlsplit(program.url).netloc, timeout=120)

    def close(self) -> None:
        self._connection.close()

    def post(self, body: bytes) -> tuple[int, list[Any]]:
        """Return the status and all responses of the body."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        self._connection.request("POST", "/rpc", body, headers)
        response = self._connection.getresponse()
        content = response.read()
        found = json.loads(content) if content else []
        return response.status, found if isinstance(found, list) else [found]

    def batch(self, method: str, every_params: list[Any]) -> list[Any]:
        return self.program.batch(method, every_params, self.token)


@pytest.fixture(scope="session")
def corpora() -> Path:
    folder = os.environ.get("CORPORA_DIR")
    if not folder:
        pytest.skip("CORPORA_DIR doesn't name the folder with the public corpora")
    return Path(folder)


@pytest.fixture(scope="session")
def token(program: Program) -> str:
    return program.sign_in("corpora@example.test")


@pytest.fixture(scope="module")
def caller(corpora: Path, program: Program, token: str) -> Iterator[Caller]:
    with closing(Caller(program, token)) as opened:
        yield opened


def test_corpora_exist(corpora: Path) -> None:
    for kind in "yni":
        assert len(documents(corpora, f"test_parsing/{kind}_*.json")) > 30
    assert len(documents(corpora, "test_transform/*.json")) > 20
    for name in ("date-time.json", "email.json"):
        cases = format_cases(corpora, name)
        assert {case["valid"] for case in cases if isinstance(case["data"], str)} == {True, False}
        assert any(not isinstance(case["data"], str) for case in cases)
    assert len(examples(corpora)) > 10
    assert len(naughty_strings(corpora)) > 500


# JSONTestSuite


# The soak sends each document in all places.
_NAMES = ["as the whole body", "as the name of a transaction", "as the id of a request", "as a member of a batch"]
_places: pytest.MarkDecorator = pytest.mark.parametrize("place", [PLACES[name] for name in _NAMES], ids=_NAMES)


def _codes(responses: list[Any]) -> set[int]:
    return {response["error"]["code"] for response in responses if "error" in response}


@_places
def test_valid_json_is_never_a_parse_error(corpora: Path, caller: Caller, place: Place) -> None:
    wrong = {}
    for name, document in documents(corpora, "test_parsing/y_*.json").items():
        status, responses = caller.post(place(document))
        if status not in (200, 204, 400) or _codes(responses) & {-32700, -32603}:
            wrong[name] = status, responses
    assert wrong == {}


@_places
def test_invalid_json_is_always_a_parse_error(corpora: Path, caller: Caller, place: Place) -> None:
    wrong = {}
    for name, document in documents(corpora, "test_parsing/n_*.json").items():
        status, responses = caller.post(place(document))
        if (status, [response["id"] for response in responses], _codes(responses)) != (400, [None], {-32700}):
            wrong[name] = status, responses
    assert wrong == {}


@_places
@pytest.mark.parametrize("pattern", ["test_parsing/i_*.json", "test_transform/*.json"])
def test_ambiguous_json_is_harmless(corpora: Path, caller: Caller, place: Place, pattern: str) -> None:
    wrong = {}
    for name, document in documents(corpora, pattern).items():
        status, responses = caller.post(place(document))
        if status not in (200, 204, 400) or -32603 in _codes(responses):
            wrong[name] = status, responses
    assert wrong == {}


def test_string_in_json_is_echoed_or_rejected(corpora: Path, caller: Caller) -> None:
    given_back = 0
    for name, document in documents(corpora, "test_parsing/y_string_*.json").items():
        # Most files are an array of one string. Its source is between the brackets.
        read = json.loads(document)
        [text], written = (read, document.strip()[1:-1]) if isinstance(read, list) else ([read], document)
        _, [response] = caller.post(raw_call("createTestClock", b'{"transactions":[%b]}' % (TRANSACTION % written)))
        if "result" in response:
            assert response["result"]["clock"]["pendingTransactions"][0]["name"] == text, name
            given_back += 1
        else:
            assert _faults(response).keys() == {"transactions[0].name"}, name
            assert not _is_name(text), name
    assert given_back > 30


def _is_name(text: str, longest: int = 120) -> bool:
    """Decision 28."""
    return 1 <= len(text) <= longest and not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def _faults(response: Any) -> dict[str, str]:
    """Return the rejected paths with their rules."""
    assert response["error"]["data"]["reason"] == "INVALID_PARAMS", response
    return {fault["path"]: fault["rule"] for fault in response["error"]["data"]["errors"]}


# Formats


def _transaction(**fields: Any) -> Any:
    return {"at": AT, "name": "Rent", "amount": 1, "currency": "EUR", "type": "EXPENSE", **fields}


def _goal(**fields: Any) -> Any:
    return {"name": "Bike", "targetAmount": 1, **fields}


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("createTestClock", lambda value: {"frozenTime": value}, "frozenTime"),
        ("createTestClock", lambda value: {"transactions": [_transaction(at=value)]}, "transactions[0].at"),
        (
            "createTestClock",
            lambda value: {"goals": [_goal(contributions=[{"at": value, "amount": 1}])]},
            "goals[0].contributions[0].at",
        ),
        ("advanceTestClock", lambda value: {"id": "clock_of_nobody", "frozenTime": value}, "frozenTime"),
    ],
    ids=["the frozenTime of a new clock", "the at of a transaction", "the at of a contribution", "an advance"],
)
def test_timestamps_follow_rfc_3339(
    corpora: Path, caller: Caller, method: str, params: Callable[[Any], Any], path: str
) -> None:
    cases = format_cases(corpora, "date-time.json")
    for case, response in zip(cases, caller.batch(method, [params(case["data"]) for case in cases]), strict=True):
        refused_as = _faults(response) if response.get("error", {}).get("code") == -32602 else {}
        if not isinstance(case["data"], str):
            assert refused_as.get(path) in ("type", "null"), case
        elif case["valid"]:
            # The timestamp was parsed, but is out of range.
            assert refused_as.get(path, "range") == "range", case
        else:
            assert refused_as == {path: "format"}, case


@pytest.mark.parametrize("params", [code_params, lambda email: verify_params(email, "123456")], ids=["code", "verify"])
def test_email_addresses_match_the_corpus(corpora: Path, caller: Caller, params: Callable[[Any], Any]) -> None:
    cases = format_cases(corpora, "email.json")
    method = "loginByEmailVerification" if "code" in params("") else "sendLoginCodeEmail"
    responses = caller.batch(method, [params(case["data"]) for case in cases])
    for case, response in zip(cases, responses, strict=True):
        # The corpus accepts IP addresses in brackets. Tickover rejects them.
        if case["valid"] and isinstance(case["data"], str) and "@[" not in case["data"]:
            assert response.get("error", {}).get("code", -32020) == -32020, case
            assert method == "loginByEmailVerification" or response["result"]["message"] == "ok", case
        else:
            assert _faults(response) == {"email": "format" if isinstance(case["data"], str) else "type"}, case


# JSON-RPC


def test_examples_of_the_json_rpc_specification(corpora: Path, caller: Caller) -> None:
    """Methods of the examples are unknown, so METHOD_NOT_FOUND replaces their results."""
    for example in examples(corpora):
        response = caller.program.post(example["request"].encode())
        if example["response"] is None:
            assert (response.status, response.body) == (204, b""), example["name"]
            continue
        expected = json.loads(example["response"])
        assert _shape(response.json) == _shape(expected), example["name"]
        assert response.status == _status_due(expected), example["name"]


def _shape(response: Any) -> Any:
    """Return the parts of a response that the specification defines: members, id and code."""
    if isinstance(response, list):
        return [_shape(member) for member in response]
    code = response["error"]["code"] if "error" in response else -32601
    assert "result" in response or isinstance(response["error"]["message"], str)
    return {"jsonrpc": response["jsonrpc"], "id": response["id"], "code": code}


def _status_due(expected: Any) -> int:
    return 400 if isinstance(expected, dict) and expected.get("error", {}).get("code") in (-32700, -32600) else 200


# Naughty strings


def _only_item(clock: Any, place: str, field: str) -> Any:
    [item] = clock[place]
    return item[field]


@pytest.mark.parametrize(
    ("params", "path", "read_back", "is_good"),
    [
        pytest.param(
            lambda text: {"transactions": [_transaction(name=text)]},
            "transactions[0].name",
            lambda clock: _only_item(clock, "pendingTransactions", "name"),
            _is_name,
            id="name",
        ),
        pytest.param(
            lambda text: {"transactions": [_transaction(category=text)]},
            "transactions[0].category",
            lambda clock: _only_item(clock, "pendingTransactions", "category"),
            lambda text: text == "" or _is_name(text, 80),
            id="category",
        ),
        pytest.param(
            lambda text: {"goals": [_goal(name=text)]},
            "goals[0].name",
            lambda clock: _only_item(clock, "goals", "name"),
            _is_name,
            id="name of a goal",
        ),
        pytest.param(
            lambda text: {"transactions": [_transaction(currency=text)]},
            "transactions[0].currency",
            lambda clock: _only_item(clock, "pendingTransactions", "currency"),
            lambda text: len(text) == 3 and text.isascii() and text.isalpha() and text.isupper(),
            id="currency",
        ),
        pytest.param(
            lambda text: {"transactions": [_transaction(type=text)]},
            "transactions[0].type",
            lambda clock: _only_item(clock, "pendingTransactions", "type"),
            lambda text: text in ("INCOME", "EXPENSE"),
            id="type",
        ),
    ],
)
def test_naughty_string_is_echoed_or_rejected(
    corpora: Path,
    caller: Caller,
    params: Callable[[str], Any],
    path: str,
    read_back: Callable[[Any], str],
    is_good: Callable[[str], bool],
) -> None:
    texts = naughty_strings(corpora)
    for text, response in zip(texts, caller.batch("createTestClock", [params(text) for text in texts]), strict=True):
        if is_good(text):
            assert read_back(response["result"]["clock"]) == text
        else:
            assert _faults(response).keys() == {path}, text


@pytest.mark.parametrize(
    ("method", "params", "reasons"),
    [
        pytest.param(
            "advanceTestClock",
            lambda text: {"id": text, "frozenTime": AT},
            {"CLOCK_NOT_FOUND"},
            id="id of a clock",
        ),
        pytest.param(
            "advanceTestClock",
            lambda text: {"id": "clock_of_nobody", "frozenTime": text},
            {"INVALID_PARAMS"},
            id="frozenTime",
        ),
        pytest.param("createTestClock", lambda text: {text: 1}, {"INVALID_PARAMS"}, id="name of a parameter"),
        pytest.param("sendLoginCodeEmail", code_params, {"INVALID_PARAMS", "RESEND_TOO_SOON", "ok"}, id="email"),
        pytest.param(
            "loginByEmailVerification",
            lambda text: verify_params("ana@example.test", text),
            {"INVALID_PARAMS", "LOGIN_REFUSED"},
            id="code",
        ),
        pytest.param(
            "loginByEmailVerification",
            lambda text: verify_params(text, "123456"),
            {"INVALID_PARAMS", "LOGIN_REFUSED"},
            id="email to verify",
        ),
        pytest.param(
            "sendLoginCodeEmail",
            lambda text: {"email": "ana@example.test", "loginCodeType": text, "emailType": text},
            {"INVALID_PARAMS"},
            id="loginCodeType and emailType",
        ),
        pytest.param(
            "loginByEmailVerification",
            lambda text: {"email": "ana@example.test", "code": "123456", "authenticationMethod": text},
            {"INVALID_PARAMS"},
            id="authenticationMethod",
        ),
    ],
)
def test_naughty_string_in_other_fields_is_handled(
    corpora: Path, caller: Caller, method: str, params: Callable[[str], Any], reasons: set[str]
) -> None:
    texts = naughty_strings(corpora)
    for text, response in zip(texts, caller.batch(method, [params(text) for text in texts]), strict=True):
        reason = response["error"]["data"]["reason"] if "error" in response else "ok"
        assert reason in reasons, text


def test_naughty_method_is_unknown_and_naughty_id_is_echoed(corpora: Path, caller: Caller) -> None:
    for text in naughty_strings(corpora):
        body = json.dumps({"jsonrpc": "2.0", "id": text, "method": text}).encode()
        status, [response] = caller.post(body)
        assert (status, response["id"], response["error"]["code"]) == (200, text, -32601), text
