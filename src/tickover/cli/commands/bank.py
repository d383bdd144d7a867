"""The command `tickover clock connect`."""

from typing import TYPE_CHECKING

import click

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
