"""reconcileTestClock compares the books of an app with what the bank showed."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.world import World

START = "2027-01-01T00:00:00Z"
END = "2027-02-01T00:00:00Z"


def spend(day: int, name: str, amount: float, currency: str = "EUR", **members: Any) -> dict[str, Any]:
    at = f"2027-01-{day:02}T08:00:00Z"
    return {"at": at, "name": name, "amount": amount, "currency": currency, "type": "EXPENSE", **members}


ITEMS = [
    spend(3, "Rent", 1150),
    spend(5, "Coffee", 3.2),
    spend(5, "Tea", 3.2),
    spend(20, "Phone", 20),
    {**spend(25, "Salary", 2800), "type": "INCOME"},
    spend(31, "Gym", 30),
]


class Books:
    """A clock, and the transactions of an app that recorded all of them."""

    def __init__(self, world: World, token: str, clock: Mapping[str, Any]) -> None:
        self._world, self._token, self.id = world, token, clock["id"]
        self.rows = [
            {
                "id": item["id"],
                "at": item["at"],
                "name": item["name"],
                "amount": item["amount"] if item["type"] == "INCOME" else -item["amount"],
            }
            for item in clock["transactions"]
        ]

    def without_ids(self) -> list[dict[str, Any]]:
        return [{name: value for name, value in row.items() if name != "id"} for row in self.rows]

    async def reconcile(self, rows: Any = None, **params: Any) -> Any:
        observed = params.pop("observed", {"transactions": rows})
        return await self._world.result(
            "reconcileTestClock", {"id": self.id, "observed": observed, **params}, self._token
        )


@pytest.fixture
async def books(world: World, token: str) -> Books:
    clock = await world.create(token, frozenTime=START, transactions=ITEMS)
    return Books(world, token, await world.advance(token, clock["id"], END))


async def test_complete_books_are_ok(books: Books) -> None:
    empty: dict[str, Any] = {"ok": True, "missing": [], "unexpected": [], "duplicated": [], "changed": []}
    assert await books.reconcile(books.rows) == empty
    assert await books.reconcile(books.without_ids()[::-1]) == empty
    # IDs of the app itself are ignored.
    assert await books.reconcile([{**row, "id": f"my-{row['id']}"} for row in books.rows]) == empty


async def test_lost_and_invented_transactions(books: Books) -> None:
    rows = books.without_ids()
    # Another transaction has its amount and day.
    lost = rows.pop(1)
    invented = {"at": "2027-01-04T00:00:00Z", "amount": -5}
    result = await books.reconcile([*rows, invented])
    assert result["missing"] == [{**lost, "id": books.rows[1]["id"]}]
    assert result["unexpected"] == [{"index": 5, **invented}]
    assert result["firstDivergence"] == {"at": "2027-01-04T00:00:00Z", "kind": "unexpected"}
    assert not result["ok"]


@pytest.mark.parametrize("with_ids", [True, False])
async def test_second_copy_is_duplicated(books: Books, with_ids: bool) -> None:
    rows = books.rows if with_ids else books.without_ids()
    result = await books.reconcile([*rows, rows[0]])
    assert result["duplicated"] == [{"index": 6, **rows[0]}]
    assert result["firstDivergence"] == {"at": "2027-01-03T08:00:00Z", "kind": "duplicated"}
    assert result["unexpected"] == result["missing"] == result["changed"] == []


@pytest.mark.parametrize(
    ("copy", "kind"),
    [
        ({"at": "2027-01-04T00:00:00Z", "amount": -1150}, "duplicated"),
        ({"at": "2027-01-04T00:00:00Z", "amount": -1150, "name": "Car"}, "unexpected"),
        ({"at": "2027-01-05T00:00:00Z", "amount": -1150, "name": "Rent"}, "unexpected"),
    ],
)
async def test_copies_have_the_same_amount_and_name_within_the_tolerance(
    books: Books, copy: dict[str, Any], kind: str
) -> None:
    result = await books.reconcile([*books.rows, copy], toleranceDays=1)
    assert [len(result[each]) for each in ("duplicated", "unexpected")] == ([1, 0] if kind == "duplicated" else [0, 1])


async def test_named_copy_of_a_transaction_without_a_name_is_duplicated(books: Books) -> None:
    rent, *others = books.rows
    unnamed = {"at": rent["at"], "amount": rent["amount"]}
    renamed = {**unnamed, "name": "Landlord"}
    for first, second in ((unnamed, renamed), (renamed, unnamed), ({**unnamed, "id": rent["id"]}, renamed)):
        result = await books.reconcile([first, second, *others])
        assert [item["index"] for item in result["duplicated"]] == [1]
        assert result["unexpected"] == result["missing"] == result["changed"] == []


async def test_pending_payments_may_be_in_the_books(world: World, token: str) -> None:
    authorized: dict[str, Any] = {
        "authorizedAt": "2027-01-03T09:00:00Z",
        "authorizedAmount": 1,
        "authorizedName": "FUEL",
    }
    clock = await world.create(token, frozenTime=START, transactions=[spend(6, "Fuel", 60, **authorized)])
    books = Books(world, token, await world.advance(token, clock["id"], END))
    [booked] = books.rows
    pending = {"id": f"{booked['id']}_p", "at": authorized["authorizedAt"], "name": "FUEL", "amount": -1}

    async def found(*rows: dict[str, Any], day: int) -> list[str]:
        result = await books.reconcile(rows, at=f"2027-01-{day:02}T10:00:00Z")
        return [kind for kind in ("missing", "unexpected", "duplicated", "changed") if result[kind]]

    assert await found(day=2) == await found(day=4) == []
    assert await found(pending, day=2) == ["unexpected"]
    assert await found(pending, day=4) == await found({**pending, "id": "x"}, day=4) == []
    assert await found({**pending, "amount": -60}, day=4) == ["changed"]
    assert await found(pending, pending, day=4) == ["duplicated"]
    # Its ID leads to the payment, which has another amount, date and name when it is booked.
    assert await found(pending, day=7) == ["changed"]
    assert await found({**booked, "id": pending["id"]}, day=7) == []
    assert await found(booked, day=7) == []
    # An app that keeps it has the payment twice.
    for kept in (pending, {**pending, "id": "x"}, {**pending, "name": "Fuel", "amount": -60}):
        assert await found(kept, booked, day=7) == await found(booked, kept, day=7) == ["duplicated"]
    assert await found({**pending, "id": "x", "amount": -2}, booked, day=7) == ["unexpected"]


async def test_withdrawn_payment_must_not_stay_in_the_books(world: World, token: str) -> None:
    held = spend(20, "Hotel", 200, authorizedAt="2027-01-10T08:00:00Z")
    clock = await world.create(token, frozenTime=START, transactions=[spend(3, "Rent", 1150), held])
    shown = await world.advance(token, clock["id"], "2027-01-15T00:00:00Z")
    books = Books(world, token, shown)
    row = {"at": "2027-01-10T08:00:00Z", "name": "Hotel", "amount": -200}
    assert (await books.reconcile([*books.rows, row]))["ok"]
    await world.result("amendTestClock", {"id": clock["id"], "cancel": [shown["pendingTransactions"][0]["id"]]}, token)
    compared = await books.reconcile([*books.rows, row])
    assert [unexpected["name"] for unexpected in compared["unexpected"]] == ["Hotel"]
    assert not compared["missing"]


@pytest.mark.parametrize("with_ids", [True, False])
async def test_wrong_sign_is_changed(books: Books, with_ids: bool) -> None:
    rows = books.rows if with_ids else books.without_ids()
    rows[4] = {**rows[4], "amount": -2800}
    result = await books.reconcile(rows)
    [changed] = result["changed"]
    assert (changed["fields"], changed["expected"]["name"], changed["observed"]["index"]) == (["amount"], "Salary", 4)
    assert result["firstDivergence"] == {"at": "2027-01-25T08:00:00Z", "kind": "changed"}
    assert result["unexpected"] == result["missing"] == []


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ([("Coffee", 5, -3)], {"changed": 1, "missing": 1}),
        ([("Coffee", 5, 4)], {"changed": 1, "missing": 1}),
        ([("Coffee", 7, -3)], {"changed": 1, "missing": 1}),
        ([("Coffee", 8, -3)], {"unexpected": 1, "missing": 2}),
        ([("coffee", 5, -3)], {"unexpected": 1, "missing": 2}),
        ([(None, 5, -3)], {"unexpected": 1, "missing": 2}),
        ([("Coffee", 5, -3), ("Coffee", 6, -4)], {"unexpected": 2, "missing": 2}),
        # Further copies of what has matched are no candidates.
        ([("Coffee", 5, -3.2), ("Tea", 5, -3), ("Rent", 4, -1150)], {"changed": 1, "duplicated": 1}),
    ],
)
async def test_only_transaction_of_a_name_and_day_is_changed_in_its_amount(
    books: Books, rows: list[tuple[str | None, int, float]], kinds: dict[str, int]
) -> None:
    kept = [row for row in books.without_ids() if row["name"] not in ("Coffee", "Tea")]
    given = [{"name": name, "at": f"2027-01-{day:02}T00:00:00Z", "amount": amount} for name, day, amount in rows]
    given = [{key: value for key, value in row.items() if value is not None} for row in given]
    result = await books.reconcile(kept + given, toleranceDays=2)
    found = {kind: len(result[kind]) for kind in ("missing", "unexpected", "duplicated", "changed") if result[kind]}
    assert found == kinds
    assert [each["fields"] for each in result["changed"]] == [["amount"]] * kinds.get("changed", 0)


async def test_amount_is_changed_only_if_one_transaction_of_that_name_is_missing(world: World, token: str) -> None:
    items = [spend(4, "Tea", 3), spend(6, "Tea", 4)]
    clock = await world.create(token, frozenTime=START, transactions=items)
    books = Books(world, token, await world.advance(token, clock["id"], END))
    row = {"at": "2027-01-05T00:00:00Z", "amount": -9, "name": "Tea"}
    result = await books.reconcile([row], toleranceDays=1)
    assert (len(result["missing"]), len(result["unexpected"])) == (2, 1)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"at": "2027-01-06T00:00:00Z"}, ["at"]),
        ({"at": "2027-01-06T00:30:00+01:00"}, []),
        ({"amount": -3, "at": "2027-02-06T00:00:00Z", "name": "X"}, ["amount", "at", "name"]),
    ],
)
async def test_matching_id_shows_what_changed(books: Books, change: dict[str, Any], fields: list[str]) -> None:
    books.rows[1] |= change
    result = await books.reconcile(books.rows)
    assert [changed["fields"] for changed in result["changed"]] == ([fields] if fields else [])
    assert result["ok"] is not bool(fields)


@pytest.mark.parametrize(
    ("day", "tolerance", "matches"), [(20, 0, True), (21, 0, False), (23, 3, True), (17, 3, True), (24, 3, False)]
)
async def test_days_within_the_tolerance_match(books: Books, day: int, tolerance: int, matches: bool) -> None:
    rows = books.without_ids()
    rows[3]["at"] = f"2027-01-{day}T23:59:59Z"
    result = await books.reconcile(rows, toleranceDays=tolerance)
    assert result["ok"] is matches
    assert len(result["missing"]) == len(result["unexpected"]) == (0 if matches else 1)


async def test_names_break_ties_and_exact_days_come_first(world: World, token: str) -> None:
    items = [spend(4, "Tea", 3), spend(5, "Coffee", 3), spend(5, "Tea", 3)]
    clock = await world.create(token, frozenTime=START, transactions=items)
    books = Books(world, token, await world.advance(token, clock["id"], END))
    # The row without a day of its own gets what the others leave.
    rows = [
        {"at": "2027-01-06T00:00:00Z", "amount": -3, "name": "Tea"},
        {"at": "2027-01-05T00:00:00Z", "amount": -3, "name": "Tea"},
        {"at": "2027-01-05T00:00:00Z", "amount": -3},
    ]
    result = await books.reconcile(rows, toleranceDays=1)
    assert [item["name"] for item in result["missing"]] == ["Tea"]
    assert [item["index"] for item in result["duplicated"]] == [0]
    assert (await books.reconcile(rows, toleranceDays=2))["ok"]


async def test_exact_copy_of_an_id_matches(books: Books) -> None:
    wrong = {**books.rows[0], "amount": -1}
    for rows, index in ([wrong, *books.rows], 0), ([*books.rows, wrong], 6):
        result = await books.reconcile(rows)
        assert [item["index"] for item in result["duplicated"]] == [index]
        assert result["changed"] == result["missing"] == []


async def test_balance_is_compared(books: Books) -> None:
    right = await books.reconcile(observed={"balance": 1593.6})
    assert (right["ok"], right["balance"]) == (True, {"expected": 1593.6, "observed": 1593.6})
    wrong = await books.reconcile(observed={"balance": 1593})
    assert (wrong["ok"], wrong["firstDivergence"]) == (False, {"at": END, "kind": "balance"})
    earlier = await books.reconcile(
        observed={"balance": -1150, "transactions": books.rows[:1]}, at="2027-01-03T08:00:00Z"
    )
    assert earlier["ok"]


async def test_accounts_and_transfers(world: World, token: str) -> None:
    accounts = [
        {"key": "main", "name": "Main", "currency": "EUR", "openingBalance": 100},
        {"key": "savings", "name": "Savings", "currency": "EUR"},
        {"key": "trip", "name": "Trip", "currency": "USD"},
    ]
    at = "2027-01-02T00:00:00Z"
    transfers = [
        {"at": at, "name": "Save", "from": "main", "to": "savings", "amount": 40},
        {"at": at, "name": "Change", "from": "main", "to": "trip", "amount": 10, "received": 11},
    ]
    clock = await world.create(
        token, frozenTime=START, accounts=accounts, transfers=transfers, transactions=[spend(3, "Food", 5)]
    )
    books = Books(world, token, await world.advance(token, clock["id"], END))
    save, change = (
        item["id"] for item in (await world.result("getTestClock", {"id": books.id}, token))["clock"]["transfers"]
    )

    async def missing(**selector: str) -> list[tuple[str, float]]:
        result = await books.reconcile([], **selector)
        return [(item["id"], item["amount"]) for item in result["missing"]]

    food = books.rows[0]["id"]
    assert await missing(account="main") == [(f"{save}_out", -40), (f"{change}_out", -10), (food, -5)]
    assert await missing(account="savings") == [(f"{save}_in", 40)]
    assert await missing(account="trip") == await missing(currency="USD") == [(f"{change}_in", 11)]
    assert await missing(currency="EUR") == [(f"{change}_out", -10), (food, -5)]
    # Rows with the ID of another item of the bank don't match by their amount.
    for id, selector in ((f"{save}_in", {"account": "main"}), (f"{save}_out", {"currency": "EUR"})):
        result = await books.reconcile([{"id": id, "at": "2027-01-03T00:00:00Z", "amount": -5}], **selector)
        assert [item["id"] for item in result["unexpected"]] == [id]
        assert food in [item["id"] for item in result["missing"]]
    # The clock's own ID of a transfer is that of its only row in an account, or in a currency.
    row = {"id": save, "at": at, "amount": -40, "name": "Sav"}
    result = await books.reconcile([row], account="main")
    assert [(each["expected"]["id"], each["fields"]) for each in result["changed"]] == [(f"{save}_out", ["name"])]
    for selector, amount in (({"account": "trip"}, 11), ({"currency": "USD"}, 11)):
        assert (await books.reconcile([{"id": change, "at": at, "amount": amount}], **selector))["ok"]
    result = await books.reconcile([{**row, "amount": -5}], currency="EUR")
    assert [item["id"] for item in result["unexpected"]] == [save]
    for selector, balance in (({"account": "main"}, 45), ({"account": "trip"}, 11), ({"currency": "EUR"}, 85)):
        assert (await books.reconcile(observed={"balance": balance}, **selector))["ok"]


@pytest.mark.parametrize(
    ("params", "path", "rule"),
    [
        ({"observed": {}}, "observed", "members"),
        ({"account": "main", "currency": "EUR"}, "currency", "combination"),
        ({"account": "mian"}, "account", "account"),
        ({"currency": "EUX"}, "currency", "currency"),
        ({"toleranceDays": 11}, "toleranceDays", "max"),
        ({"at": "2026-12-31T23:59:59Z"}, "at", "range"),
        ({"observed": {"transactions": [{"amount": 1}]}}, "observed.transactions[0].at", "required"),
        ({"observed": {"transactions": [{"at": END, "amount": 1}] * 5001}}, "observed.transactions", "count"),
    ],
)
async def test_invalid_params(world: World, token: str, params: dict[str, Any], path: str, rule: str) -> None:
    clock = await world.create(token, frozenTime=START, transactions=ITEMS)
    given = {"id": clock["id"], "observed": {"balance": 0}, **params}
    assert (await world.faults("reconcileTestClock", given, token)) == {path: rule}


async def test_several_currencies_need_a_choice(world: World, token: str) -> None:
    clock = await world.create(token, frozenTime=START, transactions=[spend(3, "A", 1), spend(3, "B", 1, "USD")])
    params = {"id": clock["id"], "observed": {"transactions": []}}
    assert await world.faults("reconcileTestClock", params, token) == {"currency": "required"}
    assert (await world.result("reconcileTestClock", {**params, "currency": "USD"}, token))["ok"]
