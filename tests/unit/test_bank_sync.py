"""A client that applies what the bank adds and removes has the bank's rows after every sync, whatever happens."""

import json
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from tests.store.values import START, clock, key
from tests.support.bank_model import Connection, Told, told_rows
from tickover.api.clocks import AddEntry, NewClock
from tickover.api.connections import ALL_QUIRKS, Quirk, quirk_faults
from tickover.api.errors import Rejection
from tickover.api.limits import MAX_CLOCK_TRANSACTIONS
from tickover.api.timestamps import Instant, write
from tickover.server.bank.sync import Cursor, read_cursor, read_page, write_cursor
from tickover.server.schedule.amend_schedule import amend
from tickover.server.schedule.bank_changes import Shown
from tickover.server.schedule.bank_rows import BankConnection, Row, State
from tickover.server.schedule.bank_view import BankView
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.quirks import AppliedQuirks
from tickover.server.schedule.schedule import decode_stored, encode_stored, new_schedule
from tickover.server.schedule.view import view

ACCOUNTS = [{"key": key, "name": key, "currency": "EUR"} for key in ("a", "b")]
days = st.one_of(st.integers(0, 5), st.sampled_from([27, 31]))


def sign(payload: bytes) -> bytes:
    return bytes([sum(payload) % 256]) * 32


class Bank:
    """A clock that is advanced and amended."""

    def __init__(self, has_accounts: bool, quirks: Collection[Quirk] = (), connected_at: Instant = START) -> None:
        self.has_accounts = has_accounts
        self.quirks = quirks
        self._connection = BankConnection(key(7), connected_at)
        self.clock = clock(1)
        accounts = {"accounts": ACCOUNTS} if has_accounts else {}
        params = convert({"frozenTime": write(START), **accounts}, NewClock)
        self._set(new_schedule(self.clock, params))

    def _set(self, schedule: Any) -> None:
        self.schedule = decode_stored(encode_stored(schedule))
        self._ledger = Ledger(self.schedule)
        for _ in self._ledger.build():
            pass
        self._views: dict[frozenset[Quirk], BankView] = {}

    def view(self, quirks: Collection[Quirk]) -> BankView:
        names = frozenset(quirks)
        if names not in self._views:
            view = self._views[names] = BankView(self._ledger, AppliedQuirks.of(names, self._connection))
            for _ in view.build():
                pass
        return self._views[names]

    def change_quirks(self, quirks: Collection[Quirk]) -> None:
        self.quirks = quirks

    def advance(self, by: int) -> None:
        self.clock = replace(self.clock, frozen_time=self.clock.frozen_time + timedelta(days=by))

    def amend(
        self, payments: Sequence[tuple[int, int, str]], transfers: Sequence[int], cancelled: Sequence[int]
    ) -> None:
        def at(day: int) -> str:
            return write(self.clock.frozen_time + timedelta(days=day))

        entries: list[dict[str, Any]] = []
        for authorized, booked, account in payments:
            entry = {
                "at": at(authorized + booked),
                "name": "x",
                "amount": 1,
                "currency": "EUR",
                "type": "EXPENSE",
                "category": "C",
            }
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
        view = self.view(self.quirks)
        return Shown(view, view.state(self.clock.frozen_time))

    def rows(self) -> dict[str, Told]:
        """Return all rows that the bank must show, from what the clock's owner sees."""
        connection = Connection(self._connection.connected_at, self._connection.key.hex(), self.quirks)
        return told_rows(self.json(), connection)


class Client:
    """Applies changes, and starts a loop again as Plaid's documentation tells clients to."""

    def __init__(self) -> None:
        self.rows: dict[str, Told] = {}
        self.first = self.cursor = ""
        self._next: dict[str, Told] = {}

    def read_page(self, bank: Bank, count: int) -> bool:
        """Read one page. Return whether it was the last one."""
        cursor = read_cursor(self.cursor, sign)
        assert cursor is not None
        if self.cursor == self.first:
            self._next = dict(self.rows)
        before, now = Shown(bank.view(cursor.seen.quirks), cursor.seen), bank.shown()
        page = read_page(before, now, cursor, count)
        if page is None:
            assert self.cursor != self.first
            self.cursor = self.first
            return False
        added, modified = (
            {now.view.rows[position].id: told(now.view.rows[position]) for position in positions}
            for positions in (page.added, page.modified)
        )
        removed = {row.transaction_id for row in page.removed}
        length = len(page.added) + len(page.modified) + len(page.removed)
        assert 0 < length <= count or not page.has_more
        assert len(added) + len(modified) + len(removed) == length
        assert not added.keys() & self._next, "each row is added once"
        assert all(row != self._next[id] for id, row in modified.items()), "only rows that changed are modified"
        assert removed <= self._next.keys(), "only rows that the client has are removed"
        self._next = {id: row for id, row in (self._next | added | modified).items() if id not in removed}
        self.cursor = write_cursor(page.next, sign)
        assert len(self.cursor) <= 256
        if not page.has_more:
            self.first, self.rows = self.cursor, self._next
        return not page.has_more


def told(row: Row) -> Told:
    content = row.content
    account, names = row.account.key, (content.category, content.is_pending, content.pending_id)
    return Told(account, content.at, content.name, content.amount, *names)


@st.composite
def quirk_lists(draw: st.DrawFn) -> list[Quirk]:
    """Return quirks that go together."""
    drawn: list[Quirk] = draw(st.lists(st.sampled_from(ALL_QUIRKS), unique=True))
    found: list[Quirk] = []
    for quirk in drawn:
        if not list(quirk_faults([*found, quirk], "PLAID")):
            found.append(quirk)
    return found


payments = st.lists(st.tuples(days, days, st.sampled_from("ab")), max_size=4)
steps = st.one_of(
    st.tuples(st.just("advance"), days),
    st.tuples(st.just("amend"), payments, st.lists(days, max_size=2), st.lists(st.integers(0, 20), max_size=3)),
    st.tuples(st.just("page"), st.integers(1, 4)),
    st.tuples(st.just("sync"), st.integers(1, 500)),
    st.tuples(st.just("change_quirks"), quirk_lists()),
)


@settings(max_examples=300, deadline=None)
@given(st.booleans(), quirk_lists(), st.sampled_from([0, 100, 140]), st.lists(steps, max_size=30))
# A payment of the first page is cancelled before the second one.
@example(False, [], 0, [("amend", [(0, 2, "a")] * 3, [], []), ("page", 1), ("amend", [], [], [0]), ("page", 1)])
def test_client_has_the_rows_of_the_bank_after_every_sync(
    has_accounts: bool, quirks: list[Quirk], connected_on: int, steps: list[tuple[Any, ...]]
) -> None:
    bank, client = Bank(has_accounts, quirks, START + timedelta(days=connected_on)), Client()
    for name, *arguments in [*steps, ("sync", 3)]:
        if name in ("advance", "amend", "change_quirks"):
            getattr(bank, name)(*arguments)
        elif name == "page":
            if client.read_page(bank, *arguments):
                assert client.rows == bank.rows()
        else:
            assert any(client.read_page(bank, *arguments) for _ in range(1_000)), "the pages don't end"
            assert client.rows == bank.rows()


@pytest.mark.parametrize(
    "seen", [State(START, 1, 2, 3, frozenset(ALL_QUIRKS)), State(START - timedelta(days=400_000), 2**32 - 1)]
)
def test_cursors_are_read_as_they_were_written(seen: State) -> None:
    for cursor in (Cursor(seen, seen), Cursor(seen, State(START), 500)):
        assert read_cursor(write_cursor(cursor, sign), sign) == cursor


def test_cursor_with_a_wrong_signature_is_unknown() -> None:
    text = write_cursor(Cursor(State(START, 1, 2, 3), State(START, 4), 500), sign)
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
