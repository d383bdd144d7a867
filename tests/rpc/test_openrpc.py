"""The OpenRPC document: valid, complete, and consistent with responses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT7

from scripts.record_examples import FILE, generate
from tests.rpc.builders import goal, transaction
from tests.support.npm_packages import default_exports
from tests.support.openrpc_document import PUBLIC_URL, Draft7Validator, document, method, resolve, validation_errors
from tests.support.world import World
from tickover.api.errors import Reason
from tickover.server.rpc.openrpc import DESCRIBED_OPERATIONS, describe
from tickover.server.rpc.reasons import REASONS
from tickover.server.sign_in.tokens import Permission

every_method = pytest.mark.parametrize("name", DESCRIBED_OPERATIONS)


# Validity


def test_document_is_valid_openrpc() -> None:
    assert list(invalid_parts(document())) == []


def invalid_parts(described: Any) -> Iterator[str]:
    meta, schemas = default_exports("@open-rpc/meta-schema", "@json-schema-tools/meta-schema")
    # Both use a dialect of draft 7, and refer to each other by URLs that must not be fetched.
    resource = DRAFT7.create_resource(schemas)
    registry: Registry[Any] = Registry().with_resources([(schemas["$id"], resource), (schemas["$id"][:-1], resource)])
    return (fault.json_path for fault in Draft7Validator(meta, registry=registry).iter_errors(described))


# Completeness


def test_public_url_with_special_characters_is_escaped() -> None:
    address = "http://[::1]:8000/a\"b\\c'<d>"
    described = json.loads(describe(address))
    assert described["servers"][0]["url"] == f"{address}/rpc"
    assert PUBLIC_URL not in json.dumps(described)
    assert f"{address}/login#token=" in described["methods"][2]["examples"][1]["result"]["value"]["loginUrl"]


@every_method
def test_method_has_all_its_reasons(name: str) -> None:
    described = method(name)
    errors = [resolve(error) for error in described["errors"]]
    assert len({error["code"] for error in errors}) == len(errors), "OpenRPC wants every code once"
    reasons = {reason: error["code"] for error in errors for reason in error["data"]["properties"]["reason"]["enum"]}
    assert reasons == {reason: REASONS[Reason(reason)].code for reason in described["x-reasons"]}
    every_call = {"PARSE_ERROR", "INVALID_REQUEST", "INVALID_PARAMS", "UNAVAILABLE", "INTERNAL"}
    by_http = {"METHOD_NOT_ALLOWED", "UNSUPPORTED_MEDIA_TYPE", "BODY_TOO_LARGE"}
    needs = DESCRIBED_OPERATIONS[name].needs or 0
    token = {"UNAUTHENTICATED"} if needs else set()
    forbidden = {"FORBIDDEN"} if needs > Permission.READ else set()
    assert set(reasons) == every_call | by_http | token | forbidden | set(DESCRIBED_OPERATIONS[name].all_reasons)


def test_only_calls_that_store_something_or_sign_in_are_rate_limited() -> None:
    limited = [each for each in DESCRIBED_OPERATIONS.values() if Reason.RATE_LIMITED in each.all_reasons]
    assert [each.name for each in limited if not (each.writes or each.limited_per_client)] == []


# Examples


async def test_examples_are_up_to_date(tmp_path: Path) -> None:
    described = json.loads(FILE.read_text("utf-8"))
    assert await generate(tmp_path) == described, "run `python -m scripts.record_examples`, and read what it changes"


@every_method
def test_method_has_a_valid_example(name: str) -> None:
    described = method(name)
    schemas = {param["name"]: param["schema"] for param in described["params"]}
    assert described["examples"]
    for example in described["examples"]:
        params = {param["name"]: param["value"] for param in example["params"]}
        assert validation_errors(described["x-params"], params) == []
        assert [
            complaint for key, value in params.items() for complaint in validation_errors(schemas[key], value)
        ] == []
        assert validation_errors(described["result"]["schema"], example["result"]["value"], closed=True) == []


def test_every_reason_except_internal_has_an_example() -> None:
    for reason, about in document()["x-reasons"].items():
        if reason == Reason.INTERNAL:
            assert "example" not in about
            continue
        assert (about["example"]["code"], about["example"]["data"]["reason"]) == (about["code"], reason)
        assert validation_errors(about["data"], about["example"]["data"], closed=True) == []


# Consistency with responses


async def test_file_and_discover_return_the_same_document_without_the_store(world: World) -> None:
    await world.store.close()
    page = await world.request("GET", "/openrpc.json")
    assert page.json == document() == await world.result("rpc.discover")
    assert await world.faults("rpc.discover", {"method": "x"}) == {"method": "unknown"}


async def test_results_with_extreme_values_match_their_schemas(world: World, token: str) -> None:
    async def result_of(called: str, /, **params: Any) -> Any:
        result = await world.result(called, params, token)
        assert validation_errors(method(called)["result"]["schema"], result, closed=True) == [], called
        return result

    odd = [transaction(at="2027-01-01T12:00:00.5Z", amount=0.1, category=""), transaction(name="𝄞", amount=1e9)]
    over = goal(
        targetAmount=0.3,
        contributions=[{"at": f"2027-02-01T00:00:{second:02}Z", "amount": 0.1} for second in range(60)],
    )
    params = {"frozenTime": "2027-01-01T12:00:00.25Z", "transactions": odd * 50, "goals": [goal(), over]}
    clock = (await result_of("createTestClock", **params))["clock"]["id"]
    for at in ("2027-01-01T12:00:00.5Z", "2027-02-01T00:00:01Z", "2037-01-01T12:00:00.25Z"):
        await result_of("getTestClock", id=clock, at=at)
        await result_of("forkTestClock", id=clock, at=at)
        await result_of("advanceTestClock", id=clock, frozenTime=at)
    opening = {"EUR": -0.1, "USD": 10**12}
    await result_of("listTestClockEvents", id=clock, openingBalances=opening, limit=500)
    await result_of("listTestClockEvents", id=clock, limit=1)
    await result_of("getTestClockBalances", id=clock, openingBalances=opening)
    expectations = [
        {"balance": {"currency": "EUR", "atLeast": 10**12}},
        {"posted": {"name": "none", "by": "2037-01-01T12:00:00.25Z"}},
        {"balance": {"currency": "EUR", "atLeast": -1}},
    ]
    assert not (await result_of("checkTestClock", id=clock, expectations=expectations))["ok"]
