"""S15, S18, S19 and S20: questions about a clock of 5,000 items, syncs of it, and a clock of 2,000 transactions."""

import json
from collections.abc import Iterator

from lab.bank_access import PLAID_CLIENT, connect_plaid, connect_simplefin, post_json
from lab.bench import bodies
from lab.bench.harness import Bench, Load, timed, times
from lab.bench.wrk import Wrk
from lab.http_requests import http_request, rpc_request
from tests.support.program import Program

_PAGE = 500
_READ = "getTestClock"
_RECONCILE = "reconcileTestClock"
_PLAID = "/plaid/transactions/sync"
_SIMPLEFIN = "/simplefin/accounts"


def measure_large_clocks(bench: Bench) -> None:
    bench.progress.show_step("growing a clock")
    program = bench.serve("large")
    token = program.sign_in()
    id = _grow_clock(program, token)
    loads, pages = _loads(bench, program, token, id)
    slots = bench.alternate(loads)
    read = slots[_READ]
    for method, target in (("listTestClockEvents", 1), ("getTestClockBalances", 0.2), ("checkTestClock", 0.7)):
        what = f"{method} of {bodies.GROWN_ITEMS:,} items, time against {_READ}"
        bench.row("S15", what, "times", ("≤", target), times(slots[method], read))
    # The most transactions and transfers that a clock may have.
    what = f"{_RECONCILE} of {bodies.MAX_GROWN_TRANSACTIONS:,} transactions, time against {_READ}"
    bench.row("S20", what, "times", ("≤", 4), times(slots[_RECONCILE], read))
    what = "createTestClockFromScenario, time against createTestClock and amendments"
    bench.row("S18", what, "times", ("≤", 0.2), times(slots["from a scenario"], slots["by amendments"]))
    syncs = [pages * ratio for ratio in times(slots[_PLAID], read)]
    bench.row("S19", f"{_PLAID} of the whole clock, time against {_READ}", "times", ("≤", 2), syncs)
    fetches = times(slots[_SIMPLEFIN], read)
    bench.row("S19", f"{_SIMPLEFIN} of the whole clock, time against {_READ}", "times", ("≤", 1), fetches)


def _loads(bench: Bench, program: Program, token: str, id: str) -> tuple[dict[str, Load], int]:
    """Return the loads on one connection, and the number of pages of a sync."""
    clock = {"id": id, "until": bodies.END}
    questions = {
        _READ: {"id": id},
        "listTestClockEvents": {**clock, "limit": 500},
        "getTestClockBalances": {"id": id, "at": bodies.END},
        "checkTestClock": {**clock, "expectations": bodies.expectations()},
        _RECONCILE: {"id": id, "at": bodies.END, "observed": {"transactions": bodies.observed()}},
    }
    program.result("advanceTestClock", {"id": id, "frozenTime": bodies.END}, token)
    pages = list(_plaid_pages(program, connect_plaid(program, token, id)))
    user = connect_simplefin(program, token, id)
    path = f"{_SIMPLEFIN}?start-date=0"
    shown = program.request("GET", path, headers={"Authorization": f"Basic {user}"}).body.count(b'"payee"')
    assert shown == bodies.MAX_GROWN_TRANSACTIONS, f"{shown} transactions are shown"
    fetch = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {user}\r\n\r\n".encode()

    def wrk(request: bytes, *others: bytes, expected: str = '"result"') -> Load:
        return Wrk(bench.folder, program.url, [request, *others], expected).on(1)

    return {
        **{method: wrk(rpc_request(method, params, token)) for method, params in questions.items()},
        _PLAID: wrk(*pages, expected='"accounts"'),
        _SIMPLEFIN: wrk(fetch, expected='"accounts"'),
        "from a scenario": wrk(rpc_request("createTestClockFromScenario", {"text": bodies.scenario()}, token)),
        "by amendments": timed(lambda: _create_by_amendments(program, token)),
    }, len(pages)


def _plaid_pages(program: Program, access_token: str) -> Iterator[bytes]:
    """Yield the requests for the pages of a sync from the beginning."""
    cursor, has_more, added = "", True, 0
    while has_more:
        members = {**PLAID_CLIENT, "access_token": access_token, "cursor": cursor, "count": _PAGE}
        body = json.dumps(members).encode()
        yield http_request(body, path=_PLAID)
        page = post_json(program, _PLAID, body)
        cursor, has_more, added = page["next_cursor"], page["has_more"], added + len(page["added"])
    assert added == bodies.MAX_GROWN_TRANSACTIONS, f"{added} transactions are shown"


def _grow_clock(program: Program, token: str) -> str:
    """Create a clock, and add items until it has as many as a clock may have. Return its ID."""
    clock = program.result("createTestClock", bodies.largest(), token)["clock"]
    for added in bodies.additions([goal["id"] for goal in clock["goals"]]):
        program.result("amendTestClock", {"id": clock["id"], "add": added}, token)
    return str(clock["id"])


def _create_by_amendments(program: Program, token: str) -> None:
    grown = bodies.grown_transactions()
    id = program.result("createTestClock", grown["create"], token)["clock"]["id"]
    for transactions in grown["add"]:
        program.result("amendTestClock", {"id": id, "add": {"transactions": transactions}}, token)
