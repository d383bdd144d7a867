"""The calls of a history as requests, and their responses as outcomes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from lab.soak.linearizability.clock_model import FIRST_TRANSFER, SCHEDULES, Items, View, is_transfer
from lab.soak.linearizability.history import NOT_EXECUTED, UNKNOWN, Outcome
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import HttpResponse

_START = datetime(2027, 1, 1, tzinfo=UTC)
_ACCOUNTS = [{"key": key, "name": key, "currency": "EUR"} for key in ("main", "spare")]
_OUTCOME_UNKNOWN = "may or may not have been executed"


class Request(NamedTuple):
    method: str
    params: dict[str, Any]
    key: str = ""


_EMAILS = {"code": code_params, "link": link_params}
_REQUESTS: dict[str, Callable[..., Request]] = {
    "create": lambda key, params: Request("createTestClock", _creation(SCHEDULES[params]), key),
    "advance": lambda clock, day: Request("advanceTestClock", {"id": clock, "frozenTime": _on_day(day)}),
    "move": lambda clock, days, key: Request("advanceTestClock", {"id": clock, "by": f"{days}d"}, key),
    "get": lambda clock: Request("getTestClock", {"id": clock}),
    "list": lambda: Request("listTestClocks", {"limit": 100}),
    "fork": lambda clock, day, key: Request("forkTestClock", {"id": clock, "at": _on_day(day)}, key),
    "add": lambda clock, day, key: Request("amendTestClock", {"id": clock, "add": _addition(day)}, key),
    "cancel": lambda clock, number, key: Request(
        "amendTestClock", {"id": clock, "cancel": [_item_id(clock, number)]}, key
    ),
    "update": lambda clock, count: Request("updateTestClock", {"id": clock, "expectations": _expectations(count)}),
    "delete": lambda clock: Request("deleteTestClock", {"id": clock}),
    "send": lambda address, kind: Request("sendLoginCodeEmail", _EMAILS[kind](address)),
    "verify": lambda address, code: Request("loginByEmailVerification", verify_params(address, code)),
    "open_link": lambda _, secret: Request("loginByEmailLink", {"token": secret}),
}


def request(name: str, arguments: dict[str, Any]) -> Request:
    """Return the request of a call."""
    return _REQUESTS[name](*arguments.values())


def outcome(name: str, response: HttpResponse) -> Outcome:
    """Return the outcome that the model expects in a response."""
    body = response.json
    if "result" in body:
        return "result", _result(body["result"])
    reason, data = body["error"]["data"]["reason"], body["error"]["data"]
    if reason == "UNAVAILABLE":
        # A sign-in has two steps, and the first may have been executed.
        is_unknown = _OUTCOME_UNKNOWN in body["error"]["message"] or name in ("send", "verify", "open_link")
        return UNKNOWN if is_unknown else NOT_EXECUTED
    if reason == "TIME_BEFORE_CURRENT":
        return "error", reason, _day(data["currentFrozenTime"])
    if reason == "INVALID_PARAMS" and [fault["rule"] for fault in data["errors"]] == ["reused"]:
        return "error", "reused"
    return "error", reason


def _result(result: dict[str, Any]) -> Any:
    if "clock" in result:
        clock = result["clock"]
        posted = _items(clock["transactions"], clock["transfers"])
        transferred = len(clock["transfers"])
        balances = {account["key"]: account["balance"] for account in clock["accounts"]}
        assert balances == {"main": -len(posted), "spare": transferred}, "the balances are those of the posted items"
        pending = _items(clock["pendingTransactions"], clock["pendingTransfers"])
        expected = [each["posted"]["count"] for each in clock.get("expectations", ())]
        return View(clock["id"], _day(clock["frozenTime"]), posted, pending, sum(expected))
    if "clocks" in result:
        assert "nextCursor" not in result, "the account has too many clocks for one page"
        return frozenset((clock["id"], _day(clock["frozenTime"])) for clock in result["clocks"])
    return "ok"


def _creation(schedule: Items) -> dict[str, Any]:
    transactions = [_item(day, name) for day, _, name in schedule]
    return {"frozenTime": _on_day(0), "accounts": _ACCOUNTS, "transactions": transactions}


def _addition(day: int) -> dict[str, Any]:
    if not is_transfer(day):
        return {"transactions": [_item(day, "added")]}
    return {"transfers": [{"at": _on_day(day), "name": "added", "amount": 1, "from": "main", "to": "spare"}]}


def _expectations(count: int) -> list[dict[str, Any]] | None:
    return [{"posted": {"name": "rent", "by": _on_day(9), "count": count}}] if count else None


def _item(day: int, name: str) -> dict[str, Any]:
    return {"at": _on_day(day), "name": name, "amount": 1, "currency": "EUR", "type": "EXPENSE"}


def _item_id(clock: str, number: int) -> str:
    prefix, number = ("tfr", number - FIRST_TRANSFER) if number >= FIRST_TRANSFER else ("txn", number)
    return f"{prefix}_{clock.removeprefix('clock_').replace('-', '')}_{number}"


def _items(transactions: list[dict[str, Any]], transfers: list[dict[str, Any]]) -> Items:
    items = [(item, 0) for item in transactions] + [(item, FIRST_TRANSFER) for item in transfers]
    return tuple(
        sorted((_day(item["at"]), first + int(item["id"].rpartition("_")[2]), item["name"]) for item, first in items)
    )


def _on_day(day: int) -> str:
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


def _day(timestamp: str) -> int:
    return (datetime.fromisoformat(timestamp) - _START).days
