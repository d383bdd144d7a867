"""Clocks to measure with: schedules of a typical size and of the largest, and a table full of clocks."""

from datetime import UTC, datetime, timedelta

from msgspec import msgpack

from tests.postgres import PostgresServer
from tickover.core.clocks import Clock, ContributionEntry, GoalEntry, ScheduleEntry, TransactionEntry, write_schedule
from tickover.core.ids import uuid7
from tickover.core.limits import (
    MAX_AMOUNT,
    MAX_CATEGORY,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_NAME,
    MAX_TRANSACTIONS,
)
from tickover.core.moments import Moment, to_micros, years_after
from tickover.storage.postgres import slot_of

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
START = datetime(2027, 3, 1, tzinfo=UTC)
END = years_after(START)
DAY = timedelta(days=1)
_CLOCKS_OF_ONE_OWNER = 10


def key_of(number: int, days: int = 1) -> bytes:
    """The key of one of the clocks that `fill` makes."""
    return uuid7(NOW - number % days * DAY, number.to_bytes(10, "big"))


def owner_of(number: int) -> bytes:
    return uuid7(NOW - DAY, (number // _CLOCKS_OF_ONE_OWNER).to_bytes(10, "big"))


def clock_of(key: bytes) -> Clock:
    return Clock(key, START, START, END)


def slot_born(born: Moment) -> int:
    """Where clocks of that day are kept."""
    return slot_of(uuid7(born, bytes(10)))


def typical_schedule() -> bytes:
    """A few months of somebody's life, of about 4 KB."""
    names = ("Salary", "Rent", "Groceries", "Electricity", "Train ticket")
    transactions = [
        TransactionEntry(
            START + number * 7 * DAY, names[number % 5], 17.5 * (number + 1), "EUR", "EXPENSE", category="Everyday"
        )
        for number in range(14)
    ]
    contributions = [ContributionEntry(START + number * 30 * DAY, 100) for number in range(6)]
    goal = GoalEntry("Bicycle", 1000, 100, contributions)
    return _written(ScheduleEntry(START, transactions, [goal]))


def largest_schedule() -> bytes:
    """As many items as the limits allow, each as long as they allow, and no two alike."""

    def text(number: int, length: int) -> str:
        # Of letters that take most room as UTF-8 and repeat as little as names do.
        return "".join(chr(0x4E00 + (number * 7919 + place * 104_729) % 20_000) for place in range(length))

    transactions = [
        TransactionEntry(
            START + timedelta(minutes=number, microseconds=number),
            text(number, MAX_NAME),
            MAX_AMOUNT - number / 100,
            "EUR",
            "EXPENSE",
            category=text(-number, MAX_CATEGORY),
        )
        for number in range(MAX_TRANSACTIONS)
    ]
    goals = [
        GoalEntry(
            text(10_000 + number, MAX_NAME),
            MAX_AMOUNT - number / 100,
            number / 100,
            [
                ContributionEntry(START + timedelta(minutes=item, microseconds=number + 1), 1_000 + item / 100)
                for item in range(MAX_CONTRIBUTIONS)
            ],
        )
        for number in range(MAX_GOALS)
    ]
    return _written(ScheduleEntry(START, transactions, goals))


def _written(entry: ScheduleEntry) -> bytes:
    return msgpack.encode(write_schedule(clock_of(key_of(0)), entry))


def fill(server: PostgresServer, database: str, count: int, days: int = 1) -> None:
    """Make clocks with the keys 0 to `count`, evenly born on so many days, and bring all of it to the disk."""
    body = typical_schedule().hex()
    for ago in range(days):
        born = NOW - ago * DAY
        numbers = f"generate_series({ago}, {count - 1}, {days}) as number"
        slot, key = slot_born(born), key_in_sql("number", born)
        owner = owner_in_sql("number")
        instants = f"{to_micros(START)}, {to_micros(START)}, {to_micros(END)}"
        for table, columns in (("clocks", f"{owner}, {instants}"), ("schedules", f"'\\x{body}'")):
            rows = f"select {slot}, {key}, {columns} from {numbers}"  # noqa: S608 - all of it is ours
            server.execute(f"insert into {table} {rows}", database)
    server.execute("vacuum analyze; checkpoint", database)


def key_in_sql(number: str, born: Moment = NOW) -> str:
    return _uuid7_in_sql(born, number)


def owner_in_sql(number: str) -> str:
    return _uuid7_in_sql(NOW - DAY, f"({number}) / {_CLOCKS_OF_ONE_OWNER}")


def _uuid7_in_sql(born: Moment, number: str) -> str:
    prefix = uuid7(born, bytes(10)).hex()[:20]
    return f"('{prefix}' || lpad(to_hex({number}), 12, '0'))::uuid"
