"""The command line: `tickover serve`."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Any

import click

from tickover import __version__
from tickover.settings import OUTBOX, SETTINGS, SettingError, Settings, read_settings

_WRONG_SETTING = 2
_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tickover")
def main() -> None:
    """Tickover: disposable simulated money on a clock that you move, and signing in by e-mail."""


def _setting_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for every setting that may stand on a command line."""
    for setting in reversed([setting for setting in SETTINGS if setting.has_flag]):
        shown = f"{setting.help} [{setting.variable}{f', default {setting.default}' if setting.default else ''}]"
        command = click.option(f"--{setting.name.replace('_', '-')}", setting.name, help=shown, metavar="VALUE")(
            command
        )
    return command


@main.command()
@_setting_flags
def serve(**flags: Any) -> None:
    """Serve POST /rpc until Ctrl-C.

    Every flag can be given as the environment variable named beside it; a flag overrides its variable. The secret key
    has no flag, because command lines can be read by other users: set TICKOVER_SECRET_KEY.
    """
    try:
        settings = read_settings(os.environ, {name: value for name, value in flags.items() if value is not None})
        _run(settings)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except SettingError as error:
        click.echo(f"tickover: {error}", err=True)
        sys.exit(_WRONG_SETTING)


def _run(settings: Settings) -> None:
    import uvloop

    from tickover.app import Tickover
    from tickover.logs import open_log

    async def serve_until_stopped() -> None:
        server = await Tickover.open(settings, open_log(settings.log_level))
        # While it serves, the server sees to these signals itself, and raises them again once it has stopped.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: server.stop())
        try:
            await server.run(when_ready=lambda: click.echo(_banner(settings, server.url)))
        finally:
            await server.close()

    # What is made here, the database above all, is for its owner alone.
    os.umask(0o077)
    # A terminal that cannot show a character shows a question mark.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_until_stopped())
    click.echo("Tickover has stopped.")


def _banner(settings: Settings, url: str) -> str:
    to_outbox = settings.mail_url == OUTBOX
    mail = f"{settings.data_dir / 'outbox'} (kept here, nothing is sent)" if to_outbox else "sent by SMTP"
    call = (
        '{"jsonrpc":"2.0","id":1,"method":"sendLoginCodeEmail","params":'
        '{"email":"you@example.test","loginCodeType":"SHORT_LIVED","emailType":"LOGIN_CODE"}}'
    )
    return f"""
  Tickover {__version__}

  RPC    {url}/rpc
  Data   {settings.database_url}
  Mail   {mail}

  Try    curl -sS {url}/rpc -H 'Content-Type: application/json' -d '{call}'

  Ctrl-C stops it.
"""
