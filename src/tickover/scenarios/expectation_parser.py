"""Parses the `[[expect]]` tables of a scenario file."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from tickover.api import expectations
from tickover.api.fields import TransactionType
from tickover.api.suggestions import suggest
from tickover.scenarios import readers
from tickover.scenarios.errors import Location, quote
from tickover.scenarios.item_parser import Defaults, parse_currency
from tickover.scenarios.scenario import ExpectItem
from tickover.scenarios.tables import Table
from tickover.scenarios.timings import Point

_BUILDERS: Final = {
    "never_below": expectations.never_below,
    "never_above": expectations.never_above,
    "goal_reached": expectations.goal_reached,
    "total": expectations.total,
    "posted": expectations.posted,
}
_RANGE_KEYS: Final = ("currency", "account", "from", "until", "time")
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "never_below": _RANGE_KEYS,
    "never_above": _RANGE_KEYS,
    "goal_reached": ("by", "time"),
    "total": ("currency", "category", "per", "at_least", "at_most"),
    "posted": ("by", "count", "time"),
}
EXPECT_KEYS: Final = tuple(dict.fromkeys([*_KEYS, *(key for keys in _KEYS.values() for key in keys)]))
_END: Final = Point('"end"', "end")


class KnownNames(Struct, frozen=True, kw_only=True):
    """The names in a file that its expectations can be about."""

    transactions: Collection[str]
    goals: Collection[str]
    currencies: Collection[str]
    accounts: Collection[str]
    categories: Collection[tuple[TransactionType, str, str | None]]
    """The type, currency and category of each transaction."""


def parse_expectation(
    value: object, location: Location, default_currency: str | None, known: KnownNames | None, defaults: Defaults
) -> ExpectItem:
    """Parse one `[[expect]]` table. Without `known`, it can be about any name."""
    table = Table(value, location, EXPECT_KEYS)
    word = _find_word(table)
    arguments: tuple[Any, ...]
    options: dict[str, Any] = {}
    match word:
        case "goal_reached":
            arguments = (_known_name(table, word, "goal", known.goals if known else None),)
        case "posted":
            arguments = (_known_name(table, word, "transaction", known.transactions if known else None),)
        case "total":
            type, code = table.required(word, readers.TYPE), _known_currency(table, default_currency, known)
            _check_category(table, type, code, known)
            arguments = (type, code)
        case _:
            bound = table.required(word, readers.BOUND)
            account = _known_account(table, known)
            currency = None if "account" in table else _known_currency(table, default_currency, known)
            arguments = (currency, bound)
            options = {"account": account} if account else {}
    build: Any = _BUILDERS[word]
    item = ExpectItem(
        location=location,
        build=partial(build, *arguments, **options, **_parse_options(table, word)),
        points=_parse_points(table, word),
        local_time=defaults.local_time(table),
    )
    table.mistakes.raise_all()
    return item


def _find_word(table: Table) -> str:
    words = [word for word in _BUILDERS if word in table]
    if len(words) != 1:
        table.mistakes.raise_all()
        raise table.location.error(f"must have exactly one of {', '.join(_BUILDERS)}")
    allowed = (words[0], *_KEYS[words[0]])
    for key in EXPECT_KEYS:
        if key in table and key not in allowed:
            table.report(f"{key} can't be used with {words[0]}; available keys: {', '.join(allowed)}", key)
    return words[0]


def _known_name(table: Table, word: str, kind: str, names: Collection[str] | None) -> str:
    name = table.required(word, readers.NAME)
    if table.mistakes or names is None:
        return name
    if name not in names:
        hint = suggest(name, names, '"{}"')
        table.report(f"no {kind} is named {quote(name)}{hint}", word)
    if kind == "goal" and list(names).count(name) > 1:
        raise table.location.error(f"several goals are named {quote(name)}; rename one")
    return name


def _known_currency(table: Table, default: str | None, known: KnownNames | None) -> str:
    currency = parse_currency(table, default)
    if known and not table.mistakes and currency not in known.currencies:
        hint = suggest(currency, known.currencies)
        table.report(f"no transaction, account or opening balance is in {currency}{hint}", "currency")
    return currency


def _known_account(table: Table, known: KnownNames | None) -> str | None:
    account = table.optional("account", readers.ACCOUNT_KEY)
    if account is None:
        return None
    if "currency" in table:
        table.report("must have either account or currency", "account")
    elif known and account not in known.accounts:
        hint = suggest(account, known.accounts, '"{}"')
        table.report(f"no account has the key {quote(account)}{hint}", "account")
    return account


def _check_category(table: Table, type: TransactionType, currency: str, known: KnownNames | None) -> None:
    category = table.get("category")
    if not known or table.mistakes or not isinstance(category, str):
        return
    if (type, currency, category) not in known.categories:
        names = [name for *key, name in known.categories if key == [type, currency] and name]
        hint = suggest(category, names, '"{}"')
        table.report(f"no {type.lower()} in {currency} has the category {quote(category)}{hint}", "category")


def _parse_options(table: Table, word: str) -> dict[str, Any]:
    options = {
        "per": table.optional("per", readers.PERIOD),
        "category": table.optional("category", readers.CATEGORY),
        "at_least": table.optional("at_least", readers.TOTAL_BOUND),
        "at_most": table.optional("at_most", readers.TOTAL_BOUND),
        "count": table.optional("count", readers.TIMES),
    }
    if word == "total" and "at_least" not in table and "at_most" not in table:
        table.report("total requires at_least, at_most or both")
    if options["at_least"] is not None and options["per"] not in (None, "ALL"):
        # Nothing happens after the scenario's end, but the clock continues for ten years.
        table.report('at_least requires per = "all"')
    return {key: value for key, value in options.items() if value is not None}


def _parse_points(table: Table, word: str) -> dict[str, Point]:
    points = {key: table.optional(key, readers.POINT) for key in ("from", "until", "by")}
    if "by" in _KEYS[word]:
        points["by"] = points["by"] or _END
    return {key: point for key, point in points.items() if point is not None}
