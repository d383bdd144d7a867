"""Seeded variety: numbers that depend only on a seed, a name, a day and a use.

The algorithm is part of the file format. A change needs a new version, which files choose themselves.
"""

from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Final

from msgspec import Struct

VERSION: Final = 1
_MILLION: Final = 1_000_000


class Variety(Struct, frozen=True):
    """Draws for one item of a scenario."""

    seed: int
    name: str

    def draw(self, day: date, use: str, count: int) -> int:
        """Return a whole number from 0 to `count` - 1."""
        text = f"tickover variety {VERSION}\n{self.seed}\n{self.name}\n{day.isoformat()}\n{use}"
        number = int.from_bytes(sha256(text.encode()).digest()[:8], "big")
        return number * count >> 64

    def happens(self, day: date, chance: Decimal) -> bool:
        return self.draw(day, "chance", _MILLION) < chance * _MILLION

    def jitter(self, day: date, days: int) -> int:
        """Return a number of days from -`days` to `days`."""
        return self.draw(day, "jitter", 2 * days + 1) - days


class AmountRange(Struct, frozen=True):
    """An amount that varies between two amounts in steps."""

    lowest: Decimal
    highest: Decimal
    step: Decimal

    def draw(self, variety: Variety, day: date) -> Decimal:
        count = int((self.highest - self.lowest) / self.step) + 1
        return self.lowest + self.step * variety.draw(day, "amount", count)
