"""The server's own commands: serving, and what an operator does with a database."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import click

from tickover import __version__
from tickover.cli.errors import Exit, Trouble
from tickover.cli.options import output_options
from tickover.cli.output import written
from tickover.cli.session import DEFAULT_URL, Session, pass_session
from tickover.core.errors import Rejection
from tickover.settings import OUTBOX, SETTINGS, SettingError, Settings, read_settings

_STDIN: Final = 0


def _setting_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for every setting that may stand on a command line."""
    for setting in reversed([setting for setting in SETTINGS if setting.has_flag]):
        shown = f"{setting.help} [{setting.variable}{f', default {setting.default}' if setting.default else ''}]"
        command = click.option(f"--{setting.name.replace('_', '-')}", setting.name, help=shown, metavar="VALUE")(
            command
        )
    return command


@click.command()
@_setting_flags
@click.option(
    "--attached",
    is_flag=True,
    help='For a program that starts it: say {"url": …} in one line when ready, and stop when standard input ends.',
)
@output_options
@pass_session
def serve(session: Session, /, attached: bool, **flags: Any) -> None:
    """Serve POST /rpc until Ctrl-C.

    Every flag can be given as the environment variable named beside it; a flag overrides its variable. The secret key
    has no flag, because command lines can be read by other users: set TICKOVER_SECRET_KEY.
    """

    for_a_program = attached or session.output.wants_json
    stdout = sys.stdout
    if for_a_program:
        # The letters of the outbox and the last word are for people, and one line was promised.
        sys.stdout = sys.stderr

    def when_ready(url: str) -> None:
        click.echo(written({"url": url}) if for_a_program else _banner(settings, url), file=stdout)
        if attached:
            threading.Thread(target=_stop_when_input_ends, daemon=True).start()

    with _telling_what_is_wrong():
        settings = _settings(flags)
        serve_so = _serve_with_workers if settings.workers > 1 else _serve
        code = serve_so(settings, when_ready)
    if code == 0:
        click.echo("Tickover has stopped.")
    sys.exit(code)


_database_url = click.option(
    "--database-url", metavar="URL", help="Database, as for `tickover serve`. [TICKOVER_DATABASE_URL]"
)


@click.command()
@_database_url
@output_options
@pass_session
def migrate(session: Session, /, **flags: Any) -> None:
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
    session.output.say({"database": shown(url)}, f"The database {shown(url)} is up to date.")


@click.command()
@_database_url
@output_options
@pass_session
def sweep(session: Session, /, **flags: Any) -> None:
    """Delete what has expired, now.

    Every server does this once a minute by itself. This is for a database that no server uses just now.
    """
    with _telling_what_is_wrong():
        from tickover.app import sweep_all

        swept = asyncio.run(sweep_all(_settings(flags).database_url))
    session.output.say({"swept": swept}, "What had expired is deleted." if swept else "Nothing had expired.")


@click.command()
@click.argument("source_url")
@click.argument("target_url")
@output_options
@pass_session
def copy(session: Session, source_url: str, target_url: str) -> None:
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
    lines = [
        f"{table.table:16} {table.rows:>10} rows, {table.written:>10} written   sha256 {table.checksum[:16]}"
        for table in copied
    ]
    tables = [
        {"table": table.table, "rows": table.rows, "written": table.written, "sha256": table.checksum}
        for table in copied
    ]
    session.output.say({"equal": True, "tables": tables}, *lines, "Both sides are equal.")


@contextmanager
def _telling_what_is_wrong() -> Iterator[None]:
    """Have what a person can mend told in one sentence, and not as a traceback."""
    # What is made here, the database above all, is for its owner alone.
    os.umask(0o077)
    try:
        yield
    except (SettingError, Rejection) as error:
        raise Trouble(Exit.WRONG_COMMAND, str(error)) from None
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "tickover":
            raise
        raise Trouble(
            Exit.WRONG_COMMAND, "The server is not installed here; install it with: pip install 'tickover[server]'"
        ) from None


def _settings(flags: dict[str, Any]) -> Settings:
    return read_settings(os.environ, {name: value for name, value in flags.items() if value is not None})


def _serve(settings: Settings, when_ready: Callable[[str], None]) -> int:
    return _serve_until_stopped(settings, when_ready)


def _serve_with_workers(settings: Settings, when_ready: Callable[[str], None]) -> int:
    from tickover.logs import open_log
    from tickover.workers import run_workers

    def work(own_settings: Settings, tell: Callable[[], None], until: int) -> int:
        return _serve_until_stopped(own_settings, lambda _: tell(), until)

    return run_workers(settings, open_log(settings.log_level), work, when_ready)


def _serve_until_stopped(settings: Settings, when_ready: Callable[[str], None], until: int | None = None) -> int:
    """Serve until a signal, or until the pipe `until` ends."""
    import uvloop

    from tickover.app import Tickover
    from tickover.logs import open_log

    async def serve_until_stopped() -> None:
        server = await Tickover.open(settings, open_log(settings.log_level))
        loop = asyncio.get_running_loop()

        def stop(*_: object) -> None:
            # After the end of the loop there is nothing left to stop.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(server.stop)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
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


def _stop_when_input_ends() -> None:
    # In a thread, because an event loop cannot wait for every kind of file. Whatever cannot be read has ended.
    with suppress(OSError):
        while os.read(_STDIN, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)


def _banner(settings: Settings, url: str) -> str:
    from tickover.storage import shown

    to_outbox = settings.mail_url == OUTBOX
    mail = f"{url}/#/mailbox (kept in {settings.data_dir / 'outbox'}, never sent)" if to_outbox else "sent by SMTP"
    elsewhere = "" if url == DEFAULT_URL else f" --url {url}"
    return f"""
  Tickover {__version__}

  Console  {url}/
  RPC      {url}/rpc
  Docs     {url}/docs
  Data     {shown(settings.database_url)}
  Mail     {mail}

  Try      tickover login you@example.test{elsewhere}

  Ctrl-C stops it.
"""
