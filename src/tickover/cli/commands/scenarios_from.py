"""The command `tickover scenarios from`."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, get_args

import click
from msgspec.structs import replace

from tickover.api.fields import ACCOUNT_KEY, AccountType
from tickover.api.limits import MAX_ACCOUNT_KEY
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand, time_option
from tickover.cli.select_clock import resolve_clock_id
from tickover.scenarios.bank_files.bank_file_reader import COLUMNS, MAX_BANK_FILE_BYTES, BankFileError, read_bank_file
from tickover.scenarios.bank_files.history import History, history_of_clock, join_accounts
from tickover.scenarios.from_payments import write_scenario

_PREVIEWED: Final = 10
_CLOCK_HINT: Final = "For a clock, use its whole ID, which starts with clock_: tickover clock list --json"
_OPTIONS: Final = {
    "columns": (
        "name them with --columns date=HEADER,amount=HEADER, or with debit=HEADER,credit=HEADER for two columns"
    ),
    "name": "name it with --columns name=HEADER",
    "currency": "use --currency EUR",
    "order": "use --day-first or --month-first",
}
"""What to do about what is missing in a file."""
_ReadFile = Callable[[bytes, str], History]


class _AccountFile(NamedTuple):
    key: str
    type: AccountType | None
    """None if the file tells it."""
    path: str


def _parse_account_file(text: str) -> _AccountFile:
    """Parse the key of an account, its type, if any, and a file: `visa:credit-card=visa.csv`."""
    account, _, path = text.partition("=")
    key, separator, type = account.partition(":")
    if not ACCOUNT_KEY.fullmatch(key) or len(key) > MAX_ACCOUNT_KEY or not path:
        raise click.BadParameter(f"'{text}' isn't an account with a file. Use KEY=FILE, for example savings=bank.csv.")
    types = {each.lower().replace("_", "-"): each for each in get_args(AccountType)}
    if separator and type not in types:
        raise click.BadParameter(f"'{type}' isn't a type of account. Use {', '.join(types)}.")
    return _AccountFile(key, types.get(type), path)


def _parse_columns(text: str) -> dict[str, str]:
    """Parse `date=Datum,amount=Betrag`."""
    columns = dict(part.partition("=")[::2] for part in text.split(","))
    for key, header in columns.items():
        if key not in COLUMNS or not header:
            raise click.BadParameter(f"'{text}' isn't a list of columns. Use {'=HEADER,'.join(COLUMNS)}=HEADER.")
    return columns


@click.command("from", cls=ClientCommand)
@click.argument("source", metavar="[FILE|CLOCK]", required=False)
@click.option(
    "--account",
    "accounts",
    type=_parse_account_file,
    multiple=True,
    metavar="KEY[:TYPE]=FILE",
    help="The file of an account, instead of FILE. Repeatable.",
)
@click.option(
    "--columns",
    type=_parse_columns,
    metavar="KEY=HEADER,...",
    help="Headers of a CSV file, such as date=Datum,amount=Betrag.",
)
@click.option("--currency", default="", metavar="EUR", help="Currency, if the CSV file has none.")
@click.option("--day-first/--month-first", "is_day_first", default=None, help="The order in dates such as 03/04/2027.")
@time_option("--from", "start", help="Ignore earlier payments.")
@click.option("--summarise", is_flag=True, help="Turn irregular payments into a recurrence that varies by a seed.")
@click.option("--anonymise", is_flag=True, help="Replace names, remove categories and scale amounts.")
@click.option("--preview", is_flag=True, help="List the payments in the file instead of writing a scenario.")
def from_(  # noqa: PLR0913 - one parameter for each option
    run: CliRun,
    source: str | None,
    *,
    accounts: Sequence[_AccountFile],
    columns: dict[str, str] | None,
    currency: str,
    is_day_first: bool | None,
    start: datetime | None,
    summarise: bool,
    anonymise: bool,
    preview: bool,
) -> None:
    """Statements are in CSV or OFX.

    Regular payments become recurrences. All others keep their dates. With a file for each account, the same amount that
    leaves one account and arrives in another within three days is a transfer. The command reads statements on this
    machine and sends nothing. Goals and expectations of a clock don't become part of the scenario.

    Examples:

    \b
    tickover scenarios from bank.csv --preview
    tickover scenarios from bank.csv --from 2027-04-01 --anonymise > my.toml
    tickover scenarios from --account giro=giro.csv --account visa:credit-card=visa.csv > my.toml
    tickover clock create my.toml
    """
    if (source is None) == (not accounts):
        raise click.UsageError("Use either FILE, CLOCK or --account.")
    read = partial(read_bank_file, columns=columns or {}, currency=currency, is_day_first=is_day_first)
    where = "on this machine. Nothing was sent."
    if source is None:
        history = _load_accounts(accounts, read)
    elif source.startswith("clock_") and not Path(source).exists():
        history, where = _load_clock(run, source), "of a clock from the server."
    else:
        history = _load_file(Path(source), read, _CLOCK_HINT)
    if start is not None:
        last = history.payments[-1].day
        history = history.since(start.date())
        if not history.payments:
            raise CliError(Exit.WRONG_COMMAND, f"All payments are before --from. The last one is on {last}.")
    if preview:
        run.output.write({"payments": history.payments}, *_format_payments(history))
        return
    title = Path(source or "").stem[:120] or "Statement"
    text = write_scenario(history, title=title, summarise=summarise, anonymise=anonymise)
    run.output.write({"scenario": text}, *text.splitlines())
    click.echo(f"Read {len(history.payments):,} payments {where}", err=True)


def _load_accounts(accounts: Sequence[_AccountFile], read: _ReadFile) -> History:
    """Return the history of several accounts with a file each."""
    if len({account.key for account in accounts}) < len(accounts):
        raise CliError(Exit.WRONG_COMMAND, "Several files have the same account. Use another key for each.")
    histories = {}
    for account in accounts:
        history = _load_file(Path(account.path), read)
        histories[account.key] = replace(history, account_type=account.type or history.account_type)
    try:
        return join_accounts(histories)
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, formatting.sentence(error)) from None


def _load_file(path: Path, read: _ReadFile, missing_hint: str = "") -> History:
    try:
        if not path.is_file():
            raise CliError(Exit.WRONG_COMMAND, f"No file is named '{path}'.", missing_hint)
        with path.open("rb") as file:
            return read(file.read(MAX_BANK_FILE_BYTES + 1), path.name)
    except OSError as error:
        raise CliError(Exit.WRONG_COMMAND, f"Can't read {path.name}: {error.strerror}.") from None
    except BankFileError as error:
        advice = f"; {_OPTIONS[error.missing]}" if error.missing else ""
        raise CliError(Exit.WRONG_COMMAND, f"{error}{advice}.") from None


def _load_clock(run: CliRun, id: str) -> History:
    with run.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(run, client, id))
    history = history_of_clock(clock.snapshot)
    if not history.payments:
        raise CliError(Exit.WRONG_COMMAND, "The clock has no transactions.")
    return history


def _format_payments(history: History) -> Iterator[str]:
    """Yield the first payments as lines, and how many there are."""
    payments = history.payments
    for one in payments[:_PREVIEWED]:
        amount = formatting.amount(one.amount) if one.to else formatting.signed_amount(one.amount)
        accounts = " → ".join(key for key in (one.account, one.to) if key)
        yield f"  {one.day}  {amount} {one.currency}  {one.name}{accounts and f'  {accounts}'}"
    if len(payments) > _PREVIEWED:
        yield f"  … and {len(payments) - _PREVIEWED:,} more, the last on {payments[-1].day}"
