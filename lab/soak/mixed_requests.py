"""The mixed requests of R1 and R10: clocks are created, advanced, amended, read, forked and deleted. Users sign in."""

import json
import random
from collections.abc import Generator, Sequence
from datetime import datetime, timedelta
from itertools import count, cycle
from typing import Any

from lab.bench.bodies import START, typical
from lab.http_requests import rpc_request
from lab.open_loop import Request
from tests.support.program import link_params

_DAYS = 365
_SHARE_OF_VISITORS, _SHARE_OF_LISTS, _SHARE_OF_NEW_CLOCKS = 0.01, 0.03, 0.12
_CLOCK_CALLS = {"advance": 45, "amend": 5, "get": 22, "delete": 10, "fork": 2}

Call = tuple[str, Any, str]
"""The operation, the parameters and the token."""
Session = Generator[Call, bytes, None]
"""Yields calls, and gets the body of each response."""


class MixedRequests:
    """Sessions that take turns. Each makes one request at a time, so every request must return a result."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.errors: list[str] = []
        self._random = random.Random(1)
        self._tokens = cycle(tokens)
        self._numbers = count()
        self._clocks: list[tuple[Session, Call]] = []
        """Sessions with a clock, each with its next call."""
        self._visitors: list[tuple[Session, Call]] = []

    def next_request(self) -> Request:
        if self._visitors:
            return self._request(*self._visitors.pop(), self._visitors)
        share = self._random.random()
        if (share := share - _SHARE_OF_VISITORS) < 0:
            return self._begin(self._visit(), self._visitors)
        if (share := share - _SHARE_OF_LISTS) < 0:
            return self._begin(self._list(), self._visitors)
        if share < _SHARE_OF_NEW_CLOCKS or not self._clocks:
            return self._begin(self._create(), self._clocks)
        place = self._random.randrange(len(self._clocks))
        self._clocks[place], self._clocks[-1] = self._clocks[-1], self._clocks[place]
        return self._request(*self._clocks.pop(), self._clocks)

    def _begin(self, session: Session, waiting: list[tuple[Session, Call]]) -> Request:
        return self._request(session, next(session), waiting)

    def _request(self, session: Session, call: Call, waiting: list[tuple[Session, Call]]) -> Request:
        def receive(status: int, body: bytes) -> None:
            if status != 200 or b'"result":' not in body:
                self.errors.append(f"{call[0]}: {status} {body[:300]!r}")
                return
            try:
                waiting.append((session, session.send(body)))
            except StopIteration:
                return

        return Request(rpc_request(*call), receive)

    def _create(self) -> Session:
        token = next(self._tokens)
        body = yield "createTestClock", typical(), token
        yield from self._use(_result(body)["clock"]["id"], 0, token)

    def _use(self, id: str, day: int, token: str) -> Session:
        while day < _DAYS:
            [call] = self._random.choices(list(_CLOCK_CALLS), list(_CLOCK_CALLS.values()))
            if call == "delete":
                break
            if call == "advance":
                day += 1
                yield "advanceTestClock", {"id": id, "frozenTime": _on_day(day)}, token
            elif call == "amend":
                item = {"at": _on_day(day), "name": "Coffee", "amount": 3.5, "currency": "EUR", "type": "EXPENSE"}
                yield "amendTestClock", {"id": id, "add": {"transactions": [item]}}, token
            elif call == "get":
                yield "getTestClock", {"id": id}, token
            else:
                body = yield "forkTestClock", {"id": id}, token
                fork = self._use(_result(body)["clock"]["id"], 0, token)
                self._clocks.append((fork, next(fork)))
        yield "deleteTestClock", {"id": id}, token

    def _list(self) -> Session:
        yield "listTestClocks", {"limit": 20}, next(self._tokens)

    def _visit(self) -> Session:
        body = yield "sendLoginCodeEmail", link_params(f"visitor{next(self._numbers)}@example.test"), ""
        link = _result(body)["loginUrl"].partition("#token=")[2]
        body = yield "loginByEmailLink", {"token": link}, ""
        yield "logout", {}, _result(body)["token"]


def _on_day(day: int) -> str:
    return f"{datetime.fromisoformat(START) + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


def _result(body: bytes) -> Any:
    return json.loads(body)["result"]
