"""The commands of a clock as a bank: `tickover clock connect`, `connections`, `disconnect` and `reconcile`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO, get_args

import click

from tickover.api.connections import ALL_QUIRKS, QUIRK_SETS, BankFaultKind
from tickover.api.limits import MAX_CALLS_PER_DAY, MAX_CONNECTION_CALLS, MAX_CONSENT_DAYS, MAX_TOLERANCE_DAYS
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand, clock_argument, clock_option, parse_amount, parse_time, time_option
from tickover.cli.select_clock import selected_clock

if TYPE_CHECKING:
    from tickover.api.connections import BankProtocol
    from tickover.client import Tickover

_USES = {
    "PLAID": (
        "Point your app's Plaid library at {url}/plaid. Either let it exchange this public token, with any client ID "
        "and secret. The token works once. Or give it an access token as its secret, and it connects your clocks "
        "itself: tickover token create --name app"
    ),
    "SIMPLEFIN": "Paste this setup token into your app. It works once, and leads to {simplefin_url}.",
}
_KINDS: Final = get_args(BankFaultKind)
_QUIRKS: Final = f"{', '.join(ALL_QUIRKS)}, or a set of them: {', '.join(QUIRK_SETS)}"
_INPUTS: Final = {"observed.transactions": "FILE", "observed.balance": "--balance"}


def _parse_fault(text: str) -> dict[str, Any]:
    """Parse a kind of failure, and from when until when it lasts: `LOGIN_REQUIRED=2027-02-01..2027-02-03`."""
    name, _, times = text.partition("=")
    kind = name.upper().replace("-", "_")
    if kind not in _KINDS:
        raise click.BadParameter(f"'{name}' isn't a failure of a bank. Use {', '.join(_KINDS)}.")
    start, _, end = times.partition("..")
    parsed = {"from": start and parse_time(start), "until": end and parse_time(end)}
    return {"kind": kind, **{name: time for name, time in parsed.items() if time}}


def _parse_quirk(text: str) -> str:
    """Parse the name of a quirk, or of a set of quirks."""
    if text in QUIRK_SETS or text.upper().replace("-", "_") in ALL_QUIRKS:
        return text
    names = ", ".join((*ALL_QUIRKS, *QUIRK_SETS))
    raise click.BadParameter(f"'{text}' isn't a habit of a bank. Use {names}.")


def _from_now(client: "Tickover", clock_id: str, faults: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return faults that begin at the clock's time unless they say when."""
    now = client.get_clock(clock_id).frozen_time if faults else None
    return [{"from": now, **fault} for fault in faults]


def _bank_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a connection that can be changed."""
    options = (
        click.option(
            "--fault",
            "faults",
            type=_parse_fault,
            multiple=True,
            metavar="KIND[=FROM[..UNTIL]]",
            help=f"Let the bank fail, by default from the clock's time on: {', '.join(_KINDS)}. Repeatable.",
        ),
        click.option(
            "--quirk",
            "quirks",
            type=_parse_quirk,
            multiple=True,
            metavar="QUIRK",
            help=f"Give the bank a habit: {_QUIRKS}. Repeatable.",
        ),
        click.option(
            "--calls-per-day",
            type=click.IntRange(1, MAX_CALLS_PER_DAY),
            metavar="N",
            help="Answer at most this many calls within 24 simulated hours.",
        ),
        click.option("--webhook", metavar="URL", help="Plaid: a URL that the bank calls when it shows something new."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=ClientCommand)
@clock_argument
@click.option("--plaid", is_flag=True, help="For an app that uses Plaid.")
@click.option("--simplefin", is_flag=True, help="For an app that uses SimpleFIN.")
@click.option("--institution", metavar="NAME", help="Name of the bank. [default: Tickover Bank]")
@click.option(
    "--consent-days",
    type=click.IntRange(1, MAX_CONSENT_DAYS),
    metavar="N",
    help="End the consent this many simulated days after the app connected.",
)
@_bank_options
def connect(  # noqa: PLR0913 - one parameter for each option
    run: CliRun,
    id: str | None,
    *,
    plaid: bool,
    simplefin: bool,
    institution: str | None,
    consent_days: int | None,
    faults: Sequence[dict[str, Any]],
    quirks: Sequence[str],
    calls_per_day: int | None,
    webhook: str | None,
) -> None:
    """The app uses Plaid or SimpleFIN. The command prints the token for it.

    The app sees what has happened up to the clock's time. Advance the clock, and its next sync brings more.

    Examples:

    \b
    tickover clock connect --plaid
    tickover clock connect 5597fdf1 --simplefin --institution "First Bank"
    tickover clock connect --plaid --webhook http://localhost:3000/webhook
    tickover clock connect --plaid --fault LOGIN_REQUIRED=2027-02-01..2027-02-03
    tickover clock connect --plaid --quirk TELLS_LATE --quirk holds
    tickover clock connect --plaid --consent-days 90 --calls-per-day 4
    """
    if plaid == simplefin:
        raise click.UsageError("Use either --plaid or --simplefin.")
    protocol: BankProtocol = "PLAID" if plaid else "SIMPLEFIN"
    with selected_clock(run, id) as (client, clock_id):
        connected = client.connect_clock(
            clock_id,
            protocol,
            institution=institution,
            faults=_from_now(client, clock_id, faults),
            quirks=quirks or None,
            consent_days=consent_days,
            calls_per_day=calls_per_day,
            webhook=webhook,
        )
        url = client.url
    run.output.write(connected, connected.public_token or connected.setup_token or "")
    run.output.note(_USES[protocol].format(url=url, simplefin_url=connected.simplefin_url))


@click.command(cls=ClientCommand)
@clock_argument
def connections(run: CliRun, id: str | None) -> None:
    """The oldest come first, without their secrets."""
    with selected_clock(run, id) as (client, clock_id):
        found = client.list_connections(clock_id)
    lines = [f"  {one.id}  {one.protocol}  {one.institution}  created {one.created_at:%Y-%m-%d}" for one in found]
    run.output.write({"connections": found}, *(lines or ["The clock has no connections."]))


@click.command("update-connection", cls=ClientCommand)
@click.argument("connection")
@clock_option
@_bank_options
@click.option(
    "--remove",
    "removed",
    type=click.Choice(["faults", "quirks", "calls-per-day", "webhook"]),
    multiple=True,
    help="Remove what the connection has of this. Repeatable.",
)
def update_connection(run: CliRun, connection: str, id: str | None, *, removed: Sequence[str], **options: Any) -> None:
    """What you pass replaces what the connection has. The next sync of the app brings the difference.

    Examples:

    \b
    tickover clock update-connection CONNECTION --quirk TELLS_LATE --calls-per-day 4
    tickover clock update-connection CONNECTION --remove quirks
    """
    run.inputs = {"connectionId": "CONNECTION"}
    changes: dict[str, Any] = {name: value for name, value in options.items() if value}
    gone = {name.replace("-", "_") for name in removed}
    if not (changes or gone):
        raise click.UsageError("Say what to change.")
    if both := gone & changes.keys():
        raise click.UsageError(f"Either change or remove {min(both).replace('_', '-')}.")
    with selected_clock(run, id) as (client, clock_id):
        if "faults" in changes:
            changes["faults"] = _from_now(client, clock_id, changes["faults"])
        updated = client.update_connection(clock_id, connection, **changes, **dict.fromkeys(gone))
    run.output.write({"connection": updated}, f"Updated {connection}.")


@click.command(cls=ClientCommand)
@click.argument("connection")
@clock_option
@click.option("--limit", type=click.IntRange(1, MAX_CONNECTION_CALLS), metavar="N", help="The most calls to list.")
def calls(run: CliRun, connection: str, id: str | None, limit: int | None) -> None:
    """The newest come first: when, in the clock's time, which path, and how the bank answered."""
    run.inputs = {"connectionId": "CONNECTION"}
    with selected_clock(run, id) as (client, clock_id):
        found = client.list_connection_calls(clock_id, connection, limit=limit)
    lines = [
        f"  {formatting.date_and_minute(one.clock_time)}  {sanitize(one.path)}  {one.outcome}"
        + (f"  {formatting.count(one.rows, 'row')}" if isinstance(one.rows, int) else "")
        for one in found
    ]
    run.output.write({"calls": found}, *(lines or ["The app has made no calls."]))


@click.command(cls=ClientCommand)
@click.argument("connection")
@clock_option
def disconnect(run: CliRun, connection: str, id: str | None) -> None:
    """The app can't read the clock any more."""
    run.inputs = {"connectionId": "CONNECTION"}
    with selected_clock(run, id) as (client, clock_id):
        client.disconnect_clock(clock_id, connection)
    run.output.write({"disconnected": connection}, f"Disconnected {connection}.")


@click.command(cls=ClientCommand)
@click.argument("file", type=click.File(encoding="utf-8-sig"))
@clock_option
@click.option("--account", metavar="KEY", help="The account that the file is about.")
@click.option("--currency", metavar="CODE", help="The currency that the file is about, if the clock has several.")
@click.option("--balance", type=parse_amount, metavar="AMOUNT", help="The balance that the app shows.")
@time_option("--at", help="Compare until this time. [default: the clock's time]")
@click.option(
    "--tolerance-days",
    type=click.IntRange(0, MAX_TOLERANCE_DAYS),
    default=0,
    metavar="N",
    help="How many days a row without a known ID may be early or late.",
)
def reconcile(run: CliRun, /, file: TextIO, id: str | None, **options: Any) -> None:
    """FILE is CSV with the columns at or date, amount, and optionally name and id. Others are ignored. An amount is
    negative if money went out. If something differs, the command shows where, and exits with 9.

    Examples:

    \b
    tickover clock reconcile books.csv
    tickover clock reconcile books.csv --account checking --balance 1650.40
    sqlite3 -csv -header app.db 'SELECT date, amount FROM payments' | tickover clock reconcile -
    """
    from tickover.client import BooksDiffer
    from tickover.client.books import read_books

    try:
        rows = read_books(file, lambda message: click.echo(f"{message[0].upper()}{message[1:]}.", err=True))
    except ValueError as error:
        raise CliError(Exit.WRONG_COMMAND, f"{file.name}: {formatting.sentence(error)}") from None
    run.inputs = _INPUTS | {f"observed.transactions[{index}]": f"row {index + 1}" for index in range(len(rows))}
    with selected_clock(run, id) as (client, clock_id):
        clock = client.get_clock(clock_id)
        try:
            result = clock.reconcile(rows, **options)
            lines = [f"The books are complete. {formatting.count(len(rows), 'row')} compared."]
        except BooksDiffer as differ:
            result, lines = differ.result, str(differ).splitlines()
    run.output.write(result, *lines)
    if not result.ok:
        raise CliError(Exit.VIOLATED, "The books differ from those of the bank.")
