"""Compares the books of an app with what the bank showed, as a pure function."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from tickover.api.reconciliation import ChangedItem, ExpectedItem, Field, ObservedEntry, ObservedItem
from tickover.api.timestamps import Instant
from tickover.server.schedule.bank_rows import Row
from tickover.server.schedule.bank_view import BankView
from tickover.server.schedule.money import Amount

_Key = tuple[Amount, int, str | UnsetType | None]
"""An amount, a UTC day, and a name, or None for any name."""
_AMOUNTS_PER_STEP: Final = 500


class ShownItems(Struct, frozen=True):
    """What the bank showed of an account or of a currency until an instant, in order of time."""

    booked: Sequence[ExpectedItem[Amount]]
    pending: Sequence[ExpectedItem[Amount]]
    ended: Mapping[str, ExpectedItem[Amount]] = {}
    """Payments while they were pending, by the IDs of the same payments when they are booked."""
    transfers: Mapping[str, str] = {}
    """The IDs of booked items by the IDs of their transfers."""


def shown_items(view: BankView, at: Instant, account: str | None, currency: str) -> ShownItems:
    booked: list[ExpectedItem[Amount]] = []
    pending: dict[str, ExpectedItem[Amount]] = {}
    ended: dict[str, ExpectedItem[Amount]] = {}
    transfers: dict[str, str] = {}
    for row in view.rows:
        if row.since > at:
            break
        if not _counts(row, account, currency):
            continue
        source, content = row.source, row.content
        item = ExpectedItem(row.id, content.at, content.name, content.amount)
        if content.is_pending:
            pending[row.id] = item
            continue
        booked.append(item)
        if source.is_transfer:
            transfers[source.id] = row.id
        if content.pending_id:
            ended[row.id] = pending.pop(content.pending_id)
    return ShownItems(booked, list(pending.values()), ended, transfers)


def _counts(row: Row, account: str | None, currency: str) -> bool:
    """Return whether the row counts for an account or a currency."""
    if row.source.cancellation is not None:
        return False
    if account:
        return row.account.key == account
    # A transfer counts only if the money crosses currencies.
    return row.account.currency == currency and not row.source.is_internal


class Comparison:
    """Matches observed transactions with shown ones, each once. It is complete after all steps of `run`.

    An app may have recorded the pending ones, but they are never missing. `find_booked` returns the ID that a row has
    when it is booked, for every ID that it may have had, and None for other IDs.
    """

    def __init__(
        self,
        shown: ShownItems,
        observed: Sequence[ObservedEntry],
        tolerance: int,
        find_booked: Callable[[str], str | None],
    ) -> None:
        self.unexpected: list[ObservedItem[Amount]] = []
        self.duplicated: list[ObservedItem[Amount]] = []
        self.changed: list[ChangedItem[Amount]] = []
        self._shown = shown
        self._tolerance = tolerance
        self._observed = observed
        self._find_booked = find_booked
        # Of several that match, the first is taken, so pending ones come last.
        self._unmatched = {item.id: item for item in (*shown.booked, *shown.pending)}
        self._pending = {item.id for item in shown.pending}
        self._matched: set[int] = set()
        """The positions of matched observed transactions."""

    @property
    def missing(self) -> list[ExpectedItem[Amount]]:
        return [item for item in self._unmatched.values() if item.id not in self._pending]

    def run(self) -> Iterator[None]:
        """Match by ID, then by amount and day, then with the wrong sign, and then without the amount.

        Pause now and then for other work.
        """
        rest = self._match_ids()
        if rest:
            yield
            yield from self._match_keys(rest)
        for found in (self.unexpected, self.duplicated):
            found.sort(key=lambda item: item.index)
        self.changed.sort(key=lambda item: item.expected.at)

    def _match_ids(self) -> Mapping[int, _Key]:
        """Match the transactions with known IDs. Return the keys of those without by position."""
        copies, rest = defaultdict[str, list[int]](list), dict[int, _Key]()
        shown = {self._find_booked(id): id for id in self._unmatched}
        for number, observed in enumerate(self._observed):
            booked = self._find_booked(observed.id) if observed.id else None
            id = shown.get(self._shown.transfers.get(booked or "", booked))
            if booked is None:
                rest[number] = observed.amount, observed.at.toordinal(), observed.name
            elif id is None:
                # It doesn't match another one by its amount.
                self._sort(number, is_copy=False)
            else:
                copies[id].append(number)
        for id, numbers in copies.items():
            expected = self._unmatched.pop(id)
            differences = [(self._differences(number, expected), number) for number in numbers]
            # Without differences if there is such a copy.
            fields, best = min(differences)
            self._matched.add(best)
            if fields:
                self.changed.append(ChangedItem(expected, _echo(best, self._observed[best]), fields))
            self.duplicated += [_echo(number, self._observed[number]) for number in numbers if number != best]
        return rest

    def _match_keys(self, rest: Mapping[int, _Key]) -> Iterator[None]:
        """Match by amount and day: the same day first, then others within the tolerance. Names break ties.

        Sort those that match nothing.
        """
        index = self._index(with_names=True)
        self._match(rest, index, 1)
        # Of books that are nearly complete, few are left.
        rest = self._left(rest)
        if not rest:
            return
        yield
        index |= self._index(with_names=False)
        for sign in (1, -1):
            # Most rows that match nothing have an amount of nothing.
            amounts = {sign * item.amount for item in self._unmatched.values()}
            candidates = {
                number: (sign * amount, day, name)
                for number, (amount, day, name) in self._left(rest).items()
                if amount in amounts
            }
            yield from self._match_candidates(candidates, index, sign)
            moved: dict[int, _Key] = {}
            for count, found in enumerate(self._move_days(candidates)):
                if count % _AMOUNTS_PER_STEP == 0:
                    yield
                moved |= found
            yield from self._match_candidates(moved, index, sign)
        yield
        self._sort_rest(self._left(rest))

    def _move_days(self, candidates: Mapping[int, _Key]) -> Iterator[dict[int, _Key]]:
        """Yield the candidates of each amount that match an item on another day, with that day in their keys."""
        days, pending_days, numbers = (defaultdict[Amount, list[int]](list) for _ in range(3))
        for item in self._unmatched.values():
            (pending_days if item.id in self._pending else days)[item.amount].append(item.at.toordinal())
        for number in sorted(self._left(candidates), key=lambda number: candidates[number][1]):
            numbers[candidates[number][0]].append(number)
        for amount, rows in numbers.items():
            booked, pending = sorted(days[amount]), sorted(pending_days[amount])
            observed = [candidates[number][1] for number in rows]
            pairs = _pair_days(observed, booked, pending, self._tolerance)
            yield {rows[position]: (amount, day, candidates[rows[position]][2]) for position, day in pairs.items()}

    def _index(self, *, with_names: bool) -> dict[_Key, list[str]]:
        """Return the IDs of unmatched items by their keys, the latest first."""
        index: dict[_Key, list[str]] = {}
        for item in reversed(self._unmatched.values()):
            key = item.amount, item.at.toordinal(), item.name if with_names else None
            index.setdefault(key, []).append(item.id)
        return index

    def _match_candidates(
        self, candidates: Mapping[int, _Key], index: Mapping[_Key, list[str]], sign: int
    ) -> Iterator[None]:
        yield
        self._match(candidates, index, sign)
        yield
        left = self._left(candidates).items()
        self._match({number: (amount, day, None) for number, (amount, day, _) in left}, index, sign)

    def _left(self, keys: Mapping[int, _Key]) -> Mapping[int, _Key]:
        """Return the keys of transactions that didn't match."""
        return {number: key for number, key in keys.items() if number not in self._matched}

    def _match(self, candidates: Mapping[int, _Key], index: Mapping[_Key, list[str]], sign: int) -> None:
        unmatched, matched = self._unmatched, self._matched
        for number, key in candidates.items():
            ids = index.get(key)
            while ids:
                expected = unmatched.pop(ids.pop(), None)
                if expected is not None:
                    matched.add(number)
                    if sign < 0:
                        self.changed.append(ChangedItem(expected, _echo(number, self._observed[number]), ["amount"]))
                    break

    def _sort_rest(self, rest: Mapping[int, _Key]) -> None:
        """Tell further copies of matched transactions, and other amounts, from transactions that nobody expects."""
        copies = self._find_copies(rest)
        others = [number for number in rest if number not in copies]
        pairs = self._pair_names(others)
        for number, id in pairs.items():
            expected = self._unmatched.pop(id)
            self.changed.append(ChangedItem(expected, _echo(number, self._observed[number]), ["amount"]))
        for number in rest:
            if number not in pairs:
                self._sort(number, is_copy=number in copies)

    def _find_copies(self, rest: Mapping[int, _Key]) -> set[int]:
        amounts = {amount for amount, _, _ in rest.values()}
        names = defaultdict[tuple[Amount, int], set[str | UnsetType | None]](set)
        for number in self._matched:
            observed = self._observed[number]
            if observed.amount in amounts:
                names[observed.amount, observed.at.toordinal()].add(observed.name)
        for booked, item in self._shown.ended.items():
            # A payment that is in the books twice: as it was authorized, and as it was booked.
            if item.amount in amounts and booked not in self._unmatched:
                names[item.amount, item.at.toordinal()].add(item.name)
        distances = range(-self._tolerance, self._tolerance + 1)
        copies: set[int] = set()
        for number, (amount, day, name) in rest.items():
            near = [names[amount, day + distance] for distance in distances if (amount, day + distance) in names]
            if any(name is UNSET or name in found or UNSET in found for found in near):
                copies.add(number)
        return copies

    def _pair_names(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the IDs of missing transactions with the same name and day, where each has only the other one."""
        missing, rows = (defaultdict[str, list[tuple[int, Any]]](list) for _ in range(2))
        for item in self.missing:
            missing[item.name].append((item.at.toordinal(), item.id))
        for number in numbers:
            observed = self._observed[number]
            if observed.name in missing:
                rows[str(observed.name)].append((observed.at.toordinal(), number))
        pairs: dict[int, str] = {}
        for name, found in rows.items():
            expected = sorted(missing[name])
            found.sort()
            for day, id in expected:
                number = self._only_near(found, day)
                if number is not None and self._only_near(expected, self._observed[number].at.toordinal()) is not None:
                    pairs[number] = id
        return pairs

    def _only_near(self, days: Sequence[tuple[int, Any]], day: int) -> Any:
        """Return what is at the only one of these sorted days within the tolerance, or None."""
        first = bisect_left(days, day - self._tolerance, key=itemgetter(0))
        end = bisect_right(days, day + self._tolerance, key=itemgetter(0))
        return days[first][1] if end - first == 1 else None

    def _sort(self, number: int, *, is_copy: bool) -> None:
        (self.duplicated if is_copy else self.unexpected).append(_echo(number, self._observed[number]))

    def _differences(self, number: int, expected: ExpectedItem[Amount]) -> list[Field]:
        """Return what differs between two transactions with the same ID."""
        observed = self._observed[number]
        fields: list[Field] = []
        if observed.amount != expected.amount:
            fields.append("amount")
        if abs(observed.at.toordinal() - expected.at.toordinal()) > self._tolerance:
            fields.append("at")
        if observed.name not in (UNSET, expected.name):
            fields.append("name")
        return fields


def _pair_days(
    observed: Sequence[int], booked: Sequence[int], pending: Sequence[int], tolerance: int
) -> dict[int, int]:
    """Return the days that match observed ones, by the position of these. All are sorted. Booked days come first."""
    first = _pair_sorted(observed, booked, tolerance)
    rest = [position for position in range(len(observed)) if position not in first]
    if not pending or not rest:
        return {position: booked[index] for position, index in first.items()}
    every = sorted([(day, False) for day in booked] + [(day, True) for day in pending])
    together = _pair_sorted(observed, [day for day, _ in every], tolerance)
    if sum(not every[index][1] for index in together.values()) == len(first):
        return {position: every[index][0] for position, index in together.items()}
    more = _pair_sorted([observed[position] for position in rest], pending, tolerance)
    return {position: booked[index] for position, index in first.items()} | {
        rest[position]: pending[index] for position, index in more.items()
    }


def _pair_sorted(observed: Sequence[int], expected: Sequence[int], tolerance: int) -> dict[int, int]:
    """Return the most pairs of days within the tolerance, as positions: the earliest with the earliest it can match."""
    pairs: dict[int, int] = {}
    position = index = 0
    while position < len(observed) and index < len(expected):
        late = observed[position] - expected[index]
        if abs(late) <= tolerance:
            pairs[position] = index
        position += late <= tolerance
        index += late >= -tolerance
    return pairs


def _echo(number: int, observed: ObservedEntry) -> ObservedItem[Amount]:
    return ObservedItem(number, observed.at, observed.amount, observed.id, observed.name)
