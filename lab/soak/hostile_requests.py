"""Generates hostile JSON-RPC requests from a grammar. A seed always gives the same requests."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from lab.soak import hostile_addresses
from tests.support.program import code_params, link_params, verify_params
from tickover.api.limits import MAX_BATCH, MAX_BODY, MAX_NESTING

_AT: Final = "2027-02-01T00:00:00Z"
_TRANSACTION: Final = {"at": _AT, "name": "Rent", "amount": 950.5, "currency": "EUR", "type": "EXPENSE"}
_GOAL: Final = {"name": "Trip", "targetAmount": 3000, "contributions": [{"at": _AT, "amount": 10}]}
_CLOCK: Final = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [_TRANSACTION] * 2, "goals": [_GOAL]}
_CALLS: Final[list[tuple[str, Any]]] = [
    ("createTestClock", _CLOCK),
    ("createTestClock", _CLOCK),
    ("advanceTestClock", {"id": "clock_01h2xcejqtf2nbrexx3vqjhp41", "frozenTime": _AT}),
    ("getTestClock", {"id": "clock_01h2xcejqtf2nbrexx3vqjhp41", "at": _AT}),
    ("listTestClocks", {"limit": 1, "cursor": "AAAA"}),
    ("forkTestClock", {"id": "clock_01h2xcejqtf2nbrexx3vqjhp41", "at": _AT}),
    ("deleteTestClock", {"id": "clock_01h2xcejqtf2nbrexx3vqjhp41"}),
    ("sendLoginCodeEmail", code_params("ana@example.test")),
    ("sendLoginCodeEmail", link_params("ana@example.test")),
    ("loginByEmailVerification", verify_params("ana@example.test", "123456")),
    ("loginByEmailLink", {"token": "A" * 43}),
    ("rpc.discover", {}),
]
# Literal JSON, because `json.dumps` can't write all of it.
_NUMBERS: Final = [
    "0", "-0", "-1", "1.5", "1e400", "-1e400", "1e-400", "9" * 400, "0." + "0" * 400 + "1", "NaN", "-Infinity", "01",
    "1e", "2147483648", "9223372036854775808", "1000000000.0000001", "1e9", "true", "null",
]  # fmt: skip
_TEXTS: Final = [
    "", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "\x1b[2J", "é" * 200, "A" * 5_000, "💶" * 121,
    "2027-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2027-01-01T00:00:00+99:99", "-1",
    "'; drop table clocks; --", "../../etc/passwd", "%s%n", "${jndi:ldap://x}", "<script>", "clock_", "__proto__",
    "clock_" + "z" * 300, "constructor", "jsonrpc", "id", "2.0",
]  # fmt: skip
_INSERTIONS: Final = [b",", b'"', b"}", b"]", b"\\", b"\xff", b"\0", b"\xed\xa0\x80"]


def generate(seed: int, count: int) -> Iterator[bytes]:
    """Yield this many bodies of POST /rpc."""
    grammar = _Grammar(random.Random(seed))
    return (grammar.body() for _ in range(count))


class _Raw(str):
    """Text that is already JSON."""

    __slots__ = ()


class _Grammar:
    def __init__(self, generator: random.Random) -> None:
        self._random = generator

    def body(self) -> bytes:
        chance = self._random.random()
        if chance < 0.001:
            return self._largest()
        if chance < 0.005:
            text = _write([self._call() for _ in range(self._random.choice([MAX_BATCH, MAX_BATCH + 1]))])
        elif chance < 0.05:
            text = _write([self._call() for _ in range(self._random.choice([0, 1, 2, 5]))])
        else:
            text = _write(self._call())
        body = text.encode("utf-8", "surrogatepass")
        while self._random.random() < 0.15:
            body = self._damage(body)
        return body

    def _call(self) -> Any:
        """Return a call, with usually one to three mutations."""
        method, params = self._random.choice(_CALLS)
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": json.loads(json.dumps(params))}
        for _ in range(self._random.choice([0, 1, 1, 1, 2, 3])):
            self._mutate(call)
        return call

    def _mutate(self, node: Any) -> None:
        """Change one member of a random object or array in the tree."""
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = self._random.choice(keys) if keys else None
            child = node[key] if key is not None else None
            if not isinstance(child, dict | list) or self._random.random() < 0.2:
                break
            node = child
        change = self._random.random()
        if key is None or (change < 0.15 and isinstance(node, dict)):
            self._add(node)
        elif change < 0.3:
            del node[key]
        else:
            node[key] = self._value()

    def _add(self, node: Any) -> None:
        if isinstance(node, dict):
            node[self._random.choice([*_TEXTS, "frozentime", "Name", "at "])] = self._value()
        else:
            node.append(self._value())

    def _value(self) -> Any:
        return self._random.choice(_VALUES)(self)

    def _number(self) -> Any:
        return _Raw(self._random.choice(_NUMBERS))

    def _text(self) -> Any:
        return self._random.choice(_TEXTS)

    def _characters(self) -> Any:
        return "".join(chr(self._random.choice([self._random.randrange(256), self._random.randrange(0x110000)]))
                       for _ in range(self._random.choice([1, 10, 121, 300])))  # fmt: skip

    def _address(self) -> Any:
        return next(hostile_addresses.generate(self._random.randrange(1 << 30), 1))

    def _nested(self) -> Any:
        depth = self._random.choice([2, MAX_NESTING - 1, MAX_NESTING, MAX_NESTING + 1, 1_000, 20_000])
        opening, closing = self._random.choice([("[", "]"), ('{"a":', "}")])
        return _Raw(opening * depth + "1" + closing * depth)

    def _many(self) -> Any:
        one = self._random.choice(["1", "{}", "[]", '""', json.dumps(_TRANSACTION), json.dumps(_GOAL)])
        return _Raw("[" + ",".join([one] * self._random.choice([25, 26, 100, 101, 1_000])) + "]")

    def _duplicates(self) -> Any:
        return _Raw('{"name":"a","name":"b","at":1,"at":2}')

    def _largest(self) -> bytes:
        """Return a body of about the maximum size."""
        piece = self._random.choice(
            [b"[", b"1,", b"{},", b'"a",', b'{"a":', b"\\u0000", b" ", json.dumps(_CALLS[0]).encode() + b","]
        )
        size = self._random.choice([MAX_BODY - 20, MAX_BODY, MAX_BODY + 1])
        head = self._random.choice(
            [b"[", b'{"jsonrpc":"2.0","id":1,"method":"createTestClock","params":{"transactions":[']
        )
        return (head + piece * (size // len(piece) + 1))[:size]

    def _damage(self, body: bytes) -> bytes:
        place = self._random.randint(0, len(body))
        kind = self._random.randrange(4)
        if kind == 0:
            return body[:place]
        if kind == 1:
            return body[:place] + body[place + 1 :]
        if kind == 2:
            return body[:place] + self._random.randbytes(self._random.choice([1, 4])) + body[place:]
        return body[:place] + self._random.choice(_INSERTIONS) + body[place:]


_VALUES: Final[list[Callable[[_Grammar], Any]]] = [
    _Grammar._number, _Grammar._number, _Grammar._text, _Grammar._text, _Grammar._characters, _Grammar._address,
    _Grammar._nested, _Grammar._many, _Grammar._duplicates,
]  # fmt: skip


def _write(value: Any) -> str:
    """Return JSON, with raw parts as they are."""
    if isinstance(value, _Raw):
        return value
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_write(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_write, value)) + "]"
    return json.dumps(value)
