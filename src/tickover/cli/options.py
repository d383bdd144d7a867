"""Options that several commands share, and parsers and completions of their values."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

import click

from tickover.cli.session import DEFAULT_URL, Session

if TYPE_CHECKING:
    from decimal import Decimal

    from click.shell_completion import CompletionItem

    from tickover.api.durations import Duration
    from tickover.api.fields import AccountType

F = TypeVar("F", bound=Callable[..., Any])

# Compiled at their first use, because help doesn't need them.
_WITHOUT_OFFSET: Final = r"(?a:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?)"
_AMOUNT: Final = r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,10})?"
_AMBIGUOUS_MINUTES: Final = r"(?i:([0-9]) *m\b)"


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    # A group before the command may have set it already.
    if value:
        ctx.ensure_object(Session).output.wants_json = True


def _set_url(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.ensure_object(Session).url_option = value


json_option: Final = click.option("--json", is_flag=True, expose_value=False, callback=_set_json, help="Print JSON.")
_url_option: Final = click.option(
    "--url",
    metavar="URL",
    expose_value=False,
    callback=_set_url,
    help=f"Server address. [TICKOVER_URL, default: the server of the last sign-in, or {DEFAULT_URL}]",
)


def shared_options(command: F) -> F:
    """Add --url and --json to a command."""
    return _url_option(json_option(command))


def opening_option(command: F) -> F:
    """Add --opening, which passes `opening_balances`, or None for those of the clock."""
    return click.option(
        "--opening",
        "opening_balances",
        type=parse_amount_of_currency,
        multiple=True,
        callback=lambda _, __, balances: dict(balances) or None,
        metavar="EUR=1200",
        help="Balance of a currency before the clock's start, instead of the clock's own. Repeatable.",
    )(command)


def label_option(help: str) -> Callable[[F], F]:
    """Add --label, which passes names and values as `labels`."""
    return click.option("--label", "labels", type=parse_label, multiple=True, metavar="KEY=VALUE", help=help)


def parse_time(text: str) -> datetime:
    """Parse a date or a time. It is in UTC unless it has an offset."""
    from tickover.api import timestamps

    try:
        if re.fullmatch(_WITHOUT_OFFSET, text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        return timestamps.parse(text)
    except ValueError:
        raise click.BadParameter(
            f"'{text}' isn't a time. Use 2027-01-31, '2027-01-31 09:00' or 2027-01-31T09:00:00+01:00."
        ) from None


def parse_duration(text: str) -> "Duration":
    """Parse a duration such as `1mo` or `2w`."""
    from tickover.api.durations import parse

    try:
        duration = parse(text)
    except ValueError:
        if re.search(_AMBIGUOUS_MINUTES, text):
            months, minutes = (re.sub(_AMBIGUOUS_MINUTES, rf"\1{unit}", text) for unit in ("mo", "min"))
            raise click.BadParameter(
                f"'{text}' is ambiguous. Use '{months}' for months or '{minutes}' for minutes."
            ) from None
        raise click.BadParameter(f"'{text}' isn't a duration. Use 1mo, 2w, 10d, 30min or '1y 6mo'.") from None
    if duration.is_zero:
        raise click.BadParameter(f"'{text}' doesn't move the clock. Use a duration greater than zero.")
    return duration


def parse_amount_of_currency(text: str) -> "tuple[str, Decimal]":
    """Parse a currency and an amount: `EUR=1200.50`."""
    from decimal import Decimal

    from tickover.api.fields import CURRENCY

    currency, _, amount = text.partition("=")
    if not CURRENCY.fullmatch(currency) or not re.fullmatch(_AMOUNT, amount):
        raise click.BadParameter(f"'{text}' isn't a currency with an amount. Use EUR=1200 or EUR=-50.25.")
    return currency, Decimal(amount)


def parse_balance(text: str) -> "tuple[str, Decimal]":
    """Parse a currency or the key of an account, and an amount: `EUR=0`, `checking=100`."""
    from decimal import Decimal

    book, _, amount = text.partition("=")
    if not book or not re.fullmatch(_AMOUNT, amount):
        raise click.BadParameter(f"'{text}' isn't a currency or an account with an amount. Use EUR=0 or checking=100.")
    return book, Decimal(amount)


class AccountFile(NamedTuple):
    key: str
    type: "AccountType | None"
    """None if the file tells it."""
    path: str


def parse_account_file(text: str) -> AccountFile:
    """Parse the key of an account, its type, if any, and a file: `visa:credit-card=visa.csv`."""
    from tickover.api.fields import ACCOUNT_KEY, AccountType
    from tickover.api.limits import MAX_ACCOUNT_KEY

    account, _, path = text.partition("=")
    key, separator, type = account.partition(":")
    if not ACCOUNT_KEY.fullmatch(key) or len(key) > MAX_ACCOUNT_KEY or not path:
        raise click.BadParameter(f"'{text}' isn't an account with a file. Use KEY=FILE, for example savings=bank.csv.")
    types = {each.lower().replace("_", "-"): each for each in get_args(AccountType)}
    if separator and type not in types:
        raise click.BadParameter(f"'{type}' isn't a type of account. Use {', '.join(types)}.")
    return AccountFile(key, types.get(type), path)


def parse_amount(text: str) -> "Decimal":
    """Parse an amount: `3.50`."""
    from decimal import Decimal

    if not re.fullmatch(_AMOUNT, text):
        raise click.BadParameter(f"'{text}' isn't an amount. Use 1200 or 3.50.")
    return Decimal(text)


def parse_name_and_time(text: str) -> tuple[str, datetime]:
    """Parse a name and a time: `Rent=2027-02-01`. The name may contain equals signs."""
    name, _, at = text.rpartition("=")
    if not name:
        raise click.BadParameter(f"'{text}' isn't a name with a time. Use NAME=2027-01-31.")
    return name, parse_time(at)


def parse_label(text: str) -> tuple[str, str]:
    """Parse a label: `ci=1`."""
    key, separator, value = text.partition("=")
    if not key or not separator:
        raise click.BadParameter(f"'{text}' isn't a label. Use KEY=VALUE, for example ci=1.")
    return key, value


def complete_scenario(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete a file name or the name of a shipped scenario."""
    from click.shell_completion import CompletionItem

    from tickover.scenarios import names

    # Files come first because bash drops items before them. The value isn't empty because zsh drops empty items.
    file = CompletionItem(incomplete or "./", type="file")
    return [file, *(CompletionItem(name) for name in names() if name.startswith(incomplete))]
