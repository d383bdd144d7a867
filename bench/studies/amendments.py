"""The cost of an amendment as a clock grows: `python -m bench.studies.amendments`.

Clocks of 100, 1,000 and 5,000 items take turns. Each amendment adds one transaction and cancels the one before, so
that a clock keeps its size. Results are ratios of median latencies on one connection, with the lowest and the highest
ratio of all rounds.
"""

import http.client
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from tickover.client import Tickover
from tickover.pytest_plugin.process import run_server

SIZES: Final = (100, 1_000, 5_000)
ROUNDS: Final = 7
CALLS: Final = 15
_START: Final = "2027-01-01T00:00:00Z"
_LATER: Final = "2027-06-01T00:00:00Z"
_ITEM: Final = {"at": _LATER, "name": "Groceries", "amount": 43.21, "currency": "EUR", "type": "EXPENSE"}


class Caller:
    """Sends calls of one user on one connection."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}

    def __call__(self, method: str, **params: Any) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._connection.request("POST", "/rpc", body, self._headers)
        return self._connection.getresponse().read()

    def clock(self, method: str, **params: Any) -> Any:
        return json.loads(self(method, **params))["result"]["clock"]


def grow(call: Caller, size: int) -> Any:
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


def measure(act: Callable[[], object]) -> float:
    """Return the median latency of some calls, in milliseconds."""
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    return 1000 * median(taken)


class Amender:
    """Replaces the last transaction of a clock again and again."""

    def __init__(self, call: Caller, clock: Any) -> None:
        self._call = call
        self._id = clock["id"]
        self._key = self._id.removeprefix("clock_").replace("-", "")
        self._last = max(int(item["id"].rpartition("_")[2]) for item in clock["pendingTransactions"])

    def __call__(self) -> None:
        cancel = [f"txn_{self._key}_{self._last}"]
        body = self._call("amendTestClock", id=self._id, add={"transactions": [_ITEM]}, cancel=cancel)
        assert body.startswith(b'{"jsonrpc":"2.0","result"'), body[:300]
        self._last += 1


def run(url: str, token: str) -> list[dict[str, dict[int, float]]]:
    call = Caller(url, token)
    clocks = {size: grow(call, size) for size in SIZES}
    amenders = {size: Amender(call, clock) for size, clock in clocks.items()}
    rounds = []
    for _ in range(ROUNDS):
        taken: dict[str, dict[int, float]] = {"amend": {}, "get": {}, "advance": {}}
        for size in SIZES:
            id = clocks[size]["id"]
            taken["amend"][size] = measure(amenders[size])
            taken["get"][size] = measure(partial(call, "getTestClock", id=id))
            taken["advance"][size] = measure(partial(call, "advanceTestClock", id=id, frozenTime=_START))
        rounds.append(taken)
    return rounds


def summarize(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    with TemporaryDirectory() as folder, run_server(Path(folder)) as process, Tickover(process.url) as client:
        client.send_code("bench@example.test")
        email = client.latest_email("bench@example.test")
        assert email is not None
        assert email.code is not None
        token = client.log_in("bench@example.test", email.code).token
        rounds = run(process.url, token)
    print(f"{ROUNDS} rounds of {CALLS} calls, SQLite, one connection")
    for size in SIZES:
        against_smallest = summarize([each["amend"][size] / each["amend"][SIZES[0]] for each in rounds])
        against_get = summarize([each["amend"][size] / each["get"][size] for each in rounds])
        against_advance = summarize([each["amend"][size] / each["advance"][size] for each in rounds])
        print(
            f"{size:>5} items: amend against amend of {SIZES[0]}: {against_smallest}, against get: {against_get}, "
            f"against advance: {against_advance}; amend {median([each['amend'][size] for each in rounds]):.1f} ms"
        )


if __name__ == "__main__":
    main()
