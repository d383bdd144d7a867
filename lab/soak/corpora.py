"""Readers of public corpora of valid, invalid and naughty input.

They are JSONTestSuite, two format files of the JSON-Schema-Test-Suite, the examples of the JSON-RPC 2.0 specification,
and the big list of naughty strings.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.program import code_params, verify_params

AT = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"


def documents(corpora: Path, pattern: str) -> dict[str, bytes]:
    """Return the files of JSONTestSuite as bytes, because some are not UTF-8."""
    files = sorted((corpora / "JSONTestSuite").glob(pattern))
    assert files, f"there is no {pattern} in JSONTestSuite"
    return {file.name: file.read_bytes() for file in files}


def format_cases(corpora: Path, name: str) -> list[Any]:
    folder = corpora / "JSON-Schema-Test-Suite" / "tests" / "draft2020-12" / "optional" / "format"
    cases: list[Any] = json.loads((folder / name).read_bytes())[0]["tests"]
    assert cases
    return cases


def examples(corpora: Path) -> list[Any]:
    [file] = (corpora / "jsonrpc-spec-examples").glob("*.json")
    examples: list[Any] = json.loads(file.read_bytes())
    return examples


def naughty_strings(corpora: Path) -> list[str]:
    strings: list[str] = json.loads((corpora / "big-list-of-naughty-strings" / "blns.json").read_bytes())
    return strings


def raw_call(method: str, params: bytes, id: bytes = b"1") -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"method":"%b","params":%b}' % (id, method.encode(), params)


TRANSACTION = b'{"at":"%b","name":%%b,"amount":1,"currency":"EUR","type":"INCOME"}' % AT.encode()

Place = Callable[[bytes], bytes]
PLACES: dict[str, Place] = {
    "as the whole body": lambda document: document,
    "as params": lambda document: raw_call("createTestClock", document),
    "as the name of a transaction": lambda document: raw_call(
        "createTestClock", b'{"transactions":[%b]}' % (TRANSACTION % document)
    ),
    "as goals": lambda document: raw_call("createTestClock", b'{"goals":%b}' % document),
    "as the id of a clock": lambda document: raw_call(
        "advanceTestClock", b'{"id":%b,"frozenTime":"%b"}' % (document, AT.encode())
    ),
    "as the id of a request": lambda document: raw_call("createTestClock", b"{}", id=document),
    "as a member of a batch": lambda document: b"[0,%b]" % document,
}


def bodies(corpora: Path) -> Iterator[bytes]:
    """Yield all documents in all places, and all values in parameters of their kind."""
    for document in documents(corpora, "test_*/*.json").values():
        for place in PLACES.values():
            yield place(document)
    for case in format_cases(corpora, "date-time.json"):
        yield _body("createTestClock", {"frozenTime": case["data"]})
        yield _body("advanceTestClock", {"id": "clock_of_nobody", "frozenTime": case["data"]})
    for case in format_cases(corpora, "email.json"):
        yield from _email_bodies(case["data"])
    for example in examples(corpora):
        yield example["request"].encode()
    for text in naughty_strings(corpora):
        yield from _email_bodies(text)
        yield json.dumps({"jsonrpc": "2.0", "id": text, "method": text}).encode()
        for place in PLACES.values():
            yield place(json.dumps(text).encode())


def _email_bodies(email: Any) -> Iterator[bytes]:
    yield _body("sendLoginCodeEmail", code_params(email))
    yield _body("loginByEmailVerification", verify_params(email, "123456"))


def _body(method: str, params: Any) -> bytes:
    return raw_call(method, json.dumps(params).encode())
