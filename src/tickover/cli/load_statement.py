"""Loads payments from bank statements or from a clock."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click
from msgspec.structs import replace

from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import AccountFile
from tickover.cli.select_clock import resolve_clock_id
from tickover.cli.session import Session
from tickover.scenarios.statements.history import History, history_of_clock, join_accounts
from tickover.scenarios.statements.read import COLUMNS, MAX_STATEMENT_BYTES, StatementError

_PREVIEWED = 10
_CLOCK_HINT = "For a clock, use its whole ID, which starts with clock_: tickover clock list --json"


def parse_columns(text: str | None) -> dict[str, str]:
    """Parse `date=Datum,amount=Betrag`."""
    columns = dict(part.partition("=")[::2] for part in text.split(",")) if text else {}
    for key, header in columns.items():
        if key not in COLUMNS or not header:
            raise click.UsageError(f"'{text}' isn't a list of columns. Use {'=HEADER,'.join(COLUMNS)}=HEADER.")
    return columns


def load_history(
    session: Session, source: str | None, accounts: Sequence[AccountFile], read: Callable[[bytes, str], History]
) -> History:
    """Return the history in a file or of a clock, or that of several accounts with a file each."""
    if source is not None:
        path = Path(source)
        is_clock = source.startswith("clock_") and not path.exists()
        return _load_clock(session, source) if is_clock else _load_file(path, read, _CLOCK_HINT)
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


def _load_file(path: Path, read: Callable[[bytes, str], History], missing_hint: str = "") -> History:
    try:
        if not path.is_file():
            raise CliError(Exit.WRONG_COMMAND, f"No file is named '{sanitize(str(path))}'.", missing_hint)
        with path.open("rb") as file:
            return read(file.read(MAX_STATEMENT_BYTES + 1), path.name)
    except OSError as error:
        raise CliError(Exit.WRONG_COMMAND, f"Can't read {path.name}: {error.strerror}.") from None
    except StatementError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{error}.") from None


def _load_clock(session: Session, id: str) -> History:
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
    history = history_of_clock(clock.snapshot)
    if not history.payments:
        raise CliError(Exit.WRONG_COMMAND, "The clock has no transactions.")
    return history


def trim_history(history: History, start: datetime | None) -> History:
    """Return what is on or after the day of `start`. Opening balances include the rest."""
    if start is None:
        return history
    trimmed = history.since(start.date())
    if not trimmed.payments:
        last = history.payments[-1].day
        raise CliError(Exit.WRONG_COMMAND, f"All payments are before --from. The last one is on {last}.")
    return trimmed


def format_history(history: History) -> Iterator[str]:
    """Yield the first payments as lines, and how many there are."""
    payments = history.payments
    for one in payments[:_PREVIEWED]:
        amount = formatting.amount(one.amount) if one.to else formatting.signed_amount(one.amount)
        accounts = " → ".join(key for key in (one.account, one.to) if key)
        yield f"  {one.day}  {amount} {one.currency}  {one.name}{accounts and f'  {accounts}'}"
    if len(payments) > _PREVIEWED:
        yield f"  … and {len(payments) - _PREVIEWED:,} more, the last on {payments[-1].day}"
