"""R13: random histories of advances, amendments and syncs, a third with faults.

After every sync, what a client of Plaid has added and removed equals what the clock's owner sees.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any

from lab.soak.histories import FaultDuringCalls, history_figures, record_histories, sign_in
from lab.soak.linearizability.planned_mail import PlannedMailServer
from lab.soak.linearizability.servers import CUT, Servers
from lab.soak.raw_connections import ConnectionLost, RawConnection, ResponseTruncated, connect
from lab.soak.rows import Context, Figure, Row
from tests.support.world import HttpResponse

_HISTORIES = 1_000
_QUICK_HISTORIES = 48
_STEPS = 16
_SHARE_CUT = 0.15
_MAX_SECONDS = 60.0
_START = datetime(2027, 1, 1, tzinfo=UTC)
_ACCOUNTS = [{"key": key, "name": key, "currency": "EUR", "openingBalance": 50} for key in ("main", "card")]
_AGAIN = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"

Json = dict[str, Any]
Rows = dict[str, tuple[Any, ...]]
"""The account, the amount, the name, the date, and whether it is pending, by ID."""


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
    """Applies what changed, and begins a loop again as Plaid's documentation tells clients to."""

    def __init__(self, caller: _Caller, access_token: str, account: str) -> None:
        self._caller = caller
        self._access_token = access_token
        self._account = account
        """The key of the only account that this client reads, or nothing."""
        self._rows: Rows = {}
        self._next: Rows = {}
        self._first = self._cursor = ""

    async def read_page(self, clock: Json, size: int) -> bool:
        """Read a page. After the last one, compare with the clock. Return whether it was the last one."""
        options = {"account_id": f"acct_{_key(clock)}_{self._account}"} if self._account else {}
        members = {"access_token": self._access_token, "cursor": self._cursor, "count": size, "options": options}
        response = await self._caller.plaid("/transactions/sync", members)
        if response.status != 200:
            assert response.json["error_code"] == _AGAIN, response
            assert self._cursor != self._first, "the first page of a loop has no earlier pages"
            self._cursor = self._first
            return False
        page = response.json
        if self._cursor == self._first:
            self._next = dict(self._rows)
        assert len(page["added"]) + len(page["removed"]) <= size
        assert page["modified"] == []
        for row in page["removed"]:
            assert self._next.pop(row["transaction_id"])[0] == _account_key(row)
        for row in page["added"]:
            assert row["transaction_id"] not in self._next, "each row is added once"
            self._next[row["transaction_id"]] = (
                _account_key(row), row["amount"], row["name"], row["date"], row["pending"]
            )  # fmt: skip
        self._cursor = page["next_cursor"]
        if page["has_more"]:
            return False
        self._first, self._rows = self._cursor, self._next
        expected = rows_of(clock)
        wanted = {id: row for id, row in expected.items() if self._account in ("", row[0])}
        assert self._rows == wanted, f"the client has {self._rows}, and the bank has {wanted}"
        for account in page["accounts"]:
            of_account = [row for row in expected.values() if row[0] == _account_key(account)]
            opening = 50 if "accounts" in clock else 0
            balances = account["balances"]
            assert balances["current"] == opening - sum(row[1] for row in of_account if not row[4])
            assert balances["available"] == opening - sum(row[1] for row in of_account)
        return True


def _key(clock: Json) -> str:
    return str(clock["id"]).removeprefix("clock_").replace("-", "")


def _account_key(row: Json) -> str:
    return str(row["account_id"]).rpartition("_")[2]


def rows_of(clock: Json) -> Rows:
    """Return the rows that the bank must show, from what the clock's owner sees."""
    rows: Rows = {}

    def add(id: str, item: Json, account: str, amount: int, day: str, *, pending: bool = False) -> None:
        rows[id] = (account, amount, item["name"], day[:10], pending)

    for item in clock["transactions"] + clock["pendingTransactions"]:
        sign = 1 if item["type"] == "EXPENSE" else -1
        account = item.get("account", "eur")
        if item["at"] <= clock["frozenTime"]:
            add(item["id"], item, account, sign * item["amount"], item["at"])
        elif item["authorizedAt"] <= clock["frozenTime"]:
            shown = {"name": item.get("authorizedName", item["name"])}
            amount = item.get("authorizedAmount", item["amount"])
            add(f"{item['id']}_p", shown, account, sign * amount, item["authorizedAt"], pending=True)
    for item in clock.get("transfers", ()):
        add(f"{item['id']}_out", item, item["from"], item["amount"], item["at"])
        add(f"{item['id']}_in", item, item["to"], -item["amount"], item["at"])
    return rows


class _History:
    """A clock, its owner, and two clients of its bank."""

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
            params = {"id": self._clock["id"], "protocol": "PLAID"}
            token = (await self._caller.rpc("connectTestClock", params))["publicToken"]
            exchanged = await self._caller.plaid("/item/public_token/exchange", {"public_token": token})
            self._clients.append(_Client(self._caller, exchanged.json["access_token"], account))

    async def run(self) -> None:
        try:
            for _ in range(_STEPS):
                step = self._chances.choice((self._advance, self._amend, self._amend, self._read_page, self._sync))
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
        self._day += self._chances.randint(0, 4)
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
        return await client.read_page(self._clock, size)


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
    "1,000 random histories of advances, amendments and syncs, a third with faults and kills: "
    "what a client has added and removed equals the bank's view after every sync",
    run,
    minutes=8,
    quick_minutes=0.5,
)
