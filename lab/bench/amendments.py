"""The block of amendments: their cost as a clock grows, on both stores.

Clocks of 100, 1,000 and 5,000 items take turns on one connection. Each amendment adds one transaction and cancels the
one before, so that a clock keeps its size.
"""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any, Final

from lab.bench.calls import Caller
from lab.bench.plan import AMENDMENTS, ROUNDS
from lab.bench.rounds import Run
from lab.bench.sides import Side, durable_postgres, tickover

STORES: Final = ("SQLite", "PostgreSQL")
SIZES: Final = (100, 1_000, 5_000)
_CALLS: Final = 15
_START: Final = "2027-01-01T00:00:00Z"
_LATER: Final = "2027-06-01T00:00:00Z"
_ITEM: Final = {"at": _LATER, "name": "Groceries", "amount": 43.21, "currency": "EUR", "type": "EXPENSE"}


def millis_of(method: str, store: str, size: int) -> str:
    """Return the name of a figure."""
    return f"ms of {method} of {size:,} items on {store}"


def measure_amendments(run: Run) -> None:
    sides = _start(run)
    callers = {store: Calls(side.url, side.sign_in(1)[0].token) for store, side in sides.items()}
    run.progress.show_step(f"{AMENDMENTS}: growing clocks to {SIZES[-1]:,} items")
    clocks = {(store, size): grow(call, size) for store, call in callers.items() for size in SIZES}
    amenders = {key: Amender(callers[key[0]], clock) for key, clock in clocks.items()}
    for number in range(ROUNDS):
        run.progress.show_step(f"{AMENDMENTS}: round {number + 1} of {ROUNDS}")
        for (store, size), clock in clocks.items():
            call = callers[store]
            calls: Mapping[str, Callable[[], object]] = {
                "amendTestClock": amenders[store, size],
                "getTestClock": partial(call, "getTestClock", id=clock["id"]),
            }
            for method, act in calls.items():
                run.results.figure(millis_of(method, store, size), _measure(act))


def _start(run: Run) -> dict[str, Side]:
    run.progress.show_step(f"{AMENDMENTS}: starting a server on each store")
    enter, folder = run.stack.enter_context, run.folder / "amendments"
    url = enter(durable_postgres()).create_database("tickover")
    settings = {"TICKOVER_DATABASE_URL": url, "TICKOVER_SECRET_KEY": secrets.token_hex(32), "TICKOVER_WORKERS": "1"}
    return {
        "SQLite": enter(tickover(folder / "sqlite")),
        "PostgreSQL": enter(tickover(folder / "postgres", **settings)),
    }


class Calls:
    """Calls of one user on one connection."""

    def __init__(self, url: str, token: str) -> None:
        self._caller = Caller(url)
        self._token = token

    def __call__(self, method: str, **params: Any) -> bytes:
        _, response = self._caller.call(method, params, self._token)
        assert response.startswith(b'{"jsonrpc":"2.0","result"'), response[:300]
        return response

    def clock(self, method: str, **params: Any) -> Any:
        return json.loads(self(method, **params))["result"]["clock"]


def grow(call: Calls, size: int) -> Any:
    """Return a clock with this many items, at most 1,500 of them transactions."""
    transactions = min(size, 1_500)
    clock = call.clock("createTestClock", frozenTime=_START)
    for _ in range(transactions // 100):
        clock = call.clock("amendTestClock", id=clock["id"], add={"transactions": [_ITEM] * 100})
    payments = [{"at": _LATER, "amount": 10}] * 100
    for _ in range((size - transactions) // 100):
        goal = {"name": "Trip", "targetAmount": 1000, "contributions": payments}
        clock = call.clock("amendTestClock", id=clock["id"], add={"goals": [goal]})
    return clock


class Amender:
    """Replaces the last transaction of a clock again and again."""

    def __init__(self, call: Calls, clock: Any) -> None:
        self._call = call
        self._id = clock["id"]
        self._key = self._id.removeprefix("clock_").replace("-", "")
        self._last = max(int(item["id"].rpartition("_")[2]) for item in clock["pendingTransactions"])

    def __call__(self) -> None:
        cancel = [f"txn_{self._key}_{self._last}"]
        self._call("amendTestClock", id=self._id, add={"transactions": [_ITEM]}, cancel=cancel)
        self._last += 1


def _measure(act: Callable[[], object]) -> float:
    """Return the median latency of some calls, in milliseconds."""
    taken = []
    for _ in range(_CALLS):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return 1000 * median(taken)
