"""rpc.discover and /openrpc.json: the OpenRPC document."""

import json
from typing import Any

from tests.rpc.builders import OMITTED, call, raw_call, reason_of
from tests.support.cases import each_case
from tests.support.world import World
from tickover.server.operations import OPERATIONS

DISCOVER = "rpc.discover"


async def test_document_describes_every_operation_except_discover(world: World) -> None:
    document = await world.result(DISCOVER)
    assert [method["name"] for method in document["methods"]] == [name for name in OPERATIONS if name != DISCOVER]


async def test_document_is_also_served_as_a_file(world: World) -> None:
    response = await world.request("GET", "/openrpc.json")
    assert (response.status, response.headers["content-type"]) == (200, "application/json")
    assert (await world.post(raw_call(DISCOVER, "{}"))).body == b'{"jsonrpc":"2.0","result":%b,"id":7}' % response.body
    assert json.loads(response.body)["openrpc"].startswith("1.")


@each_case("token", [None, "tko_" + "A" * 43, "nonsense"])
async def test_token_is_not_required_and_ignored(world: World, token: str | None) -> None:
    assert "openrpc" in await world.result(DISCOVER, {}, token)


@each_case(
    ("params", "faults"),
    [({"method": "x"}, {"method": "unknown"}), ([], {"params": "type"}), (["x"], {"params": "type"})],
)
async def test_parameters_are_rejected(world: World, params: Any, faults: dict[str, str]) -> None:
    assert await world.faults(DISCOVER, params) == faults


async def test_discover_works_without_the_store(world: World) -> None:
    await world.store.close()
    assert "openrpc" in await world.result(DISCOVER)
    assert (await world.request("GET", "/openrpc.json")).status == 200


async def test_discover_works_in_a_batch_and_as_notification(world: World) -> None:
    response = await world.post([call(DISCOVER, {}, "a"), call(DISCOVER, {}, OMITTED)])
    assert [member["id"] for member in response.json] == ["a"]
    assert (await world.post(call(DISCOVER, {}, OMITTED))).status == 204


@each_case("method", ["rpc.Discover", "rpc.discover ", "discover", "system.listMethods"])
async def test_method_name_is_exact(world: World, method: str) -> None:
    assert reason_of(await world.call(method)) == "METHOD_NOT_FOUND"


@each_case("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_file_accepts_only_get_and_head(world: World, method: str) -> None:
    response = await world.request(method, "/openrpc.json")
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")
