"""Random payments as banks and clocks have them: month ends, weekends, leap days, several currencies, equal ones."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Final, NamedTuple

from tickover.api.durations import add_months
from tickover.scenarios.adjustments import Weekend, to_working_day
from tickover.scenarios.bank_files.table_formats import escape_formulas

_DAY: Final = timedelta(days=1)
_TIMES: Final = (None, time(), time(8), time(23, 59, 59), time(12, 30, 0, 250_000), time(0, 0, 0, 1_000))
_AMOUNTS: Final = ("840.5", "1234.567", "0.1", "1000000000", "0.00001", "0.30000000000000004", "7")
_NAMES: Final = ("Rent", "Rent & heating; 'paid'", '=SUM("a")', "'=1", "." * 120, "; ; ; ; ;", "Ünïcödé 喫茶", "x" * 40)
_STARTS: Final = (date(2027, 1, 1), date(2027, 1, 29), date(2027, 3, 15), date(2028, 2, 29), date(2028, 1, 31))
_WEEKENDS: Final[tuple[Weekend, ...]] = ("keep", "before", "after")
_MONTHS: Final = (1, 1, 1, 2, 3, 6)


class BankPayment(NamedTuple):
    """A payment. Its instant is at 08:00 if the bank tells only the day."""

    day: date
    time: time | None
    name: str
    amount: Decimal
    currency: str

    @property
    def instant(self) -> datetime:
        return datetime.combine(self.day, time(8) if self.time is None else self.time, UTC)


def random_days(random: Random, start: date) -> list[date]:
    """Return days that are regular for the most part, sometimes with one that is missing, moved or doubled."""
    count = random.randrange(1, 14)
    weekend: Weekend = random.choice(_WEEKENDS)
    kind = random.choice(("month", "week", "day", "any"))
    if kind == "month":
        step, first = random.choice(_MONTHS), datetime.combine(start, time())
        days = [to_working_day(add_months(first, step * number).date(), weekend) for number in range(count)]
    elif kind == "any":
        days = sorted(start + random.randrange(400) * _DAY for _ in range(count))
    else:
        step = 1 if kind == "day" else random.choice((7, 14, 28))
        days = [start + step * number * _DAY for number in range(count)]
    change = random.randrange(8)
    index = random.randrange(count)
    if change == 0:
        days[index] += _DAY
    elif change == 1:
        days.append(days[index])
    elif change == 2 and count > 1:
        del days[index]
    return sorted(days)


def random_payments(random: Random, times: Sequence[time | None] = _TIMES) -> list[BankPayment]:
    """Return payments in order of time."""
    found = []
    for _ in range(random.randrange(1, 6)):
        start = random.choice(_STARTS) + random.choice((0, 0, 0, 1, 17, 45, 300)) * _DAY
        name, time_of_day, currency = random.choice(_NAMES), random.choice(times), random.choice(("EUR", "EUR", "JPY"))
        amount = Decimal(random.choice(_AMOUNTS)) * random.choice((1, -1))
        varies = random.random() < 0.2
        for number, day in enumerate(random_days(random, start)):
            paid = amount.copy_sign(amount) if not varies else Decimal(number + 1).copy_sign(amount)
            found.append(BankPayment(day, time_of_day, name, paid, currency))
    return sorted(found, key=lambda one: one.instant)


def csv_of_bank(payments: Sequence[BankPayment]) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["date", "name", "amount", "currency"])
    for one in payments:
        at = one.day.isoformat() if one.time is None else one.instant.isoformat().replace("+00:00", "Z")
        rows.writerow([at, escape_formulas(one.name), f"{one.amount:f}", one.currency])
    return text.getvalue().encode()


def ofx_of_bank(payments: Sequence[BankPayment]) -> bytes:
    """Return a file with an account for each currency. Names longer than 32 characters are in MEMO."""
    accounts = []
    for currency in sorted({one.currency for one in payments}):
        entries = [_ofx_payment(one) for one in payments if one.currency == currency]
        accounts.append(f"<STMTRS><CURDEF>{currency}\n{''.join(entries)}</STMTRS>")
    return f"<OFX>{''.join(accounts)}</OFX>".encode()


def _ofx_payment(one: BankPayment) -> str:
    at = f"{one.day:%Y%m%d}"
    if one.time is not None:
        at = f"{one.instant:%Y%m%d%H%M%S}.{one.instant.microsecond // 1000:03}[0:GMT]"
    name = one.name.replace("&", "&amp;").replace("<", "&lt;")
    memo = f"<MEMO>{name}\n" if len(one.name) > 32 else ""
    return f"<STMTTRN><DTPOSTED>{at}\n<TRNAMT>{one.amount:f}\n<NAME>{name[:32]}\n{memo}</STMTTRN>\n"
