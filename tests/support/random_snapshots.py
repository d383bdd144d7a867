"""Random clocks with awkward names, for exports."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final, Literal

from tickover.api.clocks import Account, Snapshot, Transaction, Transfer
from tickover.api.fields import TransactionType

START: Final = datetime(2027, 1, 1, tzinfo=UTC)
_NAMES: Final = (
    "Rent", '=HYPERLINK("x")', "+1", "-5", "@sum", "a;b", "a;=1+1", "(code) x", "* starred", "Café „Œuf“ 喫茶店",
    'quo"te \\ back', "new\nline\ttab", "<&amp;>", "x" * 120, "; comment", "\x1b[31mred",
    "|pipe", " spaces  inside ", "2027-01-01 * x",
    "\u202e",
)  # fmt: skip
_CATEGORIES: Final = (
    None, "", "Home", "a:b", "(x)", "a  b", "[v]", "café", "喫茶店", "- -", "x; y", "9 lives", '"', "=",
    "Home",
)  # fmt: skip
_AMOUNTS: Final = ("0.1", "0.2", "1150.5", "2800", "0.0001", "999999.9999", "7", "12.34", "1000000000", "0.00001")


def random_snapshot(random: Random) -> Snapshot:
    """Return a clock whose transactions are partly in the future."""
    types: tuple[TransactionType, ...] = ("INCOME", "EXPENSE")
    items = [
        Transaction(
            id=f"transaction_{random.getrandbits(128):032x}",
            at=START + timedelta(days=random.randrange(60), seconds=random.randrange(86_400)),
            name=random.choice(_NAMES),
            amount=Decimal(random.choice(_AMOUNTS)),
            currency=random.choice(("EUR", "EUR", "USD", "JPY")),
            type=random.choice(types),
            category=random.choice(_CATEGORIES),
            source="SIMULATED_TEST_CLOCK",
        )
        for _ in range(random.randrange(1, 25))
    ]
    items.sort(key=lambda item: item.at)
    now = START + timedelta(days=random.randrange(60))
    return Snapshot(
        id=f"clock_{random.getrandbits(128):032x}",
        status="READY",
        frozen_time=now,
        max_time=START.replace(year=2037),
        expires_at=START,
        transactions=[item for item in items if item.at <= now],
        pending_transactions=[item for item in items if item.at > now],
        goals=[],
    )


def random_opening(random: Random) -> dict[str, Decimal]:
    return {"EUR": Decimal(random.choice(("0", "-0.3", "1000", "0.0001"))), "USD": Decimal(random.choice(("0", "5")))}


def snapshot_with_accounts() -> Snapshot:
    """Return a clock with two accounts in one currency, a third in another, and transfers between them."""
    start, at = datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 1, 20, 8, tzinfo=UTC)
    source: Literal["SIMULATED_TEST_CLOCK"] = "SIMULATED_TEST_CLOCK"
    food = Transaction(
        id="txn_1", at=at, name="Food", amount=Decimal("74.2"), currency="EUR", type="EXPENSE", account="card",
        source=source,
    )  # fmt: skip
    paid = Transfer(
        id="tfr_1", at=at, name="Pay", from_="main", to="card", amount=Decimal(50), currency="EUR", source=source
    )
    sent = Transfer(
        id="tfr_2", at=at, name="Send", from_="main", to="usd", amount=Decimal(10), currency="EUR",
        received=Decimal(11), received_currency="USD", source=source,
    )  # fmt: skip
    accounts = [
        Account("main", "Main", "EUR", "CHECKING", Decimal(100), Decimal(40)),
        Account("card", "Card", "EUR", "CREDIT_CARD", Decimal(-20), Decimal("-44.2")),
        Account("usd", "Dollars", "USD", "CASH", Decimal(0), Decimal(11)),
    ]
    return Snapshot(
        id="clock_01a2d11f-0200-7129-903a-c1d45597fdf1", status="READY", start_time=start, frozen_time=at,
        max_time=start.replace(year=2037), expires_at=at, transactions=[food], pending_transactions=[], goals=[],
        accounts=accounts, transfers=[paid, sent], pending_transfers=[],
    )  # fmt: skip
