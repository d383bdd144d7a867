"""The commands `tickover token create`, `list` and `revoke`."""

import asyncio

import click

from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS
from tickover.api.tokens import CreatedAccessToken
from tickover.cli import formatting
from tickover.cli.options import ClientCommand
from tickover.cli.session import Session


@click.command(cls=ClientCommand)
@click.argument("email", required=False)
@click.option("--name", required=True, help="Name of the token, such as the program that uses it.")
@click.option(
    "--days", type=click.IntRange(1, MAX_TOKEN_DAYS), default=DEFAULT_TOKEN_DAYS, show_default=True, metavar="N",
    help="Days until the token expires.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="The token can't change anything.")
@click.option("--database-url", metavar="URL", help="With EMAIL: database, as for `tickover serve`.")
def create(
    session: Session, email: str | None, name: str, days: int, read_only: bool, database_url: str | None
) -> None:
    """Create an access token for a program, and print it once.

    Without EMAIL, the token acts for you, on the server where you are signed in.

    With EMAIL, the token acts for that user. Run the command on the server's machine with the server's settings. It
    writes to the database, and creates the user if necessary. It sends no email.

    Examples:

    \b
    tickover token create --name ci
    export TICKOVER_TOKEN="$(tickover token create ci@example.test --name ci)"
    """
    if email is None:
        if database_url is not None:
            raise click.UsageError("Use --database-url only with EMAIL.")
        with session.signed_in_client() as client:
            created = client.create_access_token(name, expires_in_days=days, read_only=read_only)
    else:
        created = _create_in_database(session, email, name, days, read_only, database_url)
    session.output.write(created, created.token)
    until = formatting.timestamp(created.expires_at)
    session.output.note(f"Token '{created.name}' ({created.id}) expires at {until}. You can't show it again.")


def _create_in_database(
    session: Session, email: str, name: str, days: int, read_only: bool, database_url: str | None
) -> CreatedAccessToken:
    from tickover.cli.database import create_access_token, read_server_settings, translate_errors

    with translate_errors():
        url = read_server_settings(session, {"database_url": database_url}).database_url
        return asyncio.run(create_access_token(url, email, name, days, read_only, session.now()))


@click.command("list", cls=ClientCommand)
def list_(session: Session) -> None:
    """List your access tokens, newest first, without their secrets."""
    with session.signed_in_client() as client:
        tokens = client.list_access_tokens()
    lines = []
    for token in tokens:
        used = f"last used {token.last_used_on}" if token.last_used_on else "never used"
        rights = "  read-only" if token.read_only else ""
        lines.append(f"  {token.id}  {token.name}  expires {token.expires_at:%Y-%m-%d}  {used}{rights}")
    session.output.write({"tokens": tokens}, *(lines or ["You have no access tokens."]))


@click.command(cls=ClientCommand)
@click.argument("id")
def revoke(session: Session, id: str) -> None:
    """Revoke an access token. It stops working immediately.

    Examples:

    \b
    tickover token list
    tickover token revoke ID
    """
    with session.signed_in_client() as client:
        client.revoke_access_token(id)
    session.output.write({"revoked": id}, f"Revoked {id}.")
