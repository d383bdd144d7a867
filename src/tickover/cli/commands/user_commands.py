"""The commands `tickover users list`, `show`, `revoke-sessions` and `delete`."""

import sys
from asyncio import Runner
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from tickover.api import ids
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import LocalCommand
from tickover.cli.server_database import (
    check_database_exists,
    database_url_option,
    read_server_settings,
    translate_errors,
)

if TYPE_CHECKING:
    from tickover.server.storage.admin.admin_users import User, Users

_PAGE_SIZE = 1000


@click.command("list", cls=LocalCommand)
@database_url_option
def list_(run: CliRun, database_url: str | None) -> None:
    """With --json, print one document per line."""
    last: User | None = None
    with _open_users(run, database_url) as (users, runner):
        while page := runner.run(users.page(last, _PAGE_SIZE)):
            for user in page:
                if run.output.wants_json:
                    run.output.write_json_line(_document(user))
                else:
                    run.output.write(None, f"  {_id(user)}  {formatting.date(user.created_at)}  {user.email}")
            last = page[-1]
    if last is None:
        run.output.note("There are no users.")


@click.command(cls=LocalCommand)
@click.argument("user", metavar="EMAIL|ID")
@database_url_option
def show(run: CliRun, user: str, database_url: str | None) -> None:
    with _open_users(run, database_url) as (users, runner):
        found = runner.run(_find(users, user))
        details = runner.run(users.describe(found, run.now()))
    megabytes = f"{details.bytes / 1e6:,.1f} MB".replace(",", " ")
    run.output.write(
        _document(found) | to_builtins(details),
        f"{found.email}  {_id(found)}",
        f"  Created        {formatting.date_and_minute(found.created_at)} UTC",
        f"  Clocks         {details.clocks} ({megabytes})",
        f"  Sessions       {details.sessions}",
        f"  Access tokens  {details.access_tokens}",
    )


@click.command("revoke-sessions", cls=LocalCommand)
@click.argument("user", metavar="EMAIL|ID")
@click.option("--access-tokens", is_flag=True, help="Also revoke the user's access tokens.")
@database_url_option
def revoke_sessions(run: CliRun, user: str, access_tokens: bool, database_url: str | None) -> None:
    """The user can sign in again.

    Access tokens of programs stay valid, unless you pass --access-tokens.
    """
    with _open_users(run, database_url) as (users, runner):
        found = runner.run(_find(users, user))
        revoked = runner.run(users.revoke_sessions(found, and_access_tokens=access_tokens))
    text = f"Revoked {formatting.count(revoked, 'token')} of {found.email}."
    run.output.write({"id": _id(found), "revoked": revoked}, text)


@click.command(cls=LocalCommand)
@click.argument("user", metavar="EMAIL|ID")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@database_url_option
def delete(run: CliRun, user: str, yes: bool, database_url: str | None) -> None:
    """This deletes the tokens and emails, and then the clocks and idempotency records. At a terminal, it asks for
    confirmation first. In a script, pass --yes. A later sign-in with the same address creates a new user.
    """
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("Pass --yes to delete without a confirmation.")
    with _open_users(run, database_url) as (users, runner):
        found = runner.run(_find(users, user))
        if not yes:
            clocks = formatting.count(runner.run(users.describe(found, run.now())).clocks, "clock")
            click.confirm(f"Delete {found.email} and {clocks} permanently?", abort=True, err=True)
        deleted = runner.run(users.delete(found))
    if deleted is None:
        raise _not_found(user)
    clocks, tokens = formatting.count(deleted.clocks, "clock"), formatting.count(deleted.tokens, "token")
    text = f"✓ Deleted {found.email} with {clocks}, {tokens} and {formatting.count(deleted.emails, 'email')}."
    run.output.write({"deleted": _id(found), **to_builtins(deleted)}, text)


@contextmanager
def _open_users(run: CliRun, database_url: str | None) -> Iterator[tuple["Users", Runner]]:
    """Open the database in the server's settings. Yield its users, and what runs their methods."""
    with translate_errors():
        url = read_server_settings(run, {"database_url": database_url}).database_url
        check_database_exists(url)
        from tickover.server.storage.admin.admin_users import open_users

        with Runner() as runner:
            opened = AsyncExitStack()
            users = runner.run(opened.enter_async_context(open_users(url)))
            try:
                yield users, runner
            finally:
                runner.run(opened.aclose())


async def _find(users: "Users", name: str) -> "User":
    """Return the user with this email address or ID. Raise a `CliError` if there is none."""
    from tickover.server.sign_in.email_addresses import EmailAddress

    try:
        found = await users.find(ids.read("user", name) or EmailAddress.parse(name))
    except ValueError:
        raise CliError(Exit.WRONG_COMMAND, f"'{name}' is neither an email address nor the ID of a user.") from None
    if found is None:
        raise _not_found(name)
    return found


def _not_found(name: str) -> CliError:
    return CliError(Exit.NOT_FOUND, f"There is no user {name}.", "List the users: tickover users list")


def _id(user: "User") -> str:
    return ids.write("user", user.key)


def _document(user: "User") -> dict[str, Any]:
    return {"id": _id(user), "email": user.email, "createdAt": user.created_at}
