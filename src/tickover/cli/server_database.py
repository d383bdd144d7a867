"""Settings and database access for commands that need no running server."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from tickover.api.access_tokens import CreatedAccessToken
from tickover.api.errors import Rejection
from tickover.api.limits import MAX_TOKEN_NAME
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.server.settings import SETTINGS, SettingError, Settings, has_password, read_settings

database_url_option = click.option(
    "--database-url", metavar="URL", help="Database, as for `tickover serve`. [TICKOVER_DATABASE_URL]"
)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise a `CliError` for errors that an operator can fix."""
    # Only the owner may read the files that these commands create.
    os.umask(0o077)
    try:
        yield
    except (SettingError, Rejection) as error:
        raise CliError(Exit.WRONG_COMMAND, str(error)) from None
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "tickover":
            raise
        raise CliError(
            Exit.WRONG_COMMAND, "The server isn't installed.", "Install it from a checkout: pip install 'PATH[server]'"
        ) from None


def read_server_settings(run: CliRun, flags: Mapping[str, Any]) -> Settings:
    """Return the server's settings from flags and the environment. Warn of passwords in flags."""
    given = {name: value for name, value in flags.items() if value is not None}
    for setting in SETTINGS:
        if setting.may_hold_a_secret and setting.name in given:
            flag = f"--{setting.name.replace('_', '-')}"
            advice = f"Set {setting.variable} or {setting.file_variable} instead."
            warn_of_passwords(run, {flag: given[setting.name]}, advice)
    return read_settings(os.environ, given)


def warn_of_passwords(run: CliRun, arguments: Mapping[str, str], advice: str) -> None:
    """Warn of passwords in these arguments of the command."""
    for name, url in arguments.items():
        if has_password(url):
            run.output.note(f"Warning: other users of this machine can read the password in {name}. {advice}")


def is_missing_file(url: str) -> bool:
    """Return whether the URL names a SQLite file that doesn't exist."""
    scheme, _, path = url.partition(":///")
    return scheme == "sqlite" and not Path(path).exists()


def check_database_exists(url: str) -> None:
    """Raise a `CliError` if the URL names a SQLite file that doesn't exist."""
    if is_missing_file(url):
        raise CliError(Exit.WRONG_COMMAND, f"The database {url} doesn't exist.", "Pass --database-url URL.")


async def create_access_token(
    url: str, email: str, name: str, days: int, read_only: bool, now: datetime
) -> CreatedAccessToken:
    """Create an access token of a user, and the user if there is none."""
    from tickover.server.operations.create_access_token import CreateAccessTokenEntry, create
    from tickover.server.sign_in.email_addresses import EmailAddress
    from tickover.server.sign_in.tokens import Mint
    from tickover.server.storage import open_store

    try:
        address = EmailAddress.parse(email)
    except ValueError:
        raise CliError(Exit.WRONG_COMMAND, f"'{email}' isn't an email address.") from None
    if not 1 <= len(name) <= MAX_TOKEN_NAME:
        raise CliError(Exit.WRONG_COMMAND, f"The name must have 1 to {MAX_TOKEN_NAME} characters.")
    # Access tokens are random, so they need no secret key.
    mint = Mint(secret_key=b"")
    check_database_exists(url)
    store = await open_store(url, 1)
    try:
        user = await store.find_or_create_user(address, mint.new_key(now), now)
        params = CreateAccessTokenEntry(name=name, expires_in_days=days, read_only=read_only)
        return await create(params, user, now, store, mint)
    finally:
        await store.close()
