"""A hostile client: `python -m lab.soak.hostile_client URL KIND TOKEN CLOCK...` attacks a server until it ends."""

import json
import selectors
import socket
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lab.bench.bodies import END, START
from lab.soak.mixed_requests import http_request, rpc_request

BYTES_PER_SECOND = 10_000_000 // 8
_MAX_SEND = 16_384
_MAX_RECEIVE = 1 << 20
_TICK_SECONDS = 0.005
_RECONNECT_SECONDS = 0.1
_MAX_BATCH = 50
_OWN_ADDRESS = "127.6.6.6"
"""Other clients have another address, and other limits."""


class Attack(NamedTuple):
    """The content that a hostile client sends on each of its connections, repeatedly."""

    content: Callable[[str, Sequence[str]], bytes]
    """A function of a token and the IDs of large clocks, or the credentials of programs that read them."""
    connections: int = 8
    reads: bool = True
    has_read_only_token: bool = False
    is_bank_reader: bool = False


def _discover_batch(_token: str, _clocks: Sequence[str]) -> bytes:
    return _batch("rpc.discover", {})


def _clock_batch(token: str, clocks: Sequence[str]) -> bytes:
    return _batch("getTestClock", {"id": clocks[0]}, token)


def _address_batch(_token: str, _clocks: Sequence[str]) -> bytes:
    # Each of these characters becomes 18 if it is normalized.
    params = {"email": "\ufdfa" * 240 + "@example.test", "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
    return _batch("sendLoginCodeEmail", params)


def _fault_batch(token: str, _clocks: Sequence[str]) -> bytes:
    params = {"frozenTime": START, "transactions": [{"at": "never", "amount": -1}] * 100}
    return _batch("createTestClock", params, token)


def _ledger_calls(token: str, clocks: Sequence[str]) -> bytes:
    """Return calls whose ledgers are computed each time, because the server can't cache as many."""
    below = {"balance": {"currency": "AAA", "atLeast": 0}}
    calls: list[tuple[str, Any]] = [
        ("checkTestClock", {"expectations": [below] * 50}),
        ("listTestClockEvents", {"until": END, "limit": 500}),
        ("getTestClockBalances", {"at": END}),
    ]
    return b"".join(rpc_request(method, {"id": id, **params}, token) for method, params in calls for id in clocks)


def _amendments(token: str, clocks: Sequence[str]) -> bytes:
    item = {"at": START, "name": "Coffee", "amount": 3.5, "currency": "AAA", "type": "EXPENSE"}
    calls = [{"id": id, "add": {"transactions": [item]}} for id in clocks]
    return b"".join(rpc_request("amendTestClock", params, token) for params in calls)


def _forks(token: str, clocks: Sequence[str]) -> bytes:
    return rpc_request("forkTestClock", {"id": clocks[0]}, token)


def _bank_syncs(_token: str, credentials: Sequence[str]) -> bytes:
    """Return requests for all transactions of each clock. The server can't cache as many."""
    head = "GET /simplefin/accounts?start-date=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic {}\r\n\r\n"
    return "".join(head.format(b64encode(one.encode()).decode()) for one in credentials).encode()


def _cheap_calls(token: str, _clocks: Sequence[str]) -> bytes:
    return rpc_request("listTestClocks", {"limit": 100}, token)


def _pipelined_upgrades(_token: str, _clocks: Sequence[str]) -> bytes:
    return b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" * 600


ATTACKS = {
    "amplifying batches": Attack(_discover_batch),
    "batches of large clocks": Attack(_clock_batch),
    "unread responses": Attack(_clock_batch, connections=400, reads=False),
    "expensive addresses": Attack(_address_batch),
    "many faults": Attack(_fault_batch),
    "pipelined upgrades": Attack(_pipelined_upgrades),
    "ledger calls on grown forks": Attack(_ledger_calls, connections=64, has_read_only_token=True),
    "amendments of grown forks": Attack(_amendments, connections=64),
    "forks of a grown clock": Attack(_forks, connections=64),
    "syncs of grown forks": Attack(_bank_syncs, connections=64, is_bank_reader=True),
    "cheap calls on many connections": Attack(_cheap_calls, connections=200, has_read_only_token=True),
}


def _batch(method: str, params: Any, token: str = "") -> bytes:
    calls = [{"jsonrpc": "2.0", "id": number, "method": method, "params": params} for number in range(_MAX_BATCH)]
    return http_request(json.dumps(calls).encode(), token)


class HostileClient:
    """Sends at most `BYTES_PER_SECOND` over all connections, and replaces the ones that the server closes."""

    def __init__(self, url: str, attack: Attack, content: bytes) -> None:
        self._address = urlsplit(url).hostname or "", urlsplit(url).port or 0
        self._attack = attack
        self._content = content
        self._selector = selectors.DefaultSelector()
        self._budget = 0.0
        self._connect_again = 0.0

    def run(self) -> None:
        before = time.monotonic()
        while True:
            now = time.monotonic()
            self._budget = min(self._budget + (now - before) * BYTES_PER_SECOND, BYTES_PER_SECOND)
            before = now
            self._connect(now)
            for key, events in self._selector.select(_TICK_SECONDS):
                self._handle(key, events)
            time.sleep(_TICK_SECONDS)

    def _connect(self, now: float) -> None:
        missing = self._attack.connections - len(self._selector.get_map())
        if missing and now >= self._connect_again:
            self._connect_again = now + _RECONNECT_SECONDS
            for _ in range(missing):
                connection = socket.socket()
                connection.bind((_OWN_ADDRESS, 0))
                connection.setblocking(False)
                connection.connect_ex(self._address)
                self._selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, [self._content])

    def _handle(self, key: selectors.SelectorKey, events: int) -> None:
        connection, remaining = key.fileobj, key.data
        assert isinstance(connection, socket.socket)
        try:
            if events & selectors.EVENT_READ and self._attack.reads and not connection.recv(_MAX_RECEIVE):
                raise ConnectionResetError
            if events & selectors.EVENT_WRITE and self._budget > 0:
                sent = connection.send(remaining[0][:_MAX_SEND])
                self._budget -= sent
                remaining[0] = remaining[0][sent:] or self._content
        except BlockingIOError:
            pass
        except OSError:
            self._selector.unregister(connection)
            connection.close()


def main() -> None:
    url, name, token, *clocks = sys.argv[1:]
    attack = ATTACKS[name]
    HostileClient(url, attack, attack.content(token, clocks)).run()


if __name__ == "__main__":
    main()
