"""The commands `tickover login`, `logout`, and `token create`, `list` and `revoke`."""

import re
import sys
from typing import TYPE_CHECKING, Final

import click

from tickover.api.errors import Reason, Rejection
from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand

if TYPE_CHECKING:
    from tickover.client import SignedIn, Tickover

_NEW_LINK: Final = "a new one"
"""The value of `--link` without a link."""
_MAX_PROMPTS: Final = 3


@click.command(cls=ClientCommand)
@click.argument("email")
@click.option("--code", metavar="CODE", help="Sign in with a code that you have already received.")
@click.option(
    "--link",
    metavar="[LINK]",
    is_flag=False,
    flag_value=_NEW_LINK,
    help="Request a login link, or sign in with the quoted LINK that you received.",
)
def login(run: CliRun, email: str, code: str | None, link: str | None) -> None:
    """The server sends a code to EMAIL.

    If the server has a development outbox, this command reads the code from the server. Otherwise it asks you for the
    code in the email. It stores a token in a file that only you can read. The token is valid for 30 days.

    Examples:

    \b
    tickover login ana@example.test
    tickover login ana@example.test --code 481920
    """
    if code and link:
        raise click.UsageError("Use either --code or --link.")
    run.url_option, run.email = run.login_url, email
    with run.client() as client:
        if link:
            signed_in = client.log_in_by_link(_request_link(run, client, email) if link == _NEW_LINK else link)
        else:
            signed_in = client.log_in(email, code) if code else _log_in_by_email(run, client, email)

    user_id, token = signed_in.user_id, signed_in.token
    # The last used clock may belong to another user.
    clock = run.profile.clock if run.profile.user_id == user_id else ""
    run.credentials.update(run.url, email=email, user_id=user_id, token=token, clock=clock, is_sign_in=True)
    if run.environment_token:
        run.output.note("TICKOVER_TOKEN is set and overrides the stored token.")
    run.output.write(
        {"email": email, "userId": user_id, "url": run.url},
        f"✓ Signed in as {email}.",
        f"  Your token is stored in {run.credentials.path}.",
        "  Next: tickover clock create salary-and-rent",
    )


def _log_in_by_email(run: CliRun, client: "Tickover", email: str) -> "SignedIn":
    from tickover.client import NoCode

    try:
        signed_in = client.sign_in(email)
    except NoCode:
        if sys.stdin.isatty():
            return _prompt_for_code(run, client, email)
        raise _sent(run, "CODE_NEEDED", "code", "--code CODE") from None
    run.output.note("✓ Found the code in the server's development mailbox.")
    return signed_in


def _request_link(run: CliRun, client: "Tickover", email: str) -> str:
    """Request a login link. A development server returns it."""
    link = client.send_link(email)
    if link is None:
        raise _sent(run, "LINK_NEEDED", "link", "--link 'LINK'")
    return link


def _sent(run: CliRun, reason: str, what: str, option: str) -> CliError:
    message = f"The server has sent a login {what} to {run.email}."
    hint = f"Sign in with it: {run.login_command} {run.email} {option}"
    return CliError(Exit.NOT_SIGNED_IN, message, hint, reason=reason)


def _prompt_for_code(run: CliRun, client: "Tickover", email: str) -> "SignedIn":
    for _ in range(_MAX_PROMPTS):
        code = re.sub(r"[\s-]", "", click.prompt(f"Code from the email to {email}", err=True))
        if not re.fullmatch("[0-9]{6}", code):
            run.output.note("A code has six digits.")
            continue
        try:
            return client.log_in(email, code)
        except Rejection as rejection:
            if rejection.reason != Reason.LOGIN_REFUSED:
                raise
            run.output.note("The code is wrong, used or expired.")
    message = f"Sign-in failed after {_MAX_PROMPTS} attempts."
    hint = f"Try the code again: {run.login_command} {email} --code CODE"
    raise CliError(Exit.NOT_SIGNED_IN, message, hint, reason=Reason.LOGIN_REFUSED)


@click.command(cls=ClientCommand)
@click.option("--everywhere", is_flag=True, help="Revoke the tokens of all your sign-ins.")
@click.option("--delete-user", is_flag=True, help="Delete your user, with all clocks, connections and tokens.")
@click.option("--yes", is_flag=True, help="With --delete-user: don't ask for confirmation.")
def logout(run: CliRun, *, everywhere: bool, delete_user: bool, yes: bool) -> None:
    """This revokes the token and deletes it from this machine.

    If TICKOVER_TOKEN is set, revoke that token and keep the stored one.
    """
    if delete_user and not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("Pass --yes to delete your user.")
        click.confirm("Delete your user with all clocks and tokens permanently?", abort=True, err=True)
    if not run.token and not everywhere and not delete_user:
        run.output.write({"signedOut": False}, f"You aren't signed in at {run.url}.")
        return
    with run.signed_in_client() as client:
        try:
            if delete_user:
                client.delete_current_user()
            else:
                client.log_out(everywhere=everywhere)
        except Rejection as rejection:
            # An invalid token needs no revocation.
            if everywhere or delete_user or rejection.reason != Reason.UNAUTHENTICATED:
                raise
    if not run.environment_token:
        run.credentials.update(run.url, email="", token="")
    done = f"Deleted your user at {run.url}" if delete_user else f"Signed out of {run.url}"
    run.output.write({"signedOut": True}, f"✓ {done}.")


@click.command("create", cls=ClientCommand)
@click.argument("email", required=False)
@click.option("--name", required=True, help="Name of the token, such as the program that uses it.")
@click.option(
    "--days", type=click.IntRange(1, MAX_TOKEN_DAYS), default=DEFAULT_TOKEN_DAYS, show_default=True, metavar="N",
    help="Days until the token expires.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="The token can't change anything.")
@click.option("--database-url", metavar="URL", help="With EMAIL: database, as for `tickover serve`.")
def create_token(
    run: CliRun, email: str | None, name: str, days: int, read_only: bool, database_url: str | None
) -> None:
    """Without EMAIL, the token acts for you, on the server where you are signed in.

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
        with run.signed_in_client() as client:
            created = client.create_access_token(name, expires_in_days=days, read_only=read_only)
    else:
        import asyncio

        from tickover.cli.server_database import create_access_token, read_server_settings, translate_errors

        with translate_errors():
            url = read_server_settings(run, {"database_url": database_url}).database_url
            created = asyncio.run(create_access_token(url, email, name, days, read_only, run.now()))
    run.output.write(created, created.token)
    until = formatting.timestamp(created.expires_at)
    run.output.note(f"Token '{created.name}' ({created.id}) expires at {until}. You can't show it again.")


@click.command("list", cls=ClientCommand)
def list_tokens(run: CliRun) -> None:
    """The newest come first, without their secrets."""
    with run.signed_in_client() as client:
        tokens = client.list_access_tokens()
    lines = []
    for token in tokens:
        used = f"last used {token.last_used_on}" if token.last_used_on else "never used"
        rights = "  read-only" if token.read_only else ""
        lines.append(f"  {token.id}  {token.name}  expires {token.expires_at:%Y-%m-%d}  {used}{rights}")
    run.output.write({"tokens": tokens}, *(lines or ["You have no access tokens."]))


@click.command("revoke", cls=ClientCommand)
@click.argument("id")
def revoke_token(run: CliRun, id: str) -> None:
    """It stops working immediately."""
    with run.signed_in_client() as client:
        client.revoke_access_token(id)
    run.output.write({"revoked": id}, f"Revoked {id}.")
