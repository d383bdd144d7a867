"""The attacks of R10: what each kind of hostile client sends."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from lab.bank_access import connect_plaid, connect_simplefin
from lab.bench.bodies import END, START
from lab.http_requests import http_request, rpc_request
from lab.soak.hostile_client import Behaviour
from tests.support.program import Program
from tickover.api.limits import MAX_BATCH

Kind = Literal["no token", "a read-only token", "a signed-in user", "a bank connection"]

_USERS = 7
_FORKS = 15
_GROWN_TRANSACTIONS = 1_900
"""The grown clocks have room for amendments."""
_CURRENCIES = 100
_CLOCKS_WITH_PLAID, _CONNECTIONS_PER_CLOCK = 6, 20


class Loot(NamedTuple):
    """What the hostile clients have: tokens of their own accounts, large clocks, and access to the clocks' bank."""

    tokens: Sequence[str]
    read_only_token: str
    clocks: Sequence[str]
    simplefin_users: Sequence[str]
    plaid_tokens: Sequence[str]

    @classmethod
    def prepare(cls, program: Program) -> "Loot":
        tokens = [program.sign_in(f"hostile{number}@example.test") for number in range(_USERS)]
        read_only = {"name": "hostile", "readOnly": True}
        clocks = _grow_clocks(program, tokens[0])
        return cls(
            tokens,
            program.result("createAccessToken", read_only, tokens[0])["token"],
            clocks,
            [connect_simplefin(program, tokens[0], clock) for clock in clocks],
            [
                connect_plaid(program, tokens[0], clock)
                for clock in clocks[:_CLOCKS_WITH_PLAID]
                for _ in range(_CONNECTIONS_PER_CLOCK - 1)
            ],
        )


def _grow_clocks(program: Program, token: str) -> list[str]:
    """Create a clock with the longest names and the most currencies, and forks of it. Return their IDs."""
    items = [
        {
            "at": START,
            "name": "\u0001" * 120,
            "amount": 3.5,
            "currency": f"A{chr(65 + number % _CURRENCIES // 26)}{chr(65 + number % _CURRENCIES % 26)}",
            "type": "EXPENSE",
            "category": "\u0001" * 80,
        }
        for number in range(_GROWN_TRANSACTIONS)
    ]
    clock = program.result("createTestClock", {"frozenTime": START}, token)["clock"]["id"]
    for start in range(0, len(items), 100):
        params = {"id": clock, "add": {"transactions": items[start : start + 100]}}
        program.result("amendTestClock", params, token)
    forks = [program.result("forkTestClock", {"id": clock}, token)["clock"]["id"] for _ in range(_FORKS)]
    return [clock, *forks]


def _batch(method: str, params: Any, token: str = "", *, has_ids: bool = True) -> bytes:
    calls: list[Any] = [{"jsonrpc": "2.0", "method": method, "params": params} for _ in range(MAX_BATCH)]
    if has_ids:
        calls = [{**call, "id": number} for number, call in enumerate(calls)]
    return http_request(json.dumps(calls).encode(), token)


def _address_batch(_: Loot) -> list[bytes]:
    # Each of these characters becomes 18 if it is normalized.
    params = {"email": "\ufdfa" * 240 + "@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
    return [_batch("sendLoginCodeEmail", params)]


def _fault_batch(loot: Loot) -> list[bytes]:
    params = {"frozenTime": START, "transactions": [{"at": "never", "amount": -1}] * 100}
    return [_batch("createTestClock", params, loot.tokens[0])]


_CHECKS = {"expectations": [{"balance": {"currency": "AAA", "atLeast": 0}}] * 50}


def _ledger_calls(loot: Loot) -> list[bytes]:
    """Calls whose ledgers are computed each time, because the server can't cache as many."""
    calls: list[tuple[str, Any]] = [
        ("checkTestClock", _CHECKS),
        ("listTestClockEvents", {"until": END, "limit": 500}),
        ("getTestClockBalances", {"at": END}),
    ]
    return [
        rpc_request(method, {"id": clock, **params}, loot.read_only_token)
        for method, params in calls
        for clock in loot.clocks
    ]


def _notified_checks(loot: Loot) -> list[bytes]:
    return [
        _batch("checkTestClock", {"id": clock, **_CHECKS}, loot.tokens[0], has_ids=False) for clock in loot.clocks[:2]
    ]


def _amendments(loot: Loot) -> list[bytes]:
    item = {"at": START, "name": "Coffee", "amount": 3.5, "currency": "AAA", "type": "EXPENSE"}
    calls = [{"id": clock, "add": {"transactions": [item]}} for clock in loot.clocks]
    return [rpc_request("amendTestClock", params, loot.tokens[0]) for params in calls]


def _scenarios(loot: Loot) -> list[bytes]:
    """Calls of seven users that run in the isolated process."""
    items = "".join(
        f'[[transactions]]\nname = "{number}"\namount = 5.25\ntype = "expense"\nevery = "day"\n' for number in range(10)
    )
    text = f'title = "Many"\ncurrency = "EUR"\nstart = 2027-01-01\nlength = "200 days"\n{items}'
    return [rpc_request("expandScenario", {"text": text}, token) for token in loot.tokens]


def _simplefin_syncs(loot: Loot) -> list[bytes]:
    head = "GET /simplefin/accounts?start-date=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {}\r\n\r\n"
    return [head.format(user).encode() for user in loot.simplefin_users]


def _plaid_syncs(loot: Loot) -> list[bytes]:
    members = {"client_id": "any", "secret": "any", "count": 500}
    bodies = [json.dumps({**members, "access_token": token}).encode() for token in loot.plaid_tokens]
    return [http_request(body, path="/plaid/transactions/sync") for body in bodies]


_UPGRADES = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" * 600


class Attack(NamedTuple):
    name: str
    by: Kind
    contents: Callable[[Loot], list[bytes]]
    behaviour: Behaviour = Behaviour()


ATTACKS = (
    Attack("amplifying batches", "no token", lambda _: [_batch("rpc.discover", {})]),
    Attack("abandoned batches", "no token", lambda _: [_batch("rpc.discover", {})], Behaviour(64, leaves=True)),
    Attack("batches with a wrong token", "no token", lambda _: [_batch("listTestClocks", {}, "wrong")], Behaviour(520)),
    Attack("expensive addresses", "no token", _address_batch),
    Attack("pipelined upgrades", "no token", lambda _: [_UPGRADES]),
    Attack("ledger calls on grown forks", "a read-only token", _ledger_calls, Behaviour(64)),
    Attack("ledger calls at 1.5 kB/s", "a read-only token", _ledger_calls, Behaviour(8, bytes_per_second=1_500)),
    Attack(
        "cheap calls on many connections",
        "a read-only token",
        lambda loot: [rpc_request("listTestClocks", {"limit": 100}, loot.read_only_token)],
        Behaviour(200),
    ),
    Attack(
        "batches of large clocks",
        "a signed-in user",
        lambda loot: [_batch("getTestClock", {"id": loot.clocks[0]}, loot.tokens[0])],
    ),
    Attack(
        "unread responses",
        "a signed-in user",
        lambda loot: [_batch("getTestClock", {"id": loot.clocks[0]}, loot.tokens[0])],
        Behaviour(400, reads=False),
    ),
    Attack("many faults", "a signed-in user", _fault_batch),
    Attack("amendments of grown forks", "a signed-in user", _amendments, Behaviour(64)),
    Attack(
        "forks of a grown clock",
        "a signed-in user",
        lambda loot: [rpc_request("forkTestClock", {"id": loot.clocks[0]}, loot.tokens[0])],
        Behaviour(64),
    ),
    Attack("abandoned batches of notifications", "a signed-in user", _notified_checks, Behaviour(64, leaves=True)),
    Attack("seven users at the isolated process", "a signed-in user", _scenarios, Behaviour(56)),
    Attack("SimpleFIN syncs of grown forks", "a bank connection", _simplefin_syncs, Behaviour(64)),
    Attack("first Plaid syncs of many connections", "a bank connection", _plaid_syncs, Behaviour(114)),
)
