"""Reconciliation of random books leaves nothing that matches."""

from datetime import UTC, datetime, timedelta
from random import Random

from msgspec import UNSET

from tickover.api.reconciliation import ExpectedItem, ObservedEntry
from tickover.server.schedule.money import Amount
from tickover.server.schedule.reconcile import Comparison, ShownItems

START = datetime(2027, 1, 1, tzinfo=UTC)
NAMES = ["Coffee", "Rent", "Tea"]


def find_booked(id: str) -> str | None:
    """The random payments that are pending are others than those that are booked."""
    return id if id.startswith("txn_") else None


def random_items(random: Random, count: int, suffix: str = "") -> list[ExpectedItem[Amount]]:
    return [
        ExpectedItem(
            f"txn_{number}{suffix}",
            START + timedelta(hours=random.randint(0, 96)),
            random.choice(NAMES),
            random.choice([1, -1, 2, -2, 3.2]),
        )
        for number in range(count)
    ]


def random_books(random: Random, items: list[ExpectedItem[Amount]]) -> list[ObservedEntry]:
    """Return books with lost rows, copies, wrong signs and dates, and rows that nobody expects."""
    rows = [
        ObservedEntry(
            item.at + timedelta(days=random.choice([0, 0, 0, 1, -1, 3])),
            item.amount * random.choice([1, 1, 1, -1]),
            id=random.choice([item.id, "of the app"]) if random.random() < 0.5 else UNSET,
            name=random.choice([item.name, *NAMES]) if random.random() < 0.6 else UNSET,
        )
        for item in items
        for _ in range(random.choice([0, 1, 1, 1, 2]))
    ]
    rows += [ObservedEntry(START + timedelta(days=random.randint(0, 6)), random.choice([1, -1, 7])) for _ in range(2)]
    random.shuffle(rows)
    return rows


def test_random_books_leave_nothing_that_matches() -> None:
    for seed in range(500):
        random = Random(seed)
        expected, pending = random_items(random, random.randint(0, 8)), random_items(random, 2, "_p")
        tolerance = random.choice([0, 1, 2, 10])
        books = random_books(random, expected + pending)
        found = Comparison(ShownItems(expected, pending), books, tolerance, find_booked)
        for _ in found.run():
            pass
        left = [*found.unexpected, *found.duplicated]
        ids = {item.id for item in expected + pending}
        matched = len(books) - len(left)
        # Each row is counted once, and pending payments may be left.
        assert len({row.index for row in left}) == len(left)
        assert len(expected) - len(found.missing) <= matched <= len(expected) + len(pending) - len(found.missing)
        for item in found.missing:
            assert item.id not in [row.id for row in books]
            for row in left:
                days = abs(row.at.toordinal() - item.at.toordinal())
                assert row.id in ids or abs(row.amount) != abs(item.amount) or days > tolerance


def test_books_that_are_complete_within_the_tolerance_have_no_difference() -> None:
    for seed in range(500):
        random = Random(seed)
        tolerance = random.choice([1, 2, 10])
        # The bank books on even days and the app on odd ones, because matches of the same day come first.
        expected = [
            ExpectedItem[Amount](f"txn_{number}", START + timedelta(days=2 * random.randint(0, 9)), name, -4)
            for number, name in enumerate(random.choices(NAMES, k=6))
        ]
        shifts = [shift for shift in range(-tolerance, tolerance + 1) if shift % 2]
        rows = [ObservedEntry(item.at + timedelta(days=random.choice(shifts)), -4, name=item.name) for item in expected]
        random.shuffle(rows)
        found = Comparison(ShownItems(expected, []), rows, tolerance, find_booked)
        for _ in found.run():
            pass
        assert not any((found.missing, found.unexpected, found.duplicated, found.changed))


def test_transactions_of_other_amounts_are_looked_up_once() -> None:
    rows = [ObservedEntry(START, amount) for amount in range(5, 5005)]
    few, many = (
        Comparison(ShownItems(random_items(Random(1), 10), []), rows[:count], 10, find_booked) for count in (1, 5000)
    )
    assert len(list(few.run())) == len(list(many.run()))
    assert len(many.unexpected) == 5000
