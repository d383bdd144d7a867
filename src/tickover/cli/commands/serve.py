"""The commands of an operator: `tickover serve` and `migrate`."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import click

from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import LocalCommand
from tickover.cli.output import to_json
from tickover.cli.server_database import (
    database_url_option,
    is_missing_file,
    read_server_settings,
    translate_errors,
)
from tickover.server.settings import SETTINGS, Settings


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
@click.option("--check", is_flag=True, help="Say what the server can't use, and don't start it.")
def serve(run: CliRun, /, attached: bool, check: bool, **flags: Any) -> None:
    """Every flag has an environment variable, shown in brackets. A flag overrides its variable. The secret key has no
    flag because other users can read command lines: set TICKOVER_SECRET_KEY.
    """
    if check:
        with translate_errors():
            _check(run, read_server_settings(run, flags))
        return
    is_for_program = attached or run.output.wants_json
    stdout = sys.stdout
    if is_for_program:
        # Standard output carries the JSON line only. Emails and the last message go to standard error.
        sys.stdout = sys.stderr

    with translate_errors():
        settings = read_server_settings(run, flags)
        from tickover.cli.run_server import banner, run_server, stop_when_input_ends

        def when_ready(url: str) -> None:
            click.echo(to_json({"url": url}) if is_for_program else banner(settings, url), file=stdout)
            if attached:
                stop_when_input_ends()

        code = run_server(settings, when_ready)
    if code == 0:
        click.echo("Tickover has stopped.")
    sys.exit(code)


def _check(run: CliRun, settings: Settings) -> None:
    from tickover.server.logs import open_log
    from tickover.server.startup_check import find_problems

    problems = asyncio.run(find_problems(settings, open_log(settings.log_level, settings.log_format)))
    if problems:
        raise CliError(Exit.WRONG_COMMAND, problems[0], more=problems[1:])
    run.output.write({"ok": True}, "The server can start.")


@click.command(cls=LocalCommand)
@database_url_option
def migrate(run: CliRun, /, **flags: Any) -> None:
    """`tickover serve` does this at every start, and several servers can start at once. Run this command to migrate
    before you start them.
    """
    with translate_errors():
        from tickover.server.storage import open_store, schema_version
        from tickover.server.storage.urls import redact_url

        async def migrate_database(url: str) -> None:
            store = await open_store(url, 1)
            await store.close()

        url = read_server_settings(run, flags).database_url
        is_new = is_missing_file(url)
        asyncio.run(migrate_database(url))
        name, version = redact_url(url), schema_version(url)
    text = f"Created the database {name}" if is_new else f"The database {name} is up to date"
    run.output.write({"database": name, "schemaVersion": version}, f"{text}: schema version {version}.")
