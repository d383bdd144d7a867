"""The commands `tickover clock connect`, `connections` and `disconnect`."""

from typing import TYPE_CHECKING

import click

from tickover.api.terminal import sanitize
from tickover.cli.fault_names import name_inputs
from tickover.cli.options import shared_options
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session, pass_session

if TYPE_CHECKING:
    from tickover.api.connections import BankProtocol

_USES = {
    "PLAID": (
        "Point your app's Plaid library at {url}/plaid, with any client ID and secret, and let it exchange this public "
        "token. It works once."
    ),
    "SIMPLEFIN": "Paste this setup token into your app. It works once, and leads to {url}/simplefin.",
}


@click.command()
@click.argument("id", required=False)
@click.option("--plaid", is_flag=True, help="For an app that uses Plaid.")
@click.option("--simplefin", is_flag=True, help="For an app that uses SimpleFIN.")
@click.option("--institution", metavar="NAME", help="Name of the bank. [default: Tickover Bank]")
@shared_options
@pass_session
def connect(session: Session, id: str | None, *, plaid: bool, simplefin: bool, institution: str | None) -> None:
    """Let an app that uses Plaid or SimpleFIN read a clock as if it were a bank, and print the token for it.

    The app sees what has happened up to the clock's time. Advance the clock, and its next sync brings more.

    Examples:

    \b
    tickover clock connect --plaid
    tickover clock connect 5597fdf1 --simplefin --institution "First Bank"
    """
    if plaid == simplefin:
        raise click.UsageError("Use either --plaid or --simplefin.", click.get_current_context())
    protocol: BankProtocol = "PLAID" if plaid else "SIMPLEFIN"
    with session.signed_in_client() as client:
        clock_id = resolve_clock_id(session, client, id)
        connected = client.connect_clock(clock_id, protocol, institution=institution)
        remember_clock(session, clock_id)
        url = client.url
    session.output.write(connected, connected.public_token or connected.setup_token or "")
    session.output.note(_USES[protocol].format(url=url))


@click.command()
@click.argument("id", required=False)
@shared_options
@pass_session
def connections(session: Session, id: str | None) -> None:
    """List the apps that read a clock as if it were a bank, oldest first, without their secrets."""
    with session.signed_in_client() as client:
        clock_id = resolve_clock_id(session, client, id)
        found = client.list_connections(clock_id)
        remember_clock(session, clock_id)
    lines = [
        f"  {one.id}  {one.protocol}  {sanitize(one.institution)}  created {one.created_at:%Y-%m-%d}" for one in found
    ]
    session.output.write({"connections": found}, *(lines or ["The clock has no connections."]))


@click.command()
@click.argument("connection")
@click.option("--clock", "id", metavar="ID", help="The clock. [default: the one used last]")
@shared_options
@pass_session
def disconnect(session: Session, connection: str, id: str | None) -> None:
    """End a connection. The app can't read the clock any more.

    Examples:

    \b
    tickover clock connections
    tickover clock disconnect CONNECTION
    """
    name_inputs({"connectionId": "CONNECTION"})
    with session.signed_in_client() as client:
        clock_id = resolve_clock_id(session, client, id)
        client.disconnect_clock(clock_id, connection)
        remember_clock(session, clock_id)
    session.output.write({"disconnected": connection}, f"Disconnected {connection}.")
