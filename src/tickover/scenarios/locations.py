"""Where in a scenario something is wrong, of what there is too much, and the one error that says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from typing import Final

from msgspec import Struct

from tickover.core.limits import MAX_CONTRIBUTIONS, MAX_GOALS, MAX_TRANSACTIONS

_LONGEST_SHOWN: Final = 60
_LONGEST_SOURCE: Final = 200


class ScenarioError(Exception):
    """A scenario cannot be used. The message is one sentence: where, what is wrong, and what would do instead."""


class Place(Struct, frozen=True):
    """A scenario, or an item in it, as an error names it."""

    source: str
    item: str = ""

    def inside(self, kind: str, number: int, name: object = None) -> "Place":
        """An item by its number among its kind, and by its name if it has one."""
        named = f" {shown(name)}" if isinstance(name, str) else ""
        return Place(self.source, ", ".join(filter(None, [self.item, f"{kind} {number}{named}"])))

    def error(self, problem: str) -> ScenarioError:
        where = ", ".join(filter(None, [_printable(self.source, _LONGEST_SOURCE), self.item]))
        return ScenarioError(f"{where}: {problem}{'' if problem.endswith('?') else '.'}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Have what a ValueError says told as a problem of this place."""
        try:
            yield
        except ValueError as error:
            raise self.error(str(error)) from None


class Limit(Struct, frozen=True):
    """How many of a kind there may be."""

    kinds: str
    most: int
    holder: str

    def told(self, count: int, where: str = "") -> str:
        return f"{count:,} {self.kinds}{where} are more than the {self.most} that {self.holder} takes"


TRANSACTIONS: Final = Limit("transactions", MAX_TRANSACTIONS, "a clock")
GOALS: Final = Limit("goals", MAX_GOALS, "a clock")
CONTRIBUTIONS: Final = Limit("contributions", MAX_CONTRIBUTIONS, "a goal")


def shown(value: object) -> str:
    """A value as an error may show it: on one line, and short however long it is."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            # Python refuses to write out the longest ones.
            return str(value) if value.bit_length() <= 64 else "a number of that size"
        case str():
            return f'"{_printable(value)}"'
        case Decimal():
            return _printable(str(value))
        case date() | time():
            return value.isoformat()
    return "a list" if isinstance(value, list) else "a table"


def _printable(text: str, longest: int = _LONGEST_SHOWN) -> str:
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in cut)
