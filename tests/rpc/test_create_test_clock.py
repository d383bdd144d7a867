"""createTestClock: authentication, bounds of all fields except times, and the quota."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.rpc.builders import BEN, OMITTED, contribution, goal, raw_call, reason_of, rows, transaction
from tests.support.cases import each_case
from tests.support.world import World, open_world

CREATE = "createTestClock"
MICROSECOND = timedelta(microseconds=1)


async def one_fault(world: World, token: str, params: Any) -> tuple[str, str]:
    """Return the path and the rule of the only fault."""
    faults = await world.faults(CREATE, params, token)
    assert len(faults) == 1, faults
    return next(iter(faults.items()))


# Authentication


@each_case("token", [None, "tko_" + "A" * 43, "tko_short", "secret"])
async def test_create_without_valid_token_is_rejected(world: World, token: str | None) -> None:
    response = await world.call(CREATE, {}, token)
    assert (response.status, response.json["error"]["code"], reason_of(response)) == (401, -32001, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_token_is_valid_for_exactly_30_days(world: World) -> None:
    signed_in_at = world.now
    token = await world.sign_in()
    world.now = signed_in_at + timedelta(days=30) - MICROSECOND
    await world.create(token)
    world.now += MICROSECOND
    assert reason_of(await world.call(CREATE, {}, token)) == "UNAUTHENTICATED"


# Amounts

AMOUNT_FIELDS: dict[str, Any] = {
    "transactions[0].amount": {"transactions": [transaction(amount="HERE")]},
    "goals[0].targetAmount": {"goals": [goal(targetAmount="HERE")]},
    "goals[0].contributions[0].amount": {"goals": [goal(contributions=[contribution(amount="HERE")])]},
}


def with_amount(path: str, amount: str) -> bytes:
    """Return a call with this JSON text in one field."""
    return raw_call(CREATE, json.dumps(AMOUNT_FIELDS[path]).replace('"HERE"', amount))


@each_case(
    "amount",
    ["1", "1000000000", "1000000000.0", "1e9", "999999999.99", "0.01", "1e-7", "5e-324", "0.30000000000000004"],
)
async def test_amount_within_bounds_is_accepted(world: World, token: str, amount: str) -> None:
    for path in AMOUNT_FIELDS:
        clock = (await world.post(with_amount(path, amount), token)).json["result"]["clock"]
        shown = {
            "transactions[0].amount": [item["amount"] for item in clock["pendingTransactions"]],
            "goals[0].targetAmount": [item["targetAmount"] for item in clock["goals"]],
            "goals[0].contributions[0].amount": [
                item["amount"] for shown in clock["goals"] for item in shown["upcomingContributions"]
            ],
        }
        assert shown[path] == [float(amount)], path


@each_case(
    ("amount", "rule"),
    [
        *[(amount, "positive") for amount in ("0", "-0", "0.0", "-0.0", "-1", "-1e-9", "1e-400", "-1e999")],
        *[(amount, "max") for amount in ("1000000001", "1000000000.0000002", "1e10", "1e999", "1" + "0" * 30)],
        *[(amount, "type") for amount in ('"5"', '""', "true", "false", "null", "[]", "[5]", "{}")],
    ],
)
async def test_amount_outside_bounds_is_rejected(world: World, token: str, amount: str, rule: str) -> None:
    for path in AMOUNT_FIELDS:
        response = await world.post(with_amount(path, amount), token)
        faults = response.json["error"]["data"]["errors"]
        assert [(fault["path"], fault["rule"]) for fault in faults] == [(path, rule)]


@each_case(
    ("target", "initial", "current"),
    [(10, OMITTED, 0), (10, 0, 0), (10, 0.5, 0.5), (10, 10, 10), (0.3, 0.3, 0.3), (10**9, 10**9, 10**9), (5, -0.0, 0)],
)
async def test_goal_starts_with_initial_amount(
    world: World, token: str, target: float, initial: Any, current: float
) -> None:
    clock = await world.create(token, goals=[goal(targetAmount=target, initialAmount=initial)])
    assert clock["goals"][0]["currentAmount"] == current


@each_case(
    ("target", "initial", "rule"),
    [(10, 10.000000000000002, "max"), (10, 11, "max"), (0.3, 0.30000000000000004, "max"), (10**9, 10**9 + 1, "max"),
     (10, -1, "min"), (10, -5e-324, "min"), (10, "1", "type"), (10, True, "type"), (10, [], "type"),
     (10, None, "null")],
)  # fmt: skip
async def test_initial_amount_outside_bounds_is_rejected(
    world: World, token: str, target: float, initial: Any, rule: str
) -> None:
    params = {"goals": [goal(targetAmount=target, initialAmount=initial)]}
    assert await one_fault(world, token, params) == ("goals[0].initialAmount", rule)


# Text


@each_case("name", ["x", "x" * 120, "😀" * 120, "e\u0301" * 60, " ", "  two  ", "a\nb\n", "\x01", "\u2028"])
async def test_name_within_bounds_is_returned_unchanged(world: World, token: str, name: str) -> None:
    clock = await world.create(token, transactions=[transaction(name=name)], goals=[goal(name=name)])
    assert (clock["pendingTransactions"][0]["name"], clock["goals"][0]["name"]) == (name, name)


@each_case(
    ("name", "rule"),
    [("", "minLength"), ("x" * 121, "maxLength"), ("😀" * 121, "maxLength"), ("a\0b", "format"), (5, "type"),
     (None, "type"), ([], "type"), ({}, "type"), (True, "type"), (OMITTED, "required")],
)  # fmt: skip
async def test_name_outside_bounds_is_rejected(world: World, token: str, name: Any, rule: str) -> None:
    params = {"transactions": [transaction(name=name)], "goals": [goal(name=name)]}
    assert await world.faults(CREATE, params, token) == {"transactions[0].name": rule, "goals[0].name": rule}


@each_case(
    ("field", "value"),
    [
        *[("category", value) for value in ("", "x", "x" * 80, "😀" * 80, " ", "a\n")],
        *[("currency", value) for value in ("EUR", "ZZZ", "AAA")],
        *[("type", value) for value in ("INCOME", "EXPENSE")],
    ],
)
async def test_transaction_field_within_bounds_is_returned(world: World, token: str, field: str, value: str) -> None:
    clock = await world.create(token, transactions=[transaction(**{field: value})])
    assert clock["pendingTransactions"][0][field] == value


@each_case(
    ("field", "rule", "value"),
    [
        *rows("category", "maxLength", "x" * 81, "😀" * 81),
        *rows("category", "format", "a\0"),
        *rows("category", "type", 5, True, [], {}),
        *rows("category", "null", None),
        *rows("currency", "format", "", "eur", "EU", "EURO", "Eur", "EU1", "E R", "EUR\n", "ÉUR", "ＥＵＲ"),
        *rows("currency", "type", 978, None, ["EUR"], {}, True),
        *rows("type", "oneOf", "", "income", "INCOME ", "TRANSFER", 1, None, True, [], {}, ["INCOME"]),
        *[(field, "required", OMITTED) for field in ("at", "amount", "currency", "type")],
        *rows("at", "type", None),
    ],
)  # fmt: skip
async def test_transaction_field_outside_bounds_is_rejected(
    world: World, token: str, field: str, rule: str, value: Any
) -> None:
    params = {"transactions": [transaction(**{field: value})]}
    assert await one_fault(world, token, params) == (f"transactions[0].{field}", rule)


# Counts, types and names


@each_case(
    ("path", "limit"),
    [("transactions", 100), ("goals", 25), ("goals[0].contributions", 100)],
)
async def test_array_over_its_limit_is_rejected(world: World, token: str, path: str, limit: int) -> None:
    def params(count: int) -> dict[str, Any]:
        if path == "goals[0].contributions":
            return {"goals": [goal(contributions=[contribution()] * count)]}
        return {path: [transaction() if path == "transactions" else goal()] * count}

    for count in (0, 1, limit):
        clock = await world.create(token, **params(count))
        shown = {
            "transactions": clock["pendingTransactions"],
            "goals": clock["goals"],
            "goals[0].contributions": [part for shown in clock["goals"] for part in shown["upcomingContributions"]],
        }
        assert len(shown[path]) == count
    assert await one_fault(world, token, params(limit + 1)) == (path, "count")


@each_case("name", ["frozenTime", "transactions", "goals"])
async def test_null_for_optional_parameter_gets_a_hint(world: World, token: str, name: str) -> None:
    error = await world.error(CREATE, {name: None}, token)
    assert error["data"]["errors"] == [
        {"path": name, "rule": "null", "message": "must not be null; omit it", "got": None}
    ]


@each_case("value", [{}, "x", 1, True])
async def test_value_other_than_array_is_rejected(world: World, token: str, value: Any) -> None:
    params = {"transactions": value, "goals": value}
    assert await world.faults(CREATE, params, token) == {"transactions": "type", "goals": "type"}
    params = {"goals": [goal(contributions=value)]}
    assert await one_fault(world, token, params) == ("goals[0].contributions", "type")


@each_case("value", [None, [], "x", 1, True])
async def test_value_other_than_object_is_rejected(world: World, token: str, value: Any) -> None:
    goals = [value, goal(contributions=[contribution(), value])]
    assert await world.faults(CREATE, {"transactions": [transaction(), value], "goals": goals}, token) == {
        "transactions[1]": "type",
        "goals[0]": "type",
        "goals[1].contributions[1]": "type",
    }


@each_case(
    ("entry", "fault"),
    [
        (goal(targetAmount=OMITTED), ("goals[0].targetAmount", "required")),
        (goal(contributions=None), ("goals[0].contributions", "null")),
        (goal(contributions=[contribution(at=OMITTED)]), ("goals[0].contributions[0].at", "required")),
        (goal(contributions=[contribution(amount=OMITTED)]), ("goals[0].contributions[0].amount", "required")),
        (goal(contributions=[contribution(name="x")]), ("goals[0].contributions[0].name", "unknown")),
        (goal(initalAmount=5), ("goals[0].initalAmount", "unknown")),
        (goal(currentAmount=5), ("goals[0].currentAmount", "unknown")),
    ],
)
async def test_invalid_goal_is_rejected(world: World, token: str, entry: Any, fault: tuple[str, str]) -> None:
    assert await one_fault(world, token, {"goals": [entry]}) == fault


@each_case("name", ["frozentime", "frozen_time", "maxTime", "id", "", "😀"])
async def test_unknown_parameter_is_rejected(world: World, token: str, name: str) -> None:
    assert await one_fault(world, token, {name: "2027-02-01T00:00:00Z"}) == (name, "unknown")
    params = {"transactions": [transaction(**{name or "source": "x"})]}
    assert await one_fault(world, token, params) == (f"transactions[0].{name or 'source'}", "unknown")


# Quota


async def test_number_of_live_clocks_is_limited(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=3) as world:
        ana, ben = await world.sign_in(), await world.sign_in(BEN)
        for _ in range(3):
            await world.create(ana)
            world.pass_time(hours=1)
        response = await world.call(CREATE, {}, ana)
        wait = 7 * 86_400 - 3 * 3_600
        assert (response.status, response.headers["retry-after"]) == (429, str(wait))
        assert response.json["error"]["code"] == -32005
        assert response.json["error"]["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": wait}
        await world.create(ben)

        world.pass_time(seconds=wait - 0.000001)
        response = await world.call(CREATE, {}, ana)
        assert response.json["error"]["data"]["retryAfterSeconds"] == 1
        world.pass_time(microseconds=1)
        await world.create(ana)
        response = await world.call(CREATE, {}, ana)
        assert response.json["error"]["data"]["retryAfterSeconds"] == 3_600


async def test_limit_of_zero_means_unlimited(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_clocks_per_user=0) as world:
        token = await world.sign_in()
        assert len({(await world.create(token))["id"] for _ in range(5)}) == 5


async def test_clock_larger_than_the_limit_of_bytes_is_rejected(tmp_path: Path, database_url: str) -> None:
    async with open_world(tmp_path, database_url, max_bytes_per_user=1) as world:
        token = await world.sign_in()
        error = await world.error(CREATE, {}, token)
        assert error["data"] == {"reason": "RATE_LIMITED", "retryAfterSeconds": 7 * 86_400}
        assert "the limit of 1 bytes" in error["message"]
