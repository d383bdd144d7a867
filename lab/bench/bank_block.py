"""The block of the bank and of scenarios: whole syncs, and a clock of 2,000 transactions in one call."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from lab.bench import bodies
from lab.bench.calls import Caller
from lab.bench.ledger_block import READ_CLOCK, grow_clock
from lab.bench.plan import ROUNDS
from lab.bench.rounds import Run
from lab.bench.sides import Tickover

PLAID = "/plaid/transactions/sync of the whole clock"
SIMPLEFIN = "/simplefin/accounts of the whole clock"
FROM_SCENARIO = "createTestClockFromScenario"
BY_AMENDMENTS = "createTestClock and amendments"
_PAGE = 500
_JSON = {"Content-Type": "application/json"}


def measure_bank(run: Run) -> None:
    """On one connection: the works take turns within each round."""
    run.progress.show_step("the bank and scenarios")
    side = run.stack.enter_context(Tickover(run.folder / "bank"))
    token = side.tokens(1)[0]
    id = grow_clock(side, token)
    with closing(Caller(side.url)) as caller:
        works = _Works(caller, token, id).by_name()
        for number in range(ROUNDS + 1):
            run.progress.show_step(f"the bank and scenarios, round {number} of {ROUNDS}")
            for name, work in works.items():
                seconds = _measure(work, run.plan.slot_seconds)
                # The first round fills caches.
                if number:
                    run.results.figure(seconds_of(name), seconds)


def _measure(work: Callable[[], object], slot_seconds: float) -> float:
    """Return the seconds that it takes, on average of a slot."""
    began, count = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - began) < slot_seconds or not count:
        work()
        count += 1
    return elapsed / count


def seconds_of(name: str) -> str:
    """Return the name of a figure."""
    return f"seconds of {name}"


class _Works:
    """What is measured, on a clock whose items have all happened."""

    def __init__(self, caller: Caller, token: str, id: str) -> None:
        self._caller, self._token, self._id = caller, token, id
        self._result("advanceTestClock", bodies.advance(id, bodies.END))
        public = self._result("connectTestClock", {"id": id, "protocol": "PLAID"})["publicToken"]
        self._keys = {"client_id": "bench", "secret": "bench"}
        exchanged = self._plaid("/item/public_token/exchange", public_token=public)
        self._keys["access_token"] = json.loads(exchanged)["access_token"]
        setup = self._result("connectTestClock", {"id": id, "protocol": "SIMPLEFIN"})["setupToken"]
        claim = urlsplit(base64.b64decode(setup).decode()).path
        access = urlsplit(self._send("POST", claim, "", {}).decode())
        user = base64.b64encode(f"{access.username}:{access.password}".encode()).decode()
        self._basic = {"Authorization": f"Basic {user}"}
        shown = {
            "SimpleFIN": self._fetch().count(b'"payee"'),
            "Plaid": sum(page.count(b'"transaction_id"') for page in self._pages()),
        }
        assert set(shown.values()) == {bodies.MAX_GROWN_TRANSACTIONS}, f"Not all transactions are shown: {shown}"

    def by_name(self) -> Mapping[str, Callable[[], object]]:
        return {
            READ_CLOCK: lambda: self._caller.call(READ_CLOCK, {"id": self._id}, self._token),
            PLAID: self._sync,
            SIMPLEFIN: self._fetch,
            FROM_SCENARIO: lambda: self._result(FROM_SCENARIO, {"text": bodies.scenario()}),
            BY_AMENDMENTS: self._create_by_amendments,
        }

    def _sync(self) -> None:
        for _ in self._pages():
            pass

    def _pages(self) -> Iterator[bytes]:
        """Yield the pages of a sync from the beginning."""
        cursor, has_more = "", True
        while has_more:
            page = self._plaid("/transactions/sync", cursor=cursor, count=_PAGE)
            yield page
            # Only the members after the transactions. Searching all of a page takes longer than the server does.
            rest = json.loads(b"{" + page[page.rindex(b'"has_more":') :])
            cursor, has_more = rest["next_cursor"], rest["has_more"]

    def _fetch(self) -> bytes:
        return self._send("GET", "/simplefin/accounts?start-date=0", "", self._basic)

    def _create_by_amendments(self) -> None:
        grown = bodies.grown_transactions()
        id = self._result("createTestClock", grown["create"])["clock"]["id"]
        for transactions in grown["add"]:
            self._result("amendTestClock", {"id": id, "add": {"transactions": transactions}})

    def _result(self, method: str, params: Any) -> Any:
        response = json.loads(self._caller.call(method, params, self._token)[1])
        assert "result" in response, f"The response to {method} is {response}"
        return response["result"]

    def _plaid(self, path: str, **members: Any) -> bytes:
        return self._send("POST", f"/plaid{path}", json.dumps({**self._keys, **members}), _JSON)

    def _send(self, method: str, path: str, body: str, headers: Mapping[str, str]) -> bytes:
        status, content = self._caller.send(method, path, body, headers)
        assert status == 200, f"The response to {path} is {status} {content[:500]!r}"
        return content
