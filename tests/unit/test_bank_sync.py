"""A client that applies what the bank adds and removes has the bank's rows after every sync, whatever happens."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from tests.store.values import START, clock
from tickover.api.clocks import AddEntry, NewClock
from tickover.api.errors import Rejection
from tickover.api.limits import MAX_CLOCK_TRANSACTIONS
from tickover.api.timestamps import write
from tickover.server.bank.sync import Cursor, read_cursor, read_page, write_cursor
from tickover.server.schedule.amend_schedule import amend
from tickover.server.schedule.bank_changes import Shown
from tickover.server.schedule.bank_rows import State
from tickover.server.schedule.bank_view import BankView
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.schedule import decode_stored, encode_stored, new_schedule
from tickover.server.schedule.view import view

ACCOUNTS = [{"key": key, "name": key, "currency": "EUR"} for key in ("a", "b")]
days = st.integers(0, 5)


def sign(payload: bytes) -> bytes:
    return bytes([sum(payload) % 256]) * 32


class Bank:
    """A clock that is advanced and amended."""

    def __init__(self, has_accounts: bool) -> None:
        self.has_accounts = has_accounts
        self.clock = clock(1)
        accounts = {"accounts": ACCOUNTS} if has_accounts else {}
        params = convert({"frozenTime": write(START), **accounts}, NewClock)
        self._set(new_schedule(self.clock, params))

    def _set(self, schedule: Any) -> None:
        self.schedule = decode_stored(encode_stored(schedule))
        ledger = Ledger(self.schedule)
        for _ in ledger.build():
            pass
        self.view = BankView(ledger)
        for _ in self.view.build():
            pass

    def advance(self, by: int) -> None:
        self.clock = replace(self.clock, frozen_time=self.clock.frozen_time + timedelta(days=by))

    def amend(
        self, payments: Sequence[tuple[int, int, str]], transfers: Sequence[int], cancelled: Sequence[int]
    ) -> None:
        def at(day: int) -> str:
            return write(self.clock.frozen_time + timedelta(days=day))

        entries: list[dict[str, Any]] = []
        for authorized, booked, account in payments:
            entry = {"at": at(authorized + booked), "name": "x", "amount": 1, "currency": "EUR", "type": "EXPENSE"}
            entry["authorizedAt"] = at(authorized)
            entries.append({**entry, "account": account} if self.has_accounts else entry)
        moved = [{"at": at(day), "name": "t", "from": "a", "to": "b", "amount": 2} for day in transfers]
        add = {"transactions": entries, "transfers": moved if self.has_accounts else []}
        scheduled = self.json()["pendingTransactions"] + self.json().get("pendingTransfers", [])
        cancel = list({scheduled[index % len(scheduled)]["id"] for index in cancelled}) if scheduled else []
        self._set(amend(self.clock, self.schedule, convert(add, AddEntry), cancel).schedule)

    def json(self) -> Any:
        return json.loads(view(self.clock.frozen_time, self.schedule))

    def shown(self) -> Shown:
        return Shown(self.view, self.view.state(self.clock.frozen_time))

    def rows(self) -> set[str]:
        """Return the IDs of all rows that the bank must show, from what the clock's owner sees."""
        clock, now = self.json(), write(self.clock.frozen_time)
        booked = {item["id"] for item in clock["transactions"]}
        pending = {f"{item['id']}_p" for item in clock["pendingTransactions"] if item["authorizedAt"] <= now}
        return (
            booked | pending | {f"{item['id']}_{side}" for item in clock.get("transfers", ()) for side in ("out", "in")}
        )


class Client:
    """Applies changes, and starts a loop again as Plaid's documentation tells clients to."""

    def __init__(self) -> None:
        self.rows: set[str] = set()
        self.first = self.cursor = ""
        self._next: set[str] = set()

    def read_page(self, bank: Bank, count: int) -> bool:
        """Read one page. Return whether it was the last one."""
        cursor = read_cursor(self.cursor, sign)
        assert cursor is not None
        if self.cursor == self.first:
            self._next = set(self.rows)
        page = read_page(bank.shown(), cursor, count)
        if page is None:
            assert self.cursor != self.first
            self.cursor = self.first
            return False
        added, removed = (
            {bank.view.rows[position].id for position in page.added},
            {row.transaction_id for row in page.removed},
        )
        assert 0 < len(page.added) + len(page.removed) <= count or not page.has_more
        assert len(added) == len(page.added)
        assert not added & self._next, "each row is added once"
        assert removed <= self._next, "only rows that the client has are removed"
        self._next = (self._next | added) - removed
        self.cursor = write_cursor(page.next, sign)
        assert len(self.cursor) <= 256
        if not page.has_more:
            self.first, self.rows = self.cursor, self._next
        return not page.has_more


payments = st.lists(st.tuples(days, days, st.sampled_from("ab")), max_size=4)
steps = st.one_of(
    st.tuples(st.just("advance"), days),
    st.tuples(st.just("amend"), payments, st.lists(days, max_size=2), st.lists(st.integers(0, 20), max_size=3)),
    st.tuples(st.just("page"), st.integers(1, 4)),
    st.tuples(st.just("sync"), st.integers(1, 500)),
)


@settings(max_examples=150, deadline=None)
@given(st.booleans(), st.lists(steps, max_size=30))
# A payment of the first page is cancelled before the second one.
@example(False, [("amend", [(0, 2, "a")] * 3, [], []), ("page", 1), ("amend", [], [], [0]), ("page", 1)])
def test_client_has_the_rows_of_the_bank_after_every_sync(has_accounts: bool, steps: list[tuple[Any, ...]]) -> None:
    bank, client = Bank(has_accounts), Client()
    for name, *arguments in [*steps, ("sync", 3)]:
        if name in ("advance", "amend"):
            getattr(bank, name)(*arguments)
        elif name == "page":
            if client.read_page(bank, *arguments):
                assert client.rows == bank.rows()
        else:
            while not client.read_page(bank, *arguments):
                pass
            assert client.rows == bank.rows()


@pytest.mark.parametrize("seen", [State(START, 1, 2, 3), State(START - timedelta(days=400_000), 2**32 - 1)])
def test_cursors_are_read_as_they_were_written(seen: State) -> None:
    for cursor in (Cursor(seen, seen), Cursor(seen, State(START), 500)):
        assert read_cursor(write_cursor(cursor, sign), sign) == cursor


@pytest.mark.parametrize(
    ("text", "target", "offset"),
    [
        ("AAZombLXQAAAAAABAAAAAgAAAAPW1tbW1tbW1tbW1tbW1tbW", State(START, 1, 2, 3), 0),
        (
            "AAZombLXQAAAAAABAAAAAgAAAAMABmit0K6gAAAAAAQAAAAFAAAABgAAAfQTExMTExMTExMTExMTExMT",
            State(START + timedelta(days=1), 4, 5, 6),
            500,
        ),
    ],
)
def test_clients_keep_their_cursors_over_releases(text: str, target: State, offset: int) -> None:
    cursor = Cursor(State(START, 1, 2, 3), target, offset)
    assert write_cursor(cursor, sign) == text
    assert read_cursor(text, sign) == cursor
    assert read_cursor(text[-22:] + text[:-22], sign) is None


@pytest.mark.parametrize(("now", "withdrawn", "valid_days"), [(0, 0, 2), (1, 0, 2), (2, 1, 4), (3, 1, 4)])
def test_only_authorized_payments_are_withdrawn(now: int, withdrawn: int, valid_days: int) -> None:
    """An amendment that doesn't know of the authorization yet is invalid when it happens."""
    bank = Bank(False)
    bank.amend([(2, 2, "a")], [], [])
    [payment] = bank.json()["pendingTransactions"]
    bank.advance(now)
    following = amend(bank.clock, bank.schedule, AddEntry(), [payment["id"]])
    assert len(following.schedule.cancelled_payments) == withdrawn
    assert following.valid_until == START + timedelta(days=valid_days, microseconds=-1)


def test_withdrawn_payments_count_as_transactions() -> None:
    bank = Bank(False)
    bank.advance(1)
    for _ in range(MAX_CLOCK_TRANSACTIONS // 100):
        bank.amend([(0, 1, "a")] * 100, [], [])
        bank.amend([], [], range(100))
    assert len(bank.schedule.cancelled_payments) == MAX_CLOCK_TRANSACTIONS
    with pytest.raises(Rejection, match="must leave the clock with at most 2000 transactions"):
        bank.amend([(0, 1, "a")], [], [])
