"""R13: random histories of advances, amendments, quirks, consents and syncs, a third with faults.

After every sync, what a client of Plaid has added, modified and removed equals what a model of the bank tells, which
knows only what the clock's owner sees. So does what a client of SimpleFIN reads.
"""

import asyncio
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any
from urllib.parse import urlsplit

from lab.soak.histories import CUT, FaultDuringCalls, history_figures, record_histories, sign_in
from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.raw_connections import ConnectionLost, RawConnection, ResponseTruncated, connect
from lab.soak.rows import Context, Figure, Row
from lab.soak.servers import Servers
from tests.support.bank_model import Connection, Told, told_rows
from tests.support.world import HttpResponse

_HISTORIES = 1_000
_QUICK_HISTORIES = 48
_STEPS = 16
_SHARE_CUT = 0.15
_MAX_SECONDS = 60.0
_START = datetime(2027, 1, 1, tzinfo=UTC)
_ACCOUNTS = [{"key": key, "name": key, "currency": "EUR", "openingBalance": 50} for key in ("main", "card")]
_AGAIN = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"

_LOGIN_REQUIRED = "ITEM_LOGIN_REQUIRED"
_TOGETHER: tuple[tuple[str, ...], ...] = (("SAME_ID",), ("UNLINKED", "HOLDS_AS_BOOKED", "HOLDS_STAY"))
"""Quirks of one group contradict those of the other."""
_OTHERS = ("REWRITES_NAMES", "TELLS_LATE", "NEW_IDS", "NEW_IDS_ON_RELINK", "DOUBLES", "SHORT_HISTORY")

Json = dict[str, Any]
Rows = dict[str, Told]


def _at(day: int) -> str:
    return f"{_START + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"


class _Caller:
    """Calls the servers until there is a response. Repeated calls have no further effect."""

    def __init__(self, servers: Servers, chances: Random) -> None:
        self._servers = servers
        self._chances = chances
        self.fault = ""
        self.count_call: Callable[[], None] = lambda: None
        self._connection: RawConnection | None = None
        self._keys = count()
        self.token = ""

    async def rpc(self, method: str, params: Json, *, has_key: bool = False) -> Any:
        key = f"{params['id']} {next(self._keys)}" if has_key else ""
        response = await self._call(lambda connection: connection.send(method, params, self.token, key))
        assert "result" in response.json, response
        return response.json["result"]

    async def plaid(self, path: str, members: Json) -> HttpResponse:
        body = {"client_id": "any", "secret": "any", **members}
        return await self._call(lambda connection: connection.post(f"/plaid{path}", body))

    async def claim(self, claim_url: str) -> str:
        response = await self._call(lambda connection: connection.post(urlsplit(claim_url).path, {}))
        return response.body.decode()

    async def get(self, path: str, credentials: str) -> HttpResponse:
        header = f"Authorization: Basic {b64encode(credentials.encode()).decode()}\r\n"
        return await self._call(lambda connection: connection.get(path, header))

    async def _call(self, send: Callable[[RawConnection], None]) -> HttpResponse:
        self.count_call()
        async with asyncio.timeout(_MAX_SECONDS):
            while True:
                with suppress(ConnectionError, ConnectionLost, ResponseTruncated):
                    if self._connection is None:
                        self._connection = await connect(await self._servers.url(self._chances.randrange(2)))
                    send(self._connection)
                    if self.fault != CUT or self._chances.random() > _SHARE_CUT:
                        response = await self._connection.receive()
                        if response.status < 500:
                            return response
                        assert self.fault, response
                    else:
                        # Let the bytes leave before the connection is closed.
                        await asyncio.sleep(0)
                self.close()
                await asyncio.sleep(0.01)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Client:
    """A program that reads the bank of a clock by one connection."""

    def __init__(self, caller: _Caller, connection: Json, secret: str) -> None:
        self._caller = caller
        self._secret = secret
        self.id: str = connection["id"]
        self.quirks: Sequence[str] = connection["quirks"]
        self.consent_days: int | None = connection.get("consentDays")

    def expected(self, clock: Json, at: datetime | None = None) -> Rows:
        return told_rows(clock, Connection(_START, self.id, self.quirks), at)

    def consent_end(self) -> datetime:
        return datetime.max.replace(tzinfo=UTC) if self.consent_days is None else _START + timedelta(self.consent_days)

    def has_consent(self, clock: Json) -> bool:
        return datetime.fromisoformat(clock["frozenTime"]) < self.consent_end()

    async def read(self, clock: Json, size: int) -> bool:
        """Read something, and compare with the clock. Return whether nothing is left."""
        raise NotImplementedError


class _SimplefinClient(_Client):
    async def read(self, clock: Json, size: int) -> bool:
        user, password = self._secret.split("//")[1].split("@")[0].split(":")
        response = await self._caller.get("/simplefin/accounts?pending=1", f"{user}:{password}")
        assert response.status == 200, response
        assert bool(response.json["errors"]) is not self.has_consent(clock)
        # After the consent has ended, the bank shows what it showed then.
        at = min(datetime.fromisoformat(clock["frozenTime"]), self.consent_end())
        found = sorted(
            (row["id"], row["description"], row["amount"], row.get("pending", False))
            for account in response.json["accounts"]
            for row in account["transactions"]
        )
        assert found == sorted(
            ("0" if "NO_IDS" in self.quirks else id, told.name, f"{told.amount:.2f}", told.is_pending)
            for id, told in self.expected(clock, at).items()
        )
        return True


class _PlaidClient(_Client):
    """Applies what changed, and begins a loop again as Plaid's documentation tells clients to."""

    def __init__(self, caller: _Caller, connection: Json, secret: str, account: str) -> None:
        super().__init__(caller, connection, secret)
        self._account = account
        """The key of the only account that this client reads, or nothing."""
        self._rows: Rows = {}
        self._next: Rows = {}
        self._first = self._cursor = ""

    async def read(self, clock: Json, size: int) -> bool:
        """Read a page. After the last one, compare with the clock. Return whether it was the last one."""
        own = f"_{self.id.replace('-', '')[-12:]}" if "NEW_IDS_ON_RELINK" in self.quirks else ""
        options = {"account_id": f"acct_{_key(clock)}_{self._account}{own}"} if self._account else {}
        members = {"access_token": self._secret, "cursor": self._cursor, "count": size, "options": options}
        response = await self._caller.plaid("/transactions/sync", members)
        if not self.has_consent(clock):
            assert (response.status, response.json["error_code"]) == (400, _LOGIN_REQUIRED), response
            return True
        if response.status != 200:
            assert response.json["error_code"] == _AGAIN, response
            assert self._cursor != self._first, "the first page of a loop has no earlier pages"
            self._cursor = self._first
            return False
        page = response.json
        if self._cursor == self._first:
            self._next = dict(self._rows)
        self._apply(page, size)
        self._cursor = page["next_cursor"]
        if page["has_more"]:
            return False
        self._first, self._rows = self._cursor, self._next
        expected = self.expected(clock)
        wanted = {id: row for id, row in expected.items() if self._account in ("", row.account)}
        assert self._rows == wanted, f"the client has {self._rows}, and the bank tells {wanted}"
        for account in page["accounts"]:
            _check_balances(clock, account)
        return True

    def _apply(self, page: Json, size: int) -> None:
        assert len(page["added"]) + len(page["modified"]) + len(page["removed"]) <= size
        for row in page["removed"]:
            assert self._next.pop(row["transaction_id"]).account == _account_key(row)
        for row in page["added"]:
            assert row["transaction_id"] not in self._next, "each row is added once"
            self._next[row["transaction_id"]] = _told(row)
        for row in page["modified"]:
            told = _told(row)
            assert self._next[row["transaction_id"]] != told, "only rows that changed are modified"
            self._next[row["transaction_id"]] = told


def _told(row: Json) -> Told:
    category = (row["category"] or [None])[0]
    at, amount = datetime.fromisoformat(row["datetime"]), -row["amount"]
    return Told(
        _account_key(row), at, row["name"], amount, category, row["pending"], row["pending_transaction_id"]
    )  # fmt: skip


def _check_balances(clock: Json, account: Json) -> None:
    """Quirks never change balances."""
    rows = told_rows(clock, Connection(_START)).values()
    of_account = [row for row in rows if row.account == _account_key(account)]
    opening, balances = 50 if "accounts" in clock else 0, account["balances"]
    assert balances["current"] == opening + sum(row.amount for row in of_account if not row.is_pending)
    assert balances["available"] == opening + sum(row.amount for row in of_account)


def _key(clock: Json) -> str:
    return str(clock["id"]).removeprefix("clock_").replace("-", "")


def _account_key(row: Json) -> str:
    return str(row["account_id"]).split("_")[2]


class _History:
    """A clock, its owner, and three clients of its bank."""

    def __init__(self, number: int, caller: _Caller, chances: Random) -> None:
        self._number = number
        self._caller = caller
        self._chances = chances
        self._day = 0
        self._has_accounts = number % 2 == 0
        self._clients: list[_Client] = []
        self.steps: list[Any] = []

    async def begin(self, token: str) -> None:
        self._caller.token = token
        accounts = {"accounts": _ACCOUNTS} if self._has_accounts else {}
        opening = {} if self._has_accounts else {"openingBalances": {"EUR": 0}}
        created = await self._caller.rpc("createTestClock", {"frozenTime": _at(0), **accounts, **opening})
        self._clock = created["clock"]
        for account in ("", "card" if self._has_accounts else "eur"):
            connection, token = await self._connect("PLAID")
            exchanged = await self._caller.plaid("/item/public_token/exchange", {"public_token": token})
            self._clients.append(_PlaidClient(self._caller, connection, exchanged.json["access_token"], account))
        connection, token = await self._connect("SIMPLEFIN")
        access_url = await self._caller.claim(b64decode(token).decode())
        self._clients.append(_SimplefinClient(self._caller, connection, access_url))

    async def _connect(self, protocol: str) -> tuple[Json, str]:
        params: Json = {"id": self._clock["id"], "protocol": protocol, "quirks": self._quirks(protocol)}
        if self._chances.random() < 0.2:
            params["consentDays"] = self._chances.randint(5, 30)
        connected = await self._caller.rpc("connectTestClock", params)
        self.steps.append(("connect", connected["connection"]))
        return connected["connection"], connected.get("publicToken") or connected["setupToken"]

    def _quirks(self, protocol: str) -> list[str]:
        """Return quirks that go together."""
        others = (*_OTHERS, "NO_IDS") if protocol == "SIMPLEFIN" else _OTHERS
        return [
            quirk for quirk in (*self._chances.choice(_TOGETHER), *others) if self._chances.random() < 0.35
        ]  # fmt: skip

    async def _change_quirks(self) -> None:
        client = self._chances.choice(self._clients)
        quirks = self._quirks("SIMPLEFIN" if isinstance(client, _SimplefinClient) else "PLAID")
        self.steps.append(("quirks", self._clients.index(client), quirks))
        params = {"id": self._clock["id"], "connectionId": client.id, "quirks": quirks}
        await self._caller.rpc("updateTestClockConnection", params)
        client.quirks = quirks

    async def run(self) -> None:
        try:
            for _ in range(_STEPS):
                steps = self._advance, self._amend, self._amend, self._read_page, self._sync, self._change_quirks
                step = self._chances.choice(steps)
                await step()
            for client in self._clients:
                await self._sync(client)
        except AssertionError as error:
            raise AssertionError(
                f"history {self._number}: {error}\nsteps: {self.steps}\nclock: {self._clock}"
            ) from error
        finally:
            self._caller.close()

    async def _advance(self) -> None:
        self._day += self._chances.choice((0, 1, 2, 3, 4, 27))
        self.steps.append(("advance", self._day))
        params = {"id": self._clock["id"], "frozenTime": _at(self._day)}
        self._clock = (await self._caller.rpc("advanceTestClock", params))["clock"]

    async def _amend(self) -> None:
        scheduled = self._clock["pendingTransactions"] + self._clock.get("pendingTransfers", [])
        cancelled = self._chances.sample(scheduled, min(len(scheduled), self._chances.randint(0, 2)))
        added: Json = {"transactions": [self._transaction() for _ in range(self._chances.randint(1, 5))]}
        if self._has_accounts:
            added["transfers"] = [
                {"at": _at(self._later()), "name": "moved", "from": "main", "to": "card", "amount": 2}
                for _ in range(self._chances.randint(0, 2))
            ]
        params = {"id": self._clock["id"], "add": added, "cancel": [item["id"] for item in cancelled]}
        self.steps.append(("amend", params["add"], params["cancel"]))
        self._clock = (await self._caller.rpc("amendTestClock", params, has_key=True))["clock"]

    def _later(self) -> int:
        return self._day + self._chances.randint(0, 4)

    def _transaction(self) -> Json:
        authorized = self._later()
        entry = {
            "at": _at(authorized + self._chances.randint(0, 3)),
            "name": f"item {self._chances.randint(0, 99)}",
            "amount": self._chances.randint(1, 99),
            "currency": "EUR",
            "type": self._chances.choice(("EXPENSE", "INCOME")),
            "authorizedAt": _at(authorized),
        }
        if self._chances.random() < 0.5:
            entry["category"] = "Food"
        if self._chances.random() < 0.5:
            entry |= {"authorizedAmount": 1, "authorizedName": "hold"}
        return {**entry, "account": self._chances.choice(("main", "card"))} if self._has_accounts else entry

    async def _read_page(self) -> None:
        await self._read(self._chances.choice(self._clients), self._chances.randint(1, 3))

    async def _sync(self, client: _Client | None = None) -> None:
        client, size = client or self._chances.choice(self._clients), self._chances.choice((1, 3, 500))
        while not await self._read(client, size):
            pass

    async def _read(self, client: _Client, size: int) -> bool:
        self.steps.append(("page", self._clients.index(client), size))
        return await client.read(self._clock, size)


async def record_round(
    servers: Servers, mail: PlannedMailServer, numbers: Sequence[int], fault: str = ""
) -> Iterable[str]:
    """Run a history for each number at the same time. Return the fault of each, if it happened."""
    during = FaultDuringCalls(servers, fault, Random(numbers[0]), len(numbers) * _STEPS)
    token = await sign_in(servers, mail, f"bank{numbers[0]}@example.test")
    histories = []
    for number in numbers:
        own = Random(number)
        caller = _Caller(servers, own)
        history = _History(number, caller, own)
        await history.begin(token)
        # Tokens are exchanged once, so no fault begins before that.
        caller.fault, caller.count_call = fault, during.count_call
        histories.append(history)
    async with asyncio.TaskGroup() as group:
        for history in histories:
            group.create_task(history.run())
        await during.inject()
    return [during.happened for _ in histories]


def run(context: Context) -> Iterator[Figure]:
    wanted = context.scale(_HISTORIES, _QUICK_HISTORIES)
    faults: Counter[str] = Counter()
    try:
        record_histories(context, wanted, faults, record_round)
    finally:
        yield from history_figures(faults, wanted)


ROW = Row(
    "R13",
    "The bank is exact",
    "1,000 random histories of advances, amendments, quirks, consents and syncs, a third with faults and kills: "
    "what a client of Plaid or SimpleFIN has equals the bank's view after every sync",
    run,
    minutes=8,
    quick_minutes=0.5,
)
