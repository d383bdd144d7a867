"""Plaid's endpoints about a user's clocks: institutions, public tokens, link tokens, and what Link itself calls."""

import re
from typing import Any

import pytest

from tests.rpc.bank_client import Item, connect_plaid, day, error_of, send_plaid
from tests.support.world import HttpResponse, World
from tickover.server.bank import made_up

START = "2027-01-01T00:00:00Z"
INVALID_KEYS = (400, "INVALID_INPUT", "INVALID_API_KEYS")
INVALID_INSTITUTION = (400, "INVALID_INPUT", "INVALID_INSTITUTION")
INVALID_LINK_TOKEN = (400, "INVALID_INPUT", "INVALID_LINK_TOKEN")
INVALID_FIELD = (400, "INVALID_REQUEST", "INVALID_FIELD")
NOT_SUPPORTED = (400, "ITEM_ERROR", "PRODUCTS_NOT_SUPPORTED")
NEW_ITEM = {"institution_id": "ins_109508", "initial_products": ["transactions"]}
NEW_LINK = {
    "client_name": "App", "language": "en", "country_codes": ["US"], "user": {"client_user_id": "1"},
    "products": ["transactions"],
}  # fmt: skip


class App:
    """An app whose secret is an access token."""

    def __init__(self, world: World, token: str, secret: str) -> None:
        self.world = world
        self.token = token
        self.secret = secret

    async def send(self, path: str, **members: Any) -> HttpResponse:
        return await send_plaid(self.world, path, {"client_id": "any", "secret": self.secret, **members})

    async def call(self, path: str, **members: Any) -> Any:
        response = await self.send(path, **members)
        assert response.status == 200, response
        return response.json

    async def error(self, path: str, **members: Any) -> tuple[int, str, str]:
        return error_of(await self.send(path, **members))

    async def create_clock(self, **params: Any) -> str:
        clock = await self.world.create(self.token, **{"frozenTime": START, **params})
        self.world.pass_time(seconds=1)
        id: str = clock["id"]
        return id

    async def new_item(self, **members: Any) -> Item:
        public_token = (await self.call("/sandbox/public_token/create", **{**NEW_ITEM, **members}))["public_token"]
        exchanged = await self.call("/item/public_token/exchange", public_token=public_token)
        return Item(self.world, exchanged["access_token"], exchanged["item_id"])

    async def institutions(self) -> list[dict[str, Any]]:
        found = await self.call("/institutions/get", count=500, offset=0, country_codes=["US"])
        institutions: list[dict[str, Any]] = found["institutions"]
        return institutions

    async def link_token(self, **members: Any) -> str:
        token: str = (await self.call("/link/token/create", **{**NEW_LINK, **members}))["link_token"]
        return token


async def open_app(world: World, token: str, **params: Any) -> App:
    created = await world.result("createAccessToken", {"name": "app", **params}, token)
    return App(world, token, created["token"])


@pytest.fixture
async def app(world: World, token: str) -> App:
    return await open_app(world, token)


# Keys


@pytest.mark.parametrize(
    ("path", "members"),
    [
        ("/sandbox/public_token/create", NEW_ITEM),
        ("/institutions/get", {"count": 1, "offset": 0, "country_codes": ["US"]}),
        ("/institutions/search", {"query": "a", "country_codes": ["US"]}),
        ("/link/token/create", NEW_LINK),
        ("/link/token/get", {"link_token": "x"}),
    ],
)
async def test_secret_must_be_an_access_token_that_can_write(
    world: World, app: App, path: str, members: dict[str, Any]
) -> None:
    await app.create_clock()
    read_only = await open_app(world, app.token, readOnly=True)
    item = await app.new_item()
    for secret in ("any", app.token, read_only.secret, app.secret[:-1], item.access_token):
        assert await App(world, app.token, secret).error(path, **members) == INVALID_KEYS, secret
    response = await app.send(path, **members)
    assert error_of(response) == INVALID_LINK_TOKEN if "link_token" in members else response.status == 200
    [listed] = [
        each for each in (await world.result("listAccessTokens", {}, app.token))["tokens"] if not each.get("readOnly")
    ]
    await world.result("revokeAccessToken", {"id": listed["id"]}, app.token)
    assert await app.error(path, **members) == INVALID_KEYS


# Public tokens


async def test_item_is_of_the_clock_that_the_request_means(world: World, app: App) -> None:
    create = app.create_clock
    labelled = await create(name="Labelled", labels={"institution": "ins_109508"})
    older, newer = await create(name="Trip"), await create(name="Trip")
    newest = await create(name="x" * 130)
    other = await open_app(world, await world.sign_in("ben@example.test"))
    foreign = await other.create_clock(name="Foreign")
    ids = {each["name"]: each["institution_id"] for each in await app.institutions()}
    cases: list[tuple[str | None, str, str]] = [
        ("Labelled", ids["Trip"], labelled),
        (older, ids["Labelled"], older),
        ("Trip", "ins_109508", newer),
        ("user_good", "ins_109508", labelled),
        (None, ids["Trip"], older),
        (foreign, "ins_1", newest),
        ("Foreign", (await other.institutions())[0]["institution_id"], newest),
        (None, "", newest),
    ]
    for username, institution, clock in cases:
        item = await app.new_item(institution_id=institution, options={"override_username": username})
        connected = (await world.result("listTestClockConnections", {"id": clock}, app.token))["connections"]
        assert item.id in [each["id"] for each in connected], (username, institution)
    found = (await item.call("/item/get"))["item"]
    assert (found["institution_id"], found["institution_name"]) == (ids["x" * 120], "x" * 120)
    await world.result("updateTestClock", {"id": newest, "name": None}, app.token)
    renamed = (await item.call("/item/get"))["item"]
    assert (renamed["institution_id"], renamed["institution_name"]) == (ids["x" * 120], "Tickover Bank")


async def test_user_without_a_clock_has_no_institution(app: App) -> None:
    response = await app.send("/sandbox/public_token/create", **NEW_ITEM)
    assert error_of(response) == INVALID_INSTITUTION
    assert "no clock" in response.json["error_message"]


async def test_clock_has_at_most_20_items(app: App) -> None:
    await app.create_clock()
    for _ in range(20):
        await app.call("/sandbox/public_token/create", **NEW_ITEM)
    error = await app.error("/sandbox/public_token/create", **NEW_ITEM)
    assert error == (429, "RATE_LIMIT_EXCEEDED", "ADDITION_LIMIT")


@pytest.mark.parametrize("product", ["investments", "liabilities", "assets", "statements", "income"])
async def test_products_that_a_clock_lacks_are_not_supported(app: App, product: str) -> None:
    await app.create_clock()
    products = ["auth", product]
    assert (
        await app.error("/sandbox/public_token/create", **{**NEW_ITEM, "initial_products": products}) == NOT_SUPPORTED
    )
    assert await app.error("/link/token/create", **{**NEW_LINK, "products": products}) == NOT_SUPPORTED
    await app.link_token(optional_products=products, required_if_supported_products=products)


@pytest.mark.parametrize("path", ["/investments/holdings/get", "/liabilities/get", "/statements/list"])
async def test_endpoint_of_a_product_that_a_clock_lacks(app: App, path: str) -> None:
    await app.create_clock()
    item = await app.new_item()
    assert await item.error(path) == NOT_SUPPORTED
    assert (await item._replace(access_token="x").error(path))[2] == "INVALID_ACCESS_TOKEN"


@pytest.mark.parametrize(
    ("path", "members", "error"),
    [
        ("/sandbox/public_token/create", {"institution_id": "ins_1"}, "MISSING_FIELDS"),
        ("/sandbox/public_token/create", {**NEW_ITEM, "initial_products": []}, "INVALID_FIELD"),
        ("/sandbox/public_token/create", {**NEW_ITEM, "initial_products": ["balance"]}, "INVALID_FIELD"),
        ("/institutions/get", {"count": 10, "offset": 0}, "MISSING_FIELDS"),
        ("/institutions/get", {"count": 10, "country_codes": ["US"]}, "MISSING_FIELDS"),
        ("/institutions/get", {"count": 10, "offset": 0, "country_codes": []}, "INVALID_FIELD"),
        ("/institutions/search", {"query": "", "country_codes": ["US"]}, "INVALID_FIELD"),
        ("/link/token/create", {**NEW_LINK, "user": None}, "MISSING_FIELDS"),
        ("/link/token/create", {**NEW_LINK, "user": {}}, "MISSING_FIELDS"),
        ("/link/token/create", {**NEW_LINK, "products": []}, "INVALID_FIELD"),
        ("/link/token/create", {**NEW_LINK, "client_name": ""}, "INVALID_FIELD"),
        ("/link/token/create", {**NEW_LINK, "country_codes": ["XX"]}, "INVALID_FIELD"),
        ("/link/token/create", {"products": ["auth"]}, "MISSING_FIELDS"),
    ],
)
async def test_required_fields(app: App, path: str, members: dict[str, Any], error: str) -> None:
    await app.create_clock()
    assert await app.error(path, **members) == (400, "INVALID_REQUEST", error)


# Institutions


async def test_each_live_clock_is_an_institution(world: World, app: App) -> None:
    for name in ("First", None, "Third"):
        await app.create_clock(**({"name": name} if name else {}))
    get = {"country_codes": ["FI", "SE", "FI"]}
    page = await app.call("/institutions/get", count=2, offset=1, **get)
    assert page["total"] == 3
    found = [(each["name"], each["country_codes"], each["oauth"]) for each in page["institutions"]]
    assert found == [("Tickover Bank", ["FI", "SE"], False), ("First", ["FI", "SE"], False)]
    id = page["institutions"][1]["institution_id"]
    assert (await app.call("/institutions/get_by_id", institution_id=id, **get))["institution"] == page["institutions"][
        1
    ]
    for query, names in (("IRS", ["First"]), ("ir", ["Third", "First"]), ("nobody", [])):
        searched = await app.call("/institutions/search", query=query, **get)
        assert [each["name"] for each in searched["institutions"]] == names
    for options in ({"products": ["investments"]}, {"oauth": True}):
        assert (await app.call("/institutions/get", count=2, offset=0, options=options, **get))["total"] == 0
    other = await open_app(world, await world.sign_in("ben@example.test"))
    assert await other.institutions() == []
    world.pass_time(days=7)
    assert await app.institutions() == []


# Auth and identity


async def test_accounts_have_made_up_numbers_and_one_owner(world: World, token: str) -> None:
    currencies = {"usd": "USD", "gbp": "GBP", "cad": "CAD", "eur": "EUR"}
    accounts: list[dict[str, Any]] = [{"key": key, "name": key, "currency": each} for key, each in currencies.items()]
    accounts.append({"key": "card", "name": "Card", "currency": "USD", "type": "CREDIT_CARD"})
    clock = (await world.create(token, frozenTime=START, accounts=accounts))["id"]
    items = [await connect_plaid(world, token, clock) for _ in range(2)]
    found = await items[0].call("/auth/get")
    assert (await items[1].call("/auth/get"))["numbers"] == found["numbers"]
    assert [each["name"] for each in found["accounts"]] == list(currencies)
    masks = {each["account_id"]: each["mask"] for each in found["accounts"]}
    numbers = {kind: entry for kind, [entry] in found["numbers"].items()}
    assert {kind: entry["account_id"][-3:] for kind, entry in numbers.items()} == {
        "ach": "usd", "bacs": "gbp", "eft": "cad", "international": "eur",
    }  # fmt: skip
    for entry in numbers.values():
        assert entry.get("account", entry.get("iban")).endswith(masks[entry["account_id"]])
    identity = (await items[0].call("/identity/get"))["accounts"]
    assert len(identity) == 5
    [owner] = identity[0]["owners"]
    assert all(each["owners"] == [owner] for each in identity)
    assert owner["emails"][0]["data"].endswith("@example.com")
    card = identity[4]["account_id"]
    no_numbers = await items[0].error("/auth/get", options={"account_ids": [card]})
    assert no_numbers == (400, "ITEM_ERROR", "NO_AUTH_ACCOUNTS")


def test_made_up_numbers_pass_checks() -> None:
    digits = [int(digit) for digit in made_up.ROUTING_NUMBER]
    assert sum(digit * weight for digit, weight in zip(digits, (3, 7, 1) * 3, strict=True)) % 10 == 0
    for number in range(200):
        iban = made_up.iban(f"acct_{number}")
        assert re.fullmatch("FI[0-9]{16}", iban)
        assert int("".join(str(int(each, 36)) for each in iban[4:] + iban[:4])) % 97 == 1


# Link


async def test_link_token_lives_four_hours(world: World, app: App) -> None:
    created = await app.call("/link/token/create", **NEW_LINK, redirect_uri="https://app.test/back")
    assert created["expiration"] == "2027-01-01T16:01:00Z"
    found = await app.call("/link/token/get", link_token=created["link_token"])
    assert (found["created_at"], found["expiration"]) == ("2027-01-01T12:01:00Z", created["expiration"])
    assert found["metadata"] == {
        "client_name": "App", "language": "en", "country_codes": ["US"], "initial_products": ["transactions"],
        "redirect_uri": "https://app.test/back", "webhook": None,
    }  # fmt: skip
    other = await open_app(world, await world.sign_in("ben@example.test"))
    assert await other.error("/link/token/get", link_token=created["link_token"]) == INVALID_LINK_TOKEN
    session = {"link_token": created["link_token"]}
    assert (await send_plaid(world, "/link/session/get", session)).status == 200
    world.pass_time(hours=4)
    assert error_of(await send_plaid(world, "/link/session/get", session)) == INVALID_LINK_TOKEN
    assert await app.error("/link/token/get", **session) == INVALID_LINK_TOKEN


async def test_link_connects_a_clock_of_its_user(world: World, app: App) -> None:
    for number in range(51):
        await app.create_clock(name=f"Clock {number}")
    session = {"link_token": await app.link_token(client_name="My app")}
    first = (await send_plaid(world, "/link/session/get", session)).json
    names = [each["name"] for each in first["institutions"]]
    assert (first["client_name"], first["has_more"]) == ("My app", True)
    assert names == [f"Clock {number}" for number in range(50, 0, -1)]
    rest = (await send_plaid(world, "/link/session/get", {**session, "offset": 50})).json
    [oldest] = rest["institutions"]
    assert (oldest["name"], oldest["time"], rest["has_more"]) == ("Clock 0", START, False)
    chosen = {**session, "institution_id": oldest["institution_id"]}
    described = (await send_plaid(world, "/link/session/accounts", chosen)).json
    connected = (await send_plaid(world, "/link/session/connect", chosen)).json
    assert connected["accounts"] == described["accounts"]
    exchanged = await app.call("/item/public_token/exchange", public_token=connected["public_token"])
    item = Item(world, exchanged["access_token"], exchanged["item_id"])
    accounts = (await item.call("/accounts/get"))["accounts"]
    assert [(each["id"], each["mask"]) for each in connected["accounts"]] == [
        (each["account_id"], each["mask"]) for each in accounts
    ]


@pytest.mark.parametrize("path", ["/link/session/accounts", "/link/session/connect"])
async def test_link_never_connects_a_clock_of_another_user(world: World, app: App, path: str) -> None:
    other = await open_app(world, await world.sign_in("ben@example.test"))
    clock = await other.create_clock()
    [foreign] = await other.institutions()
    own_clock = await app.create_clock()
    [own] = await app.institutions()
    session = {"link_token": await app.link_token()}
    signature = foreign["institution_id"].rpartition("-")[2]
    forged = f"{own['institution_id'].rpartition('-')[0]}-{signature}"
    for id in (foreign["institution_id"], forged, clock, own_clock, "", None):
        assert error_of(await send_plaid(world, path, {**session, "institution_id": id})) == INVALID_INSTITUTION
    for wrong in ("", app.secret, other.secret, session["link_token"][:-1]):
        call = {"link_token": wrong, "institution_id": own["institution_id"]}
        assert error_of(await send_plaid(world, path, call)) == INVALID_LINK_TOKEN
    assert (await world.result("listTestClockConnections", {"id": clock}, other.token))["connections"] == []


async def test_update_mode_repairs_the_login(world: World, app: App) -> None:
    clock = await app.create_clock()
    faults = [
        {"kind": "LOGIN_REQUIRED", "from": day(3)},
        {"kind": "LOGIN_REQUIRED", "from": day(2), "until": day(9)},
        {"kind": "LOGIN_REQUIRED", "from": day(6), "until": day(7)},
        {"kind": "INSTITUTION_DOWN", "from": day(3), "until": day(4)},
    ]
    item = await connect_plaid(world, app.token, clock, faults=faults)
    await world.advance(app.token, clock, day(3))
    await item.call("/sandbox/item/reset_login")
    assert (await item.error("/accounts/get"))[2] == "ITEM_LOGIN_REQUIRED"
    created = await app.call("/link/token/create", **{**NEW_LINK, "products": None}, access_token=item.access_token)
    assert created["expiration"] == "2027-01-01T12:31:01Z"
    session = {"link_token": created["link_token"]}
    shown = (await send_plaid(world, "/link/session/get", session)).json["item"]
    repaired = (await send_plaid(world, "/link/session/connect", session)).json
    assert shown["institution"] == repaired["institution"]
    [institution] = await app.institutions()
    other = {**session, "institution_id": institution["institution_id"]}
    assert error_of(await send_plaid(world, "/link/session/accounts", other)) == INVALID_INSTITUTION
    assert (await item.error("/accounts/get"))[2] == "INSTITUTION_DOWN"
    [connection] = (await world.result("listTestClockConnections", {"id": clock}, app.token))["connections"]
    assert connection["faults"] == [{**faults[1], "until": day(3)}, *faults[2:]]
    await world.advance(app.token, clock, day(5))
    await item.call("/accounts/get")
    # An app may exchange the public token, though it needn't.
    exchanged = await app.call("/item/public_token/exchange", public_token=repaired["public_token"])
    assert exchanged["item_id"] == item.id
    assert (await item.error("/accounts/get"))[2] == "INVALID_ACCESS_TOKEN"
    await item._replace(access_token=exchanged["access_token"]).call("/accounts/get")


async def test_connections_have_the_defaults_of_the_clock(world: World, app: App) -> None:
    clock = await app.create_clock(openingBalances={"EUR": 1})
    defaults = {"quirks": ["NEW_IDS_ON_RELINK", "NO_IDS"], "consentDays": 5, "callsPerDay": 3}
    await world.result("updateTestClock", {"id": clock, "bankDefaults": defaults}, app.token)
    [institution] = await app.institutions()
    session = {"link_token": await app.link_token(), "institution_id": institution["institution_id"]}
    linked = (await send_plaid(world, "/link/session/connect", session)).json
    exchanged = await app.call("/item/public_token/exchange", public_token=linked["public_token"])
    accounts = (await app.call("/accounts/get", access_token=exchanged["access_token"]))["accounts"]
    assert [each["id"] for each in linked["accounts"]] == [each["account_id"] for each in accounts]
    created = await app.new_item()
    numbers = [
        (await app.call("/auth/get", access_token=each))["numbers"]["international"][0]
        for each in (exchanged["access_token"], created.access_token)
    ]
    assert (numbers[0]["iban"], numbers[0]["account_id"]) != (numbers[1]["iban"], numbers[1]["account_id"])
    assert numbers[0]["iban"] == numbers[1]["iban"]
    found = (await world.result("listTestClockConnections", {"id": clock}, app.token))["connections"]
    expected = {**defaults, "quirks": ["NEW_IDS_ON_RELINK"]}
    assert [{name: each[name] for name in defaults} for each in found] == [expected] * 2


async def test_update_mode_begins_the_consent_anew(world: World, app: App) -> None:
    clock = await app.create_clock()
    item = await connect_plaid(world, app.token, clock, consentDays=5)
    await world.advance(app.token, clock, day(7))
    assert (await item.error("/accounts/get"))[2] == "ITEM_LOGIN_REQUIRED"
    session = {"link_token": await app.link_token(access_token=item.access_token)}
    await send_plaid(world, "/link/session/connect", session)
    await world.advance(app.token, clock, "2027-01-11T23:59:59Z")
    await item.call("/accounts/get")
    await world.advance(app.token, clock, day(12))
    assert (await item.error("/accounts/get"))[2] == "ITEM_LOGIN_REQUIRED"


async def test_update_mode_is_for_own_items(world: World, app: App) -> None:
    other = await open_app(world, await world.sign_in("ben@example.test"))
    await other.create_clock()
    item = await other.new_item()
    for access_token in (item.access_token, "access-sandbox-x"):
        error = await app.error("/link/token/create", **NEW_LINK, access_token=access_token)
        assert error == (400, "INVALID_INPUT", "INVALID_ACCESS_TOKEN")


async def test_link_files_are_for_frames_of_any_page(world: World) -> None:
    for name in ("link-initialize.js", "link.html", "link.js", "link.css", "tokens.css"):
        response = await world.request("GET", f"/plaid/link/v2/stable/{name}")
        assert response.status == 200
        policy = response.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "frame-ancestors" not in policy
        assert "require-trusted-types-for 'script'" in policy
        assert response.headers["referrer-policy"] == "no-referrer"
    for path in ("/plaid/link/v2/stable/../link.html", "/plaid/link/v2/stable/", "/plaid/link/v2/stable/base.css"):
        assert error_of(await world.request("GET", path))[2] == "NOT_FOUND"
