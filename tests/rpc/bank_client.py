"""Requests to the bank of a world."""

import json
from base64 import b64decode, b64encode
from typing import Any, NamedTuple

from tests.support.world import HttpResponse, World


def day(number: int) -> str:
    return f"2027-01-{number:02}T00:00:00Z"


def payment(number: int, amount: float, **members: Any) -> dict[str, Any]:
    entry = {"at": day(number), "name": f"Payment {number}", "amount": amount, "currency": "EUR", "type": "EXPENSE"}
    return {**entry, **members}


async def send_plaid(world: World, path: str, members: Any) -> HttpResponse:
    body = members if isinstance(members, bytes) else json.dumps(members).encode()
    return await world.request("POST", f"/plaid{path}", body, {"Content-Type": "application/json"})


class Item(NamedTuple):
    """A program that is connected with Plaid."""

    world: World
    access_token: str
    id: str

    async def send(self, path: str, **members: Any) -> HttpResponse:
        call = {"client_id": "id", "secret": "secret", "access_token": self.access_token, **members}
        return await send_plaid(self.world, path, call)

    async def call(self, path: str, **members: Any) -> Any:
        """Return the response of a call that must succeed."""
        response = await self.send(path, **members)
        assert response.status == 200, response
        return response.json

    async def error(self, path: str, **members: Any) -> tuple[int, str, str]:
        """Return the status, type and code of a call that must fail."""
        return error_of(await self.send(path, **members))


def error_of(response: HttpResponse) -> tuple[int, str, str]:
    return response.status, response.json["error_type"], response.json["error_code"]


async def connect_plaid(world: World, token: str, clock: str, **params: Any) -> Item:
    connected = await world.result("connectTestClock", {"id": clock, "protocol": "PLAID", **params}, token)
    call = {"client_id": "id", "secret": "secret", "public_token": connected["publicToken"]}
    exchanged = (await send_plaid(world, "/item/public_token/exchange", call)).json
    return Item(world, exchanged["access_token"], exchanged["item_id"])


class Simplefin(NamedTuple):
    """A program that is connected with SimpleFIN."""

    world: World
    access_url: str

    async def get(self, query: str = "", credentials: str | None = None) -> HttpResponse:
        given = self.access_url.split("//")[1].split("@")[0] if credentials is None else credentials
        headers = {"Authorization": f"Basic {b64encode(given.encode()).decode()}"}
        return await self.world.request("GET", f"/simplefin/accounts{query}", b"", headers)

    async def accounts(self, query: str = "") -> Any:
        response = await self.get(query)
        assert response.status == 200, response
        return response.json["accounts"]


async def claim(world: World, setup_token: str) -> HttpResponse:
    path = b64decode(setup_token).decode().removeprefix("https://tickover.example.test")
    return await world.request("POST", path)


async def connect_simplefin(world: World, token: str, clock: str, **params: Any) -> Simplefin:
    connected = await world.result("connectTestClock", {"id": clock, "protocol": "SIMPLEFIN", **params}, token)
    return Simplefin(world, (await claim(world, connected["setupToken"])).body.decode())
