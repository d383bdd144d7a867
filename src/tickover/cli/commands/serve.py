"""The commands of an operator: `tickover serve`, `migrate` and `doctor`."""

import asyncio
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from tickover.cli.database import (
    database_url_option,
    is_missing_file,
    read_server_settings,
    translate_errors,
)
from tickover.cli.errors import Exit
from tickover.cli.options import LocalCommand
from tickover.cli.output import to_json
from tickover.cli.session import Session
from tickover.server.settings import SETTINGS

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def setting_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Add a flag for every setting that has one."""
    for setting in reversed([setting for setting in SETTINGS if setting.has_flag]):
        default = f", default {setting.default}" if setting.default else ""
        help = f"{setting.help} [{setting.variable}{default}]"
        flag = f"--{setting.name.replace('_', '-')}"
        command = click.option(flag, setting.name, help=help, metavar="VALUE")(command)
    return command


@click.command(cls=LocalCommand)
@setting_flags
@click.option(
    "--attached",
    is_flag=True,
    help='For programs: print {"url": …} on one line when ready, and stop when standard input ends.',
)
def serve(session: Session, /, attached: bool, **flags: Any) -> None:
    """Run the server until Ctrl-C.

    Every flag has an environment variable, shown in brackets. A flag overrides its variable. The secret key has no
    flag because other users can read command lines: set TICKOVER_SECRET_KEY.
    """
    is_for_program = attached or session.output.wants_json
    stdout = sys.stdout
    if is_for_program:
        # Standard output carries the JSON line only. Emails and the last message go to standard error.
        sys.stdout = sys.stderr

    with translate_errors():
        settings = read_server_settings(session, flags)
        from tickover.cli.run_server import banner, run_server, stop_when_input_ends

        def when_ready(url: str) -> None:
            click.echo(to_json({"url": url}) if is_for_program else banner(settings, url), file=stdout)
            if attached:
                stop_when_input_ends()

        code = run_server(settings, when_ready)
    if code == 0:
        click.echo("Tickover has stopped.")
    sys.exit(code)


@click.command(cls=LocalCommand)
@database_url_option
def migrate(session: Session, /, **flags: Any) -> None:
    """Migrate the database to the current schema.

    `tickover serve` does this at every start, and several servers can start at once. Run this command to migrate
    before you start them.
    """
    with translate_errors():
        from tickover.server.storage import open_store, schema_version
        from tickover.server.storage.urls import redact_url

        async def migrate_database(url: str) -> None:
            store = await open_store(url, 1)
            await store.close()

        url = read_server_settings(session, flags).database_url
        is_new = is_missing_file(url)
        asyncio.run(migrate_database(url))
        name, version = redact_url(url), schema_version(url)
    text = f"Created the database {name}" if is_new else f"The database {name} is up to date"
    session.output.write({"database": name, "schemaVersion": version}, f"{text}: schema version {version}.")


@click.command(cls=LocalCommand)
@setting_flags
def doctor(session: Session, /, **flags: Any) -> None:
    """Check everything that the server needs, and say how to fix problems.

    Run it with the same settings and as the same user as the server, while the server runs or before it starts. It
    checks the settings, database, schema, disk, mail server, clock, public URL, proxies and permissions. It sends no
    email and changes no data.

    The exit code is 0 if there are only warnings, and 9 if there is an error.
    """
    with translate_errors():
        from tickover.server.doctor import run_checks

        found = []

        async def report() -> None:
            async for name, check in run_checks(partial(read_server_settings, session, flags), os.environ):
                found.append({"name": name, **check._asdict()})
                if not session.output.wants_json:
                    advice = [f"  {'':13} {check.advice}"] if check.advice else []
                    session.output.write(None, f"{_MARKS[check.status]} {name:13} {check.message}", *advice)

        asyncio.run(report())
        has_error = any(check["status"] == "error" for check in found)
    if session.output.wants_json:
        session.output.write_json({"ok": not has_error, "checks": found})
    click.get_current_context().exit(Exit.VIOLATED if has_error else Exit.DONE)
