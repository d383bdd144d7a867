"""Random clocks with awkward names, for exports."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from tickover.api.clocks import Snapshot, Transaction
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
    "Opening balance",
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
