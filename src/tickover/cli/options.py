"""Classes of commands, options that several commands share, and parsers and completions of their values."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tickover.cli.cli_run import DEFAULT_URL, CliRun

if TYPE_CHECKING:
    from decimal import Decimal

    from click.shell_completion import CompletionItem

    from tickover.api.durations import Duration

F = TypeVar("F", bound=Callable[..., Any])

# Compiled at its first use, because help doesn't need it.
_WITHOUT_OFFSET: Final = r"(?a:\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?)"


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    # A group before the command may have set it already.
    if value:
        ctx.ensure_object(CliRun).output.wants_json = True


def _set_url(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.ensure_object(CliRun).url_option = value


JSON: Final = click.Option(["--json"], is_flag=True, expose_value=False, callback=_set_json, help="Print JSON.")
URL: Final = click.Option(
    ["--url"],
    metavar="URL",
    expose_value=False,
    callback=_set_url,
    help=f"Server address. [TICKOVER_URL, default: the server of the last sign-in, or {DEFAULT_URL}]",
)


class LocalCommand(click.Command):
    """A command with --json. Its function gets the run before the values of the command's own options."""

    shared: Sequence[click.Parameter] = (JSON,)

    def __init__(
        self, name: str, *, params: Sequence[click.Parameter], callback: Callable[..., None], **attributes: Any
    ) -> None:
        session_passing = click.make_pass_decorator(CliRun)(callback)
        super().__init__(name, params=[*params, *self.shared], callback=session_passing, **attributes)


class ClientCommand(LocalCommand):
    """A command that calls the server. It has --url too."""

    shared = (URL, JSON)

    def invoke(self, ctx: click.Context) -> Any:
        from tickover.cli.call_errors import translate_errors

        with translate_errors(ctx.ensure_object(CliRun)):
            return super().invoke(ctx)


clock_argument: Final = click.argument("id", required=False)
clock_option: Final = click.option("--clock", "id", metavar="ID", help="The clock. [default: the one used last]")


def time_option(*names: str, help: str) -> Callable[[F], F]:
    return click.option(*names, type=parse_time, metavar="TIME", help=help)


def opening_option(command: F) -> F:
    """Add --opening, which passes `opening_balances`, or None for those of the clock."""
    return click.option(
        "--opening",
        "opening_balances",
        type=parse_opening,
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
        raise click.BadParameter(f"'{text}' isn't a duration. Use 1mo, 2w, 10d, 30min or '1y 6mo'.") from None
    if duration.is_zero:
        raise click.BadParameter(f"'{text}' doesn't move the clock. Use a duration greater than zero.")
    return duration


def parse_amount(text: str) -> "Decimal":
    """Parse an amount: `3.50`."""
    from decimal import Decimal

    if not re.fullmatch(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,10})?", text):
        raise click.BadParameter(f"'{text}' isn't an amount. Use 1200 or 3.50.")
    return Decimal(text)


def parse_balance(text: str) -> "tuple[str, Decimal]":
    """Parse a currency or the key of an account, and an amount: `EUR=0`, `checking=100`."""
    book, equals, amount = text.partition("=")
    if not book or not equals:
        raise click.BadParameter(f"'{text}' isn't a balance. Use EUR=1200 or checking=-50.25.")
    return book, parse_amount(amount)


def parse_opening(text: str) -> "tuple[str, Decimal]":
    """Parse a currency and an amount: `EUR=1200`."""
    from tickover.api.fields import CURRENCY

    currency, amount = parse_balance(text)
    if not CURRENCY.fullmatch(currency):
        raise click.BadParameter(f"'{text}' isn't a currency with an amount. Use EUR=1200 or EUR=-50.25.")
    return currency, amount


def parse_name_and_time(text: str) -> tuple[str, datetime]:
    """Parse a name and a time: `Rent=2027-02-01`. The name may contain equals signs."""
    name, _, at = text.rpartition("=")
    if not name:
        raise click.BadParameter(f"'{text}' isn't a name with a time. Use NAME=2027-01-31.")
    return name, parse_time(at)


def parse_label(text: str) -> tuple[str, str]:
    """Parse a label: `ci=1`."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise click.BadParameter(f"'{text}' isn't a label. Use KEY=VALUE, for example ci=1.")
    return key, value


def complete_scenario(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete a file name or the name of a shipped scenario."""
    from click.shell_completion import CompletionItem

    from tickover.scenarios import names

    # Files come first because bash drops items before them. The value isn't empty because zsh drops empty items.
    file = CompletionItem(incomplete or "./", type="file")
    return [file, *(CompletionItem(name) for name in names() if name.startswith(incomplete))]
