"""Habits of real banks. `tests/unit/test_bank_sync.py` compares all of them, and their combinations, with a model."""

from pathlib import Path
from typing import Any

import pytest

from tests.rpc.bank_client import connect_plaid, connect_simplefin, day, payment
from tests.support.world import World
from tickover.api.connections import ALL_QUIRKS
from tickover.server.schedule import quirks as quirks_package
from tickover.server.schedule.quirks import QUIRKS

START = "2027-01-01T00:00:00Z"
HELD = payment(4, 30, authorizedAt=day(2), authorizedAmount=1, authorizedName="HOLD", category="Fuel")
CONNECT = "connectTestClock"


def test_each_quirk_is_a_module() -> None:
    modules = {path.stem.upper() for path in Path(quirks_package.__file__).parent.glob("[a-z]*.py")}
    assert modules == set(ALL_QUIRKS) == set(QUIRKS)


class Synced:
    """A clock with a payment, and an app that syncs with its bank."""

    def __init__(self, world: World, token: str) -> None:
        self.world, self._token, self._cursor = world, token, ""

    async def begin(self, *quirks: str, **params: Any) -> None:
        params = {"frozenTime": START, "transactions": [HELD], **params}
        self.clock = (await self.world.create(self._token, **params))["id"]
        self.item = await connect_plaid(self.world, self._token, self.clock, quirks=quirks)

    async def on(self, number: int, month: int = 1) -> dict[str, list[tuple[str, str]]]:
        """Advance to a day. Return the number in the ID and the name of rows, or nothing for removed ones."""
        await self.world.advance(self._token, self.clock, f"2027-{month:02}-{number:02}T00:00:00Z")
        page = await self.item.call("/transactions/sync", cursor=self._cursor)
        self._cursor = page["next_cursor"]
        return {
            kind: [(each["transaction_id"].split("_", 2)[2], each.get("name", "")) for each in page[kind]]
            for kind in ("added", "modified", "removed")
            if page[kind]
        }


@pytest.fixture
def synced(world: World, token: str) -> Synced:
    return Synced(world, token)


async def test_booked_row_keeps_the_id_of_its_hold(synced: Synced) -> None:
    await synced.begin("SAME_ID")
    assert await synced.on(2) == {"added": [("0_p", "HOLD")]}
    assert await synced.on(4) == {"modified": [("0_p", "Payment 4")]}


async def test_holds_stay_beside_their_booked_rows(synced: Synced) -> None:
    await synced.begin("HOLDS_STAY")
    await synced.on(2)
    assert await synced.on(5) == {"added": [("0", "Payment 4")]}
    assert await synced.on(6) == {"removed": [("0_p", "")]}


async def test_names_are_rewritten_one_day_after_booking(synced: Synced) -> None:
    await synced.begin("REWRITES_NAMES", "UNLINKED")
    [(_, name)] = (await synced.on(4))["added"]
    assert name.startswith("PAYMENT 4 *")
    assert len(name) == len("PAYMENT 4 *0000")
    assert await synced.on(5) == {"modified": [("0", "Payment 4")]}


async def test_bank_tells_two_days_late(synced: Synced) -> None:
    await synced.begin("TELLS_LATE", "HOLDS_AS_BOOKED")
    assert await synced.on(3) == {}
    assert await synced.on(4) == {"added": [("0_p", "HOLD")]}
    balances = (await synced.item.call("/accounts/get"))["accounts"][0]["balances"]
    assert (balances["current"], balances["available"]) == (-30, -30)
    assert await synced.on(6) == {"added": [("0", "Payment 4")], "removed": [("0_p", "")]}


async def test_recent_rows_get_new_ids_each_month(synced: Synced) -> None:
    await synced.begin("NEW_IDS", "DOUBLES", transactions=[payment(30, 5), payment(1, 6)])
    assert await synced.on(30) == {"added": [("1", "Payment 1"), ("0", "Payment 30"), ("0_2", "Payment 30")]}
    assert await synced.on(1, month=2) == {"added": [("0_202702", "Payment 30")], "removed": [("0", ""), ("0_2", "")]}
    assert await synced.on(1, month=3) == {"added": [("0_202703", "Payment 30")], "removed": [("0_202702", "")]}


async def test_new_ids_of_a_connection_lead_to_their_items(world: World, token: str) -> None:
    clock = (await world.create(token, frozenTime=START, transactions=[payment(1, 5)]))["id"]
    seen = []
    for _ in range(2):
        item = await connect_plaid(world, token, clock, quirks=["NEW_IDS_ON_RELINK", "NEW_IDS"])
        [row] = (await item.call("/transactions/sync"))["added"]
        seen.append((row["transaction_id"], row["account_id"]))
        assert row["account_id"] == (await item.call("/accounts/get"))["accounts"][0]["account_id"]
        await item.call("/item/remove")
        books = {"transactions": [{"id": row["transaction_id"], "at": day(1), "amount": -6}]}
        result = await world.result("reconcileTestClock", {"id": clock, "observed": books}, token)
        assert [each["fields"] for each in result["changed"]] == [["amount"]]
    assert len({id for ids in seen for id in ids}) == 4


async def test_history_is_short(synced: Synced) -> None:
    await synced.begin(frozenTime="2027-01-01T00:00:00Z", transactions=[payment(1, 1), payment(2, 2)])
    await synced.on(2, month=4)
    item = await connect_plaid(synced.world, synced._token, synced.clock, quirks=["SHORT_HISTORY"])
    assert [each["name"] for each in (await item.call("/transactions/sync"))["added"]] == ["Payment 2"]


async def test_simplefin_without_ids(world: World, token: str) -> None:
    clock = (await world.create(token, frozenTime=START, transactions=[payment(1, 5), payment(1, 6)]))["id"]
    simplefin = await connect_simplefin(world, token, clock, quirks=["NO_IDS"])
    assert [each["id"] for each in (await simplefin.accounts())[0]["transactions"]] == ["0", "0"]


@pytest.mark.parametrize("quirks", [[], ["TELLS_LATE", "DOUBLES"], None])
async def test_quirks_are_given_back(world: World, token: str, quirks: list[str] | None) -> None:
    clock = (await world.create(token))["id"]
    given = {} if quirks is None else {"quirks": quirks}
    connected = (await world.result(CONNECT, {"id": clock, "protocol": "PLAID", **given}, token))["connection"]
    assert connected.get("quirks") == quirks
    assert (await world.result("listTestClockConnections", {"id": clock}, token))["connections"] == [connected]


@pytest.mark.parametrize(
    ("protocol", "quirks", "faults"),
    [
        ("PLAID", ["LATE"], {"quirks[0]": "oneOf"}),
        ("PLAID", ["DOUBLES", "DOUBLES"], {"quirks[1]": "unique"}),
        ("PLAID", ["SAME_ID", "UNLINKED"], {"quirks[1]": "combination"}),
        ("SIMPLEFIN", ["HOLDS_STAY", "HOLDS_AS_BOOKED", "SAME_ID"], {"quirks[2]": "combination"}),
        ("PLAID", ["NO_IDS"], {"quirks[0]": "combination"}),
    ],
)
async def test_contradictions_are_refused(
    world: World, token: str, protocol: str, quirks: list[str], faults: dict[str, str]
) -> None:
    clock = (await world.create(token))["id"]
    assert await world.faults(CONNECT, {"id": clock, "protocol": protocol, "quirks": quirks}, token) == faults
    assert (await world.result("listTestClockConnections", {"id": clock}, token))["connections"] == []
