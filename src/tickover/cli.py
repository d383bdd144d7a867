"""The command line: `tickover serve`, and what an operator does with a database."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

import click

from tickover import __version__
from tickover.core.errors import Rejection
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
    with _telling_what_is_wrong():
        settings = _settings(flags)
        code = _serve_with_workers(settings) if settings.workers > 1 else _serve(settings)
    if code == 0:
        click.echo("Tickover has stopped.")
    sys.exit(code)


_database_url = click.option(
    "--database-url", metavar="URL", help="Database, as for `tickover serve`. [TICKOVER_DATABASE_URL]"
)


@main.command()
@_database_url
def migrate(**flags: Any) -> None:
    """Bring the database's schema up to date.

    `tickover serve` does this at every start, and any number of servers may. This is for those who want it done before.
    """

    async def bring_up_to_date(url: str) -> None:
        store = await open_store(url, 1)
        await store.close()

    with _telling_what_is_wrong():
        from tickover.storage import open_store, shown

        url = _settings(flags).database_url
        asyncio.run(bring_up_to_date(url))
        click.echo(f"The database {shown(url)} is up to date.")


@main.command()
@_database_url
def sweep(**flags: Any) -> None:
    """Delete what has expired, now.

    Every server does this once a minute by itself. This is for a database that no server uses just now.
    """
    with _telling_what_is_wrong():
        from tickover.app import sweep_all

        swept = asyncio.run(sweep_all(_settings(flags).database_url))
        click.echo("What had expired is deleted." if swept else "Nothing had expired.")


@main.command()
@click.argument("source_url")
@click.argument("target_url")
def copy(source_url: str, target_url: str) -> None:
    """Copy all data from one database to another.

    SOURCE_URL and TARGET_URL are as for TICKOVER_DATABASE_URL. Stop the servers that use them before. If it is broken
    off, run it again and it goes on where it was. At the end all is read again on both sides and compared.
    """
    with _telling_what_is_wrong():
        from tickover.storage.copying import copy as copy_all

        with click.progressbar(length=0, file=sys.stderr, width=30, show_pos=True) as bar:

            def report(doing: str, done: int, steps: int) -> None:
                bar.length, bar.label = steps, f"{doing:24}"
                bar.update(done - bar.pos)

            try:
                copied = asyncio.run(copy_all(source_url, target_url, report))
            except KeyboardInterrupt:
                click.echo("\nBroken off. What was copied stays; run it again, and it goes on.", err=True)
                raise
    for table in copied:
        click.echo(
            f"{table.table:16} {table.rows:>10} rows, {table.written:>10} written   sha256 {table.checksum[:16]}"
        )
    click.echo("Both sides are equal.")


@contextmanager
def _telling_what_is_wrong() -> Iterator[None]:
    """Have what a person can mend told in one sentence, and not as a traceback."""
    _set_process_up()
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except (SettingError, Rejection) as error:
        click.echo(f"tickover: {error}", err=True)
        sys.exit(_WRONG_SETTING)


def _set_process_up() -> None:
    # What is made here, the database above all, is for its owner alone.
    os.umask(0o077)
    # A terminal that cannot show a character shows a question mark.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _settings(flags: dict[str, Any]) -> Settings:
    return read_settings(os.environ, {name: value for name, value in flags.items() if value is not None})


def _serve(settings: Settings) -> int:
    return _serve_until_stopped(settings, lambda url: click.echo(_banner(settings, url)))


def _serve_with_workers(settings: Settings) -> int:
    from tickover.logs import open_log
    from tickover.workers import run_workers

    def work(own_settings: Settings, tell: Callable[[], None], until: int) -> int:
        return _serve_until_stopped(own_settings, lambda _: tell(), until)

    log = open_log(settings.log_level)
    return run_workers(settings, log, work, lambda url: click.echo(_banner(settings, url)))


def _serve_until_stopped(settings: Settings, when_ready: Callable[[str], None], until: int | None = None) -> int:
    """Serve until a signal, or until the pipe `until` ends."""
    import uvloop

    from tickover.app import Tickover
    from tickover.logs import open_log

    async def serve_until_stopped() -> None:
        server = await Tickover.open(settings, open_log(settings.log_level))
        # While it serves, the server sees to these signals itself, and raises them again once it has stopped.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: server.stop())
        if until is not None:
            _call_when_ended(until, server.stop)
        try:
            await server.run(when_ready=lambda: when_ready(server.url))
        finally:
            await server.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_until_stopped())
    return 0


def _call_when_ended(pipe: int, stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        # An end can be read again and again.
        loop.remove_reader(pipe)
        stop()

    loop.add_reader(pipe, end)


def _banner(settings: Settings, url: str) -> str:
    from tickover.storage import shown

    to_outbox = settings.mail_url == OUTBOX
    mail = f"{settings.data_dir / 'outbox'} (kept here, nothing is sent)" if to_outbox else "sent by SMTP"
    call = (
        '{"jsonrpc":"2.0","id":1,"method":"sendLoginCodeEmail","params":'
        '{"email":"you@example.test","loginCodeType":"SHORT_LIVED","emailType":"LOGIN_CODE"}}'
    )
    return f"""
  Tickover {__version__}

  RPC    {url}/rpc
  Data   {shown(settings.database_url)}
  Mail   {mail}

  Try    curl -sS {url}/rpc -H 'Content-Type: application/json' -d '{call}'

  Ctrl-C stops it.
"""
