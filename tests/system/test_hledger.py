"""Balances agree with hledger, an independent accounting program, on random clocks.

hledger's dates have no time, so all transactions are at midnight, and those of one day are of one instant.
"""

import csv
import io
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.rpc.builders import to_timestamp, transaction
from tests.support.debian_packages import require_program
from tests.support.world import World, open_world

_START: Final = datetime(2027, 1, 1, tzinfo=UTC)
_DAYS: Final = 40
_CLOCKS: Final = 30
_AMOUNTS: Final = ("0.1", "0.2", "0.3", "1150.5", "2800", "0.0001", "999999.9999", "7", "12.34")
_OPENINGS: Final = ("0", "-0.3", "1000", "0.0001", "-999999.9999")


def _day(number: int) -> datetime:
    return _START + timedelta(days=number)


def _random_clock(random: Random) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return opening balances and transactions, in any order. Many share a day."""
    transactions = [
        transaction(
            at=to_timestamp(_day(random.choice((0, 0, 5, random.randrange(_DAYS))))),
            amount=float(random.choice(_AMOUNTS)),
            currency=random.choice(("EUR", "EUR", "USD")),
            type=random.choice(("INCOME", "EXPENSE")),
        )
        for _ in range(random.randrange(30))
    ]
    return {"EUR": random.choice(_OPENINGS), "USD": random.choice(_OPENINGS)}, transactions


def _journal(clocks: list[tuple[dict[str, str], list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield the entries of a journal with one account for each clock and currency."""
    yield "decimal-mark ."
    for number, (opening, transactions) in enumerate(clocks):
        for currency, amount in opening.items():
            yield f"2026-12-31 opening\n    clock{number}:{currency}  {currency} {amount}\n    other"
        for each in transactions:
            sign = "" if each["type"] == "INCOME" else "-"
            amount = f"{each['currency']} {sign}{each['amount']:f}"
            yield f"{each['at'][:10]} item\n    clock{number}:{each['currency']}  {amount}\n    other"
    # Reports end with the last entry.
    yield f"{_day(_DAYS):%Y-%m-%d} end\n    other  EUR 0\n    other"


def _hledger_balances(journal: str) -> dict[str, list[Decimal]]:
    """Return the balance of each account at the end of each day, from the day before the start on."""
    command = [require_program("hledger"), "-f", "-", "balance", "clock", "--daily", "--historical", "--empty"]
    ran = subprocess.run(
        [*command, "--no-total", "--output-format=csv"], input=journal, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    header, *rows = csv.reader(io.StringIO(ran.stdout))
    days = [f"{_day(number):%Y-%m-%d}" for number in range(-1, _DAYS + 1)]
    assert header[1:] == days, header
    return {account: [Decimal(cell.split()[-1]) for cell in cells] for account, *cells in rows}


async def _server_balances(world: World, token: str, id: str, opening: dict[str, str]) -> dict[str, Any]:
    """Return the balances after the last day, and the balance after each day that has transactions."""
    opening_balances = {currency: float(amount) for currency, amount in opening.items()}
    query = {"id": id, "openingBalances": opening_balances}
    last = to_timestamp(_day(_DAYS))
    balances = (await world.result("getTestClockBalances", {**query, "at": last}, token))["balances"]
    events = (await world.result("listTestClockEvents", {**query, "until": last, "limit": 500}, token))["events"]
    daily = {(event["transaction"]["currency"], event["at"]): event["balance"] for event in events}
    return {"balances": {each["currency"]: each for each in balances}, "daily": daily}


async def test_balances_and_lowest_points_equal_those_of_hledger(tmp_path: Path) -> None:
    random = Random(17)
    clocks = [_random_clock(random) for _ in range(_CLOCKS)]
    expected = _hledger_balances("\n\n".join(_journal(clocks)) + "\n")
    compared = 0
    async with open_world(tmp_path) as world:
        token = await world.sign_in()
        for number, (opening, transactions) in enumerate(clocks):
            clock = await world.create(token, frozenTime=to_timestamp(_START), transactions=transactions)
            found = await _server_balances(world, token, clock["id"], opening)
            for currency in ("EUR", "USD"):
                days = expected[f"clock{number}:{currency}"]
                shown = found["balances"][currency]
                assert _exact(shown["balance"]) == days[-1]
                for point, extreme in (("lowest", min), ("highest", max)):
                    # The balance of the day before the start is the opening balance, a point at the start.
                    at = to_timestamp(_day(max(0, days.index(extreme(days)) - 1)))
                    assert (_exact(shown[point]["balance"]), shown[point]["at"]) == (extreme(days), at)
                for (code, at), balance in found["daily"].items():
                    if code == currency:
                        compared += 1
                        assert _exact(balance) == days[(datetime.fromisoformat(at) - _START).days + 1]
    assert compared > 200, "many days were compared"


def _exact(number: float) -> Decimal:
    return Decimal(repr(number))
