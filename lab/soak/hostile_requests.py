"""Generates hostile requests from the examples of the API and of the bank. A seed always gives the same requests."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from lab.bank_access import PLAID_CLIENT, connect_plaid, connect_simplefin
from lab.soak import hostile_addresses
from tests.support.program import Program
from tickover.api.limits import MAX_BATCH, MAX_BODY, MAX_NESTING

# Literal JSON, because `json.dumps` can't write all of it.
_NUMBERS: Final = [
    "0", "-0", "-1", "1.5", "1e400", "-1e400", "1e-400", "9" * 400, "0." + "0" * 400 + "1", "NaN", "-Infinity", "01",
    "1e", "2147483648", "9223372036854775808", "1000000000.0000001", "1e9", "true", "null",
]  # fmt: skip
_TEXTS: Final = [
    "", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "\x1b[2J", "é" * 200, "A" * 5_000, "💶" * 121,
    "2027-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2027-01-01T00:00:00+99:99", "-1",
    "'; drop table clocks; --", "../../etc/passwd", "%s%n", "${jndi:ldap://x}", "<script>", "clock_", "__proto__",
    "clock_" + "z" * 300, "constructor", "jsonrpc", "id", "2.0", "frozentime", "Name", "at ",
]  # fmt: skip
_INSERTIONS: Final = [b",", b'"', b"}", b"]", b"\\", b"\xff", b"\0", b"\xed\xa0\x80"]
_ENDS_THE_TOKEN: Final = "logout"


class HttpRequest(NamedTuple):
    method: str
    path: str
    body: bytes = b""
    authorization: str = ""


class Seeds(NamedTuple):
    """Valid requests, which the generator changes."""

    calls: Sequence[Any]
    """JSON-RPC requests: the examples of all operations."""
    token: str
    plaid: Sequence[tuple[str, Any]]
    simplefin_user: str

    @classmethod
    def of(cls, program: Program, token: str) -> "Seeds":
        """Read the examples from the OpenRPC document, and connect a clock to each protocol of the bank."""
        methods = program.result("rpc.discover", {})["methods"]
        calls = [
            {"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": _params(example)}
            for method in methods
            for example in method["examples"]
            if method["name"] != _ENDS_THE_TOKEN
        ]
        clock = program.result("createTestClock", {"openingBalances": {"EUR": 1}}, token)["clock"]["id"]
        exchange = ("/item/public_token/exchange", {**PLAID_CLIENT, "public_token": "public-sandbox-any"})
        item = {**PLAID_CLIENT, "access_token": connect_plaid(program, token, clock)}
        pages = {"count": 2, "options": {"account_id": "acct_1_eur"}}
        plaid = [
            exchange,
            ("/item/get", item),
            ("/accounts/balance/get", item),
            ("/transactions/sync", {**item, "cursor": "", **pages}),
            ("/transactions/get", {**item, "start_date": "2027-01-01", "end_date": "2027-02-01", **pages}),
            ("/institutions/get_by_id", {**PLAID_CLIENT, "institution_id": "ins_1", "country_codes": ["DE"]}),
        ]
        return cls(calls, token, plaid, connect_simplefin(program, token, clock))


def _params(example: Any) -> Any:
    return {param["name"]: param["value"] for param in example["params"]}


def generate(seed: int, count: int, seeds: Seeds) -> Iterator[HttpRequest]:
    """Yield this many requests, a quarter of them to the bank."""
    grammar = _Grammar(random.Random(seed), seeds)
    return (grammar.request() for _ in range(count))


class _Raw(str):
    """Text that is already JSON."""

    __slots__ = ()


class _Grammar:
    def __init__(self, generator: random.Random, seeds: Seeds) -> None:
        self._random = generator
        self._seeds = seeds

    def request(self) -> HttpRequest:
        chance = self._random.random()
        if chance < 0.05:
            return self._simplefin()
        if chance < 0.25:
            path, members = self._random.choice(self._seeds.plaid)
            return HttpRequest("POST", f"/plaid{path}", self._body(self._changed(members)))
        return HttpRequest("POST", "/rpc", self._rpc_body(), f"Bearer {self._seeds.token}")

    def _simplefin(self) -> HttpRequest:
        names = [self._random.choice(["start-date", "end-date", "pending", "account", "version", ""]) for _ in range(3)]
        values = [str(self._random.choice([*_NUMBERS, *_TEXTS])) for _ in names]
        query = "&".join(
            f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in zip(names, values, strict=True)
        )
        path = self._random.choice(
            ["/simplefin/accounts", "/simplefin/accounts", "/simplefin/info", "/simplefin/claim/x"]
        )
        return HttpRequest("GET", f"{path}?{query}", b"", f"Basic {self._seeds.simplefin_user}")

    def _rpc_body(self) -> bytes:
        chance = self._random.random()
        if chance < 0.001:
            return self._largest()
        if chance < 0.005:
            return self._body([self._call() for _ in range(self._random.choice([MAX_BATCH, MAX_BATCH + 1]))])
        if chance < 0.05:
            return self._body([self._call() for _ in range(self._random.choice([0, 1, 2, 5]))])
        return self._body(self._call())

    def _call(self) -> Any:
        return self._changed(self._random.choice(self._seeds.calls))

    def _body(self, value: Any) -> bytes:
        body = _write(value).encode("utf-8", "surrogatepass")
        while self._random.random() < 0.15:
            body = self._damage(body)
        return body

    def _changed(self, valid: Any) -> Any:
        """Return a copy with usually one to three mutations."""
        changed = json.loads(json.dumps(valid))
        for _ in range(self._random.choice([0, 1, 1, 1, 2, 3])):
            self._mutate(changed)
        return changed

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
            node[self._random.choice(_TEXTS)] = self._value()
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
        one = self._random.choice(["1", "{}", "[]", '""', json.dumps(self._random.choice(self._seeds.calls)["params"])])
        return _Raw("[" + ",".join([one] * self._random.choice([25, 26, 100, 101, 1_000])) + "]")

    def _duplicates(self) -> Any:
        return _Raw('{"name":"a","name":"b","at":1,"at":2}')

    def _largest(self) -> bytes:
        """Return a body of about the maximum size."""
        call = json.dumps(self._seeds.calls[0]).encode()
        piece = self._random.choice([b"[", b"1,", b"{},", b'"a",', b'{"a":', b"\\u0000", b" ", call + b","])
        size = self._random.choice([MAX_BODY - 20, MAX_BODY, MAX_BODY + 1])
        head = self._random.choice([b"[", call[: call.index(b'"params"')] + b'"params":{"transactions":['])
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
