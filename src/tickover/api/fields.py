"""The base classes of parameters and results, and the types of single fields with their bounds and texts.

Decoders, explanations of faults, JSON Schemas, TypeScript types and the reference all derive from these types.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, TypeVar

from msgspec import Meta, Struct, UnsetType
from msgspec.structs import replace

from tickover.api import limits
from tickover.api.errors import Fault
from tickover.api.timestamps import Instant


def doc(text: str) -> Meta:
    """Describe a field in the reference."""
    return Meta(description=text)


def expected(text: str) -> Meta:
    """Say what a string must be, for the message of a fault."""
    return Meta(extra={"expected": text})


class Params(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True, gc=False):
    """The parameters of an operation, or a part of them. Unknown names are invalid, so that typos are noticed."""

    def faults(self, now: Instant) -> Iterable[Fault]:
        """Return the faults that the types of single fields can't express, such as wrong combinations.

        Fields that are invalid by themselves are None here, in spite of their types.
        """
        return ()

    def passes_fast_checks(self, now: Instant) -> bool:
        """Return True only if `faults` would return none. May return False for valid parameters.

        Called only if all fields could be decoded.
        """
        return not list(self.faults(now))


_Entry = TypeVar("_Entry")


def faults_of_each(
    path: str, entries: Sequence[_Entry] | UnsetType | None, find: Callable[[_Entry], Iterable[Fault]]
) -> Iterator[Fault]:
    """Return the faults of the entries of a list. Invalid entries are None, and have faults already."""
    for index, entry in enumerate(entries or ()):
        if entry is not None:
            for fault in find(entry):
                yield replace(fault, path=f"{path}[{index}].{fault.path}".removesuffix("."))


class Result(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Base class of results. Clients ignore unknown members, so that a newer server can add some."""


# U+0000 is invalid because databases and terminals disagree about it. Lone surrogates arrive here as U+0000. The
# decoder doesn't check each string for it; `rpc.decode` checks the whole request at once, which is faster.
Text = Annotated[
    str, Meta(extra_json_schema={"pattern": r"^[^\u0000]*$"}), expected("text without U+0000 and lone surrogates")
]
Timestamp = Annotated[datetime, Meta(tz=True)]
Number = int | float
TransactionType = Literal["INCOME", "EXPENSE"]
AccountType = Literal["CHECKING", "SAVINGS", "CREDIT_CARD", "CASH", "LOAN"]
ExportFormat = Literal["csv", "json", "hledger", "beancount", "ofx", "camt053"]

ClockId = Annotated[Text, doc("The clock's ID. It starts with `clock_`.")]
Name = Annotated[Text, Meta(min_length=1, max_length=limits.MAX_NAME), doc("The name of the transaction or goal.")]
Category = Annotated[Text, Meta(max_length=limits.MAX_CATEGORY)]
ACCOUNT_KEY: Final = re.compile("[a-z0-9][a-z0-9-]*")
# The pattern excludes a line break at the end, which `$` would allow.
AccountKey = Annotated[
    str,
    Meta(min_length=1, max_length=limits.MAX_ACCOUNT_KEY, pattern=rf"^{ACCOUNT_KEY.pattern}(?!\n)$"),
    expected(f"1 to {limits.MAX_ACCOUNT_KEY} characters of a-z, 0-9 and '-', starting with a letter or a digit"),
]

CURRENCY: Final = re.compile("[A-Z]{3}")
CURRENCY_TEXT: Final = "three uppercase letters"
_ThreeCharacters = Annotated[
    str, Meta(min_length=3, max_length=3), expected(CURRENCY_TEXT), doc("Three uppercase letters, such as `EUR`.")
]
Currency = Annotated[_ThreeCharacters, Meta(pattern=f"^{CURRENCY.pattern}$")]
# A pattern would make the decoder more than twice as slow, and a clock can have many transactions.
CurrencyOfTransaction = Annotated[_ThreeCharacters, Meta(extra_json_schema={"pattern": f"^{CURRENCY.pattern}$"})]

_POSITIVE: Final = Meta(gt=0, le=limits.MAX_AMOUNT)
_NOT_NEGATIVE: Final = Meta(ge=0, le=limits.MAX_AMOUNT)
_OPENING: Final = Meta(ge=-limits.MAX_OPENING_BALANCE, le=limits.MAX_OPENING_BALANCE)
_BOUND: Final = Meta(ge=-limits.MAX_BOUND, le=limits.MAX_BOUND)
_TOTAL: Final = Meta(ge=0, le=limits.MAX_BOUND)
PositiveAmount = Annotated[int, _POSITIVE] | Annotated[float, _POSITIVE]
InitialAmount = Annotated[int, _NOT_NEGATIVE] | Annotated[float, _NOT_NEGATIVE]
OpeningBalance = Annotated[int, _OPENING] | Annotated[float, _OPENING]
Bound = Annotated[int, _BOUND] | Annotated[float, _BOUND]
TotalBound = Annotated[int, _TOTAL] | Annotated[float, _TOTAL]
OPENING_BALANCES: Final = Meta(
    max_length=limits.MAX_OPENING_BALANCES,
    description=(
        f"The balance of each currency before the clock's start, from -{limits.MAX_OPENING_BALANCE:,} to "
        f"{limits.MAX_OPENING_BALANCE:,}. A missing one is 0. A clock with accounts has none."
    ),
)
OpeningBalances = Annotated[dict[Currency, OpeningBalance], OPENING_BALANCES]

ClockName = Annotated[Text, Meta(min_length=1, max_length=limits.MAX_CLOCK_NAME)]
# The pattern excludes a line break at the end, which `$` would allow.
LabelName = Annotated[
    str,
    Meta(min_length=1, max_length=limits.MAX_LABEL_NAME, pattern=r"^[A-Za-z0-9._/-]+(?!\n)$"),
    expected(f"1 to {limits.MAX_LABEL_NAME} characters of A-Z, a-z, 0-9, '.', '_', '-' and '/'"),
]
LabelValue = Annotated[Text, Meta(max_length=limits.MAX_LABEL_VALUE)]
Labels = Annotated[
    dict[LabelName, LabelValue],
    Meta(max_length=limits.MAX_LABELS),
    doc(
        f"Your own labels. A name has 1 to {limits.MAX_LABEL_NAME} characters of `A-Z a-z 0-9 . _ - /`. A value is a "
        f"string of at most {limits.MAX_LABEL_VALUE} characters."
    ),
]
