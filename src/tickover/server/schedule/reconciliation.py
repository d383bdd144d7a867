"""Compares the books of an app with what the bank showed, as a pure function."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET, UnsetType

from tickover.api.reconciliation import ChangedItem, ExpectedItem, Field, ObservedEntry, ObservedItem
from tickover.api.timestamps import Instant
from tickover.server.schedule.items import authorization_of
from tickover.server.schedule.ledger import Ledger
from tickover.server.schedule.money import Amount

_Key = tuple[Amount, int, str | UnsetType]
"""An amount, a UTC day, and a name."""


def expected_items(ledger: Ledger, at: Instant, account: str | None, currency: str) -> list[ExpectedItem[Amount]]:
    """Return what the bank showed of an account, or of a currency, in order of time."""
    transactions = ledger.schedule.transactions
    count = transactions.count_until(at)
    items = [
        ExpectedItem(item.id, when, item.name, item.signed_amount)
        for when, item in zip(transactions.instants[:count], ledger.transactions[:count], strict=True)
        if item.currency == currency and account in (None, item.account)
    ]
    for transfer in ledger.transfers:
        # Without an account, a transfer counts only if the money crosses currencies.
        if transfer.at <= at and not (account is None and transfer.received_currency is None):
            items += [
                ExpectedItem(side.id, transfer.at, transfer.name, side.amount)
                for side in transfer.sides
                if side.account == account or (account is None and side.currency == currency)
            ]
    return sorted(items, key=lambda item: item.at)


def pending_items(ledger: Ledger, at: Instant, account: str | None, currency: str) -> Iterator[ExpectedItem[Amount]]:
    """Yield the payments that the bank showed as pending: authorized, and not yet booked."""
    transactions = ledger.schedule.transactions
    count = transactions.count_until(at)
    for encoded, item in zip(transactions.encoded[count:], ledger.transactions[count:], strict=True):
        if item.currency != currency or account not in (None, item.account):
            continue
        authorized = authorization_of(encoded)
        if authorized is not None and authorized.authorized_at <= at:
            payment = authorized.payment_of(item)
            yield ExpectedItem(payment.id, authorized.authorized_at, payment.name, payment.signed_amount)


class Comparison:
    """Matches observed transactions with expected ones, each once. It is complete after all steps of `run`.

    An app may have recorded the pending ones, but they are never missing.
    """

    def __init__(
        self,
        expected: Sequence[ExpectedItem[Amount]],
        pending: Sequence[ExpectedItem[Amount]],
        observed: Sequence[ObservedEntry],
        tolerance: int,
    ) -> None:
        self.unexpected: list[ObservedItem[Amount]] = []
        self.duplicated: list[ObservedItem[Amount]] = []
        self.changed: list[ChangedItem[Amount]] = []
        self._tolerance = tolerance
        self._observed = observed
        # Of several that match, the first is taken, so pending ones come last.
        self._unmatched = {item.id: item for item in (*expected, *pending)}
        self._pending = {item.id for item in pending}
        self._matched: list[int] = []
        """The positions of matched observed transactions."""

    @property
    def missing(self) -> list[ExpectedItem[Amount]]:
        return [item for item in self._unmatched.values() if item.id not in self._pending]

    def run(self) -> Iterator[None]:
        """Match by ID, then by amount and day, then with the wrong sign. Pause now and then for other work."""
        rest = self._match_ids()
        if rest:
            yield
            yield from self._match_keys(rest)
        if rest:
            yield
            self._sort_rest(rest)
        self.duplicated.sort(key=lambda item: item.index)
        self.changed.sort(key=lambda item: item.expected.at)

    def _match_ids(self) -> dict[int, _Key]:
        """Match the transactions with known IDs. Return the keys of the others by position."""
        known, rest = set(self._unmatched), {}
        for number, observed in enumerate(self._observed):
            if observed.id not in known:
                rest[number] = (observed.amount, observed.at.toordinal(), observed.name)
            elif expected := self._unmatched.pop(str(observed.id), None):
                self._matched.append(number)
                self._compare(number, expected)
            else:
                self.duplicated.append(_echo(number, observed))
        return rest

    def _match_keys(self, rest: dict[int, _Key]) -> Iterator[None]:
        """Match by amount and day: nearer days first, and equal names first on each day."""
        by_name = self._index(with_names=True)
        self._match_candidates(rest, by_name, 1, 0, with_names=True)
        yield
        # Of books that are nearly complete, few are left.
        amounts = {abs(item.amount) for item in self._unmatched.values()}
        candidates = {number: key for number, key in rest.items() if abs(key[0]) in amounts}
        by_day = self._index(with_names=False)
        for sign in (1, -1):
            for distance in range(self._tolerance + 1):
                for index in (by_name, by_day):
                    for days in {distance, -distance} if candidates else ():
                        yield
                        self._match_candidates(candidates, index, sign, days, with_names=index is by_name)
        for number in self._matched:
            rest.pop(number, None)

    def _index(self, *, with_names: bool) -> dict[_Key, list[str]]:
        """Return the IDs of unmatched items by their keys, the latest first."""
        index = defaultdict[_Key, list[str]](list)
        for item in reversed(self._unmatched.values()):
            index[item.amount, item.at.toordinal(), item.name if with_names else UNSET].append(item.id)
        return index

    def _match_candidates(
        self, candidates: dict[int, _Key], index: Mapping[_Key, list[str]], sign: int, days: int, *, with_names: bool
    ) -> None:
        found = []
        for number, (amount, day, name) in candidates.items():
            ids = index.get((sign * amount, day + days, name if with_names else UNSET))
            while ids:
                expected = self._unmatched.pop(ids.pop(), None)
                if expected is not None:
                    found.append((number, expected))
                    break
        for number, expected in found:
            del candidates[number]
            self._matched.append(number)
            if sign < 0:
                self.changed.append(ChangedItem(expected, _echo(number, self._observed[number]), ["amount"]))

    def _sort_rest(self, rest: Mapping[int, _Key]) -> None:
        """Tell further copies of matched transactions from those that nobody expects."""
        matched = [self._observed[number] for number in self._matched]
        keys = {(observed.amount, observed.at.toordinal(), observed.name) for observed in matched}
        days = {(amount, day) for amount, day, _ in keys}
        distances = range(-self._tolerance, self._tolerance + 1)
        for number, (amount, day, name) in rest.items():
            near = [day + distance for distance in distances if (amount, day + distance) in days]
            names = {key for one in near for key in ((amount, one, name), (amount, one, UNSET))}
            is_copy = bool(near) and (name is UNSET or not keys.isdisjoint(names))
            (self.duplicated if is_copy else self.unexpected).append(_echo(number, self._observed[number]))

    def _compare(self, number: int, expected: ExpectedItem[Amount]) -> None:
        """Note what differs between two transactions with the same ID."""
        observed = self._observed[number]
        fields: list[Field] = []
        if observed.amount != expected.amount:
            fields.append("amount")
        if abs(observed.at.toordinal() - expected.at.toordinal()) > self._tolerance:
            fields.append("at")
        if observed.name not in (UNSET, expected.name):
            fields.append("name")
        if fields:
            self.changed.append(ChangedItem(expected, _echo(number, observed), fields))


def _echo(number: int, observed: ObservedEntry) -> ObservedItem[Amount]:
    return ObservedItem(number, observed.at, observed.amount, observed.id, observed.name)
