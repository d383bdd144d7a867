"""The commands `tickover clock connect`, `connections` and `disconnect`."""

from typing import TYPE_CHECKING

import click

from tickover.api.terminal import sanitize
from tickover.cli.options import ClientCommand, clock_argument, clock_option
from tickover.cli.select_clock import selected_clock
from tickover.cli.session import Session

if TYPE_CHECKING:
    from tickover.api.connections import BankProtocol

_USES = {
    "PLAID": (
        "Point your app's Plaid library at {url}/plaid, with any client ID and secret, and let it exchange this public "
        "token. It works once."
    ),
    "SIMPLEFIN": "Paste this setup token into your app. It works once, and leads to {url}/simplefin.",
}


@click.command(cls=ClientCommand)
@clock_argument
@click.option("--plaid", is_flag=True, help="For an app that uses Plaid.")
@click.option("--simplefin", is_flag=True, help="For an app that uses SimpleFIN.")
@click.option("--institution", metavar="NAME", help="Name of the bank. [default: Tickover Bank]")
def connect(session: Session, id: str | None, *, plaid: bool, simplefin: bool, institution: str | None) -> None:
    """Let an app that uses Plaid or SimpleFIN read a clock as if it were a bank, and print the token for it.

    The app sees what has happened up to the clock's time. Advance the clock, and its next sync brings more.

    Examples:

    \b
    tickover clock connect --plaid
    tickover clock connect 5597fdf1 --simplefin --institution "First Bank"
    """
    if plaid == simplefin:
        raise click.UsageError("Use either --plaid or --simplefin.")
    protocol: BankProtocol = "PLAID" if plaid else "SIMPLEFIN"
    with selected_clock(session, id) as (client, clock_id):
        connected = client.connect_clock(clock_id, protocol, institution=institution)
        url = client.url
    session.output.write(connected, connected.public_token or connected.setup_token or "")
    session.output.note(_USES[protocol].format(url=url))


@click.command(cls=ClientCommand)
@clock_argument
def connections(session: Session, id: str | None) -> None:
    """List the apps that read a clock as if it were a bank, oldest first, without their secrets."""
    with selected_clock(session, id) as (client, clock_id):
        found = client.list_connections(clock_id)
    lines = [
        f"  {one.id}  {one.protocol}  {sanitize(one.institution)}  created {one.created_at:%Y-%m-%d}" for one in found
    ]
    session.output.write({"connections": found}, *(lines or ["The clock has no connections."]))


@click.command(cls=ClientCommand)
@click.argument("connection")
@clock_option
def disconnect(session: Session, connection: str, id: str | None) -> None:
    """End a connection. The app can't read the clock any more.

    Examples:

    \b
    tickover clock connections
    tickover clock disconnect CONNECTION
    """
    session.inputs = {"connectionId": "CONNECTION"}
    with selected_clock(session, id) as (client, clock_id):
        client.disconnect_clock(clock_id, connection)
    session.output.write({"disconnected": connection}, f"Disconnected {connection}.")
