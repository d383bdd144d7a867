"""The mixed requests of R1: clocks are created, advanced, amended, read, forked and deleted. Users sign in and out."""

import random
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count, cycle
from typing import Any, NamedTuple

from lab.bench.bodies import START, typical
from lab.http_requests import rpc_request
from lab.open_loop import Request
from tests.support.program import link_params

_CLOCK_ID = re.compile(rb'"clock":\{"id":"([^"]+)"')
_LINK_TOKEN = re.compile(rb"#token=([^\"]+)")
_TOKEN = re.compile(rb'"token":"([^"]+)"')
_DAYS = 365
_WEIGHTS = {
    "advanceTestClock": 45,
    "amendTestClock": 5,
    "getTestClock": 22,
    "createTestClock": 12,
    "deleteTestClock": 10,
    "listTestClocks": 3,
    "forkTestClock": 2,
    "sendLoginCodeEmail": 1,
}


class _Clock(NamedTuple):
    id: str
    token: str
    day: int

    @property
    def next_day(self) -> "_Clock":
        return self._replace(day=self.day + 1)


def _on_day(day: int) -> str:
    return f"{datetime.fromisoformat(START) + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


class MixedRequests:
    """A clock is in use by one request at a time, so every request must return a result."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.methods: Counter[str] = Counter()
        self.errors: list[str] = []
        self._random = random.Random(1)
        self._tokens = cycle(tokens)
        self._numbers = count()
        self._clocks: list[_Clock] = []
        self._next: deque[Callable[[], Request]] = deque()
        self._make: dict[str, Callable[[], Request]] = {
            "advanceTestClock": self._advance,
            "amendTestClock": self._amend,
            "getTestClock": self._get,
            "createTestClock": self._create,
            "deleteTestClock": self._delete,
            "listTestClocks": self._list,
            "forkTestClock": self._fork,
            "sendLoginCodeEmail": self._send,
        }

    def next_request(self) -> Request:
        if self._next:
            return self._next.popleft()()
        [method] = self._random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        needs_clock = method.endswith("TestClock") and method != "createTestClock"
        return self._create() if needs_clock and not self._clocks else self._make[method]()

    def _request(
        self, method: str, params: Any, token: str = "", receive: Callable[[bytes], None] = lambda _: None
    ) -> Request:
        self.methods[method] += 1

        def check(status: int, body: bytes) -> None:
            if status == 200 and b'"result":' in body:
                receive(body)
            else:
                self.errors.append(f"{method}: {status} {body[:300]!r}")

        return Request(rpc_request(method, params, token), check)

    def _take(self) -> _Clock:
        place = self._random.randrange(len(self._clocks))
        self._clocks[place], self._clocks[-1] = self._clocks[-1], self._clocks[place]
        return self._clocks.pop()

    def _create(self) -> Request:
        token = next(self._tokens)
        return self._request("createTestClock", typical(), token, lambda body: self._add(body, token))

    def _add(self, body: bytes, token: str) -> None:
        found = _CLOCK_ID.search(body)
        assert found is not None, body[:300]
        self._clocks.append(_Clock(found[1].decode(), token, 0))

    def _advance(self) -> Request:
        clock = self._take()
        if clock.day == _DAYS:
            return self._request("deleteTestClock", {"id": clock.id}, clock.token)
        moved = clock.next_day
        params = {"id": clock.id, "frozenTime": _on_day(moved.day)}
        return self._request("advanceTestClock", params, clock.token, lambda _: self._clocks.append(moved))

    def _amend(self) -> Request:
        """Add an expense at the clock's own time."""
        clock = self._take()
        item = {"at": _on_day(clock.day), "name": "Coffee", "amount": 3.5, "currency": "EUR", "type": "EXPENSE"}
        params = {"id": clock.id, "add": {"transactions": [item]}}
        return self._request("amendTestClock", params, clock.token, lambda _: self._clocks.append(clock))

    def _get(self) -> Request:
        clock = self._take()
        return self._request("getTestClock", {"id": clock.id}, clock.token, lambda _: self._clocks.append(clock))

    def _fork(self) -> Request:
        clock = self._take()

        def receive(body: bytes) -> None:
            self._clocks.append(clock)
            self._add(body, clock.token)

        return self._request("forkTestClock", {"id": clock.id}, clock.token, receive)

    def _delete(self) -> Request:
        clock = self._take()
        return self._request("deleteTestClock", {"id": clock.id}, clock.token)

    def _list(self) -> Request:
        return self._request("listTestClocks", {"limit": 20}, next(self._tokens))

    def _send(self) -> Request:
        """Send a login link. After its response, a sign-in and a logout follow."""
        email = f"visitor{next(self._numbers)}@example.test"

        def receive(body: bytes) -> None:
            found = _LINK_TOKEN.search(body)
            assert found is not None, body[:300]
            link = found[1].decode()
            self._next.append(lambda: self._sign_in(link))

        return self._request("sendLoginCodeEmail", link_params(email), receive=receive)

    def _sign_in(self, link: str) -> Request:
        def receive(body: bytes) -> None:
            found = _TOKEN.search(body)
            assert found is not None, body[:300]
            token = found[1].decode()
            self._next.append(lambda: self._request("logout", {}, token))

        return self._request("loginByEmailLink", {"token": link}, receive=receive)
