"""Runs the server in this process, or in several worker processes."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import uvloop

from tickover import __version__
from tickover.cli.cli_run import DEFAULT_URL
from tickover.server.app import TickoverServer
from tickover.server.logs import open_log
from tickover.server.metrics.numbers import Recorder
from tickover.server.settings import OUTBOX, Settings
from tickover.server.storage.urls import redact_url
from tickover.server.workers import handle_hangup, run_workers

_STDIN: Final = 0


def run_server(settings: Settings, when_ready: Callable[[str], None]) -> int:
    """Serve until a signal arrives. Return the exit code."""
    if settings.workers > 1:
        return run_workers(settings, open_log(settings.log_level, settings.log_format), _run_worker, when_ready)
    return _run(settings, when_ready)


def _run_worker(settings: Settings, recorder: Recorder, when_ready: Callable[[], None], stop_pipe: int) -> int:
    return _run(settings, lambda _: when_ready(), recorder, stop_pipe)


def _run(
    settings: Settings,
    when_ready: Callable[[str], None],
    recorder: Recorder | None = None,
    stop_pipe: int | None = None,
) -> int:
    """Serve until a signal arrives or until `stop_pipe` closes."""

    async def serve() -> None:
        server = await TickoverServer.open(settings, open_log(settings.log_level, settings.log_format), recorder)
        loop = asyncio.get_running_loop()

        def stop(number: int, *_: object) -> None:
            # A signal after the loop has closed has nothing to stop.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(partial(server.stop, at_once=number == signal.SIGINT))

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        if stop_pipe is None:
            handle_hangup(lambda: stop(signal.SIGINT))
        else:
            _call_when_closed(stop_pipe, server.stop)
        try:
            await server.run(when_ready=lambda: when_ready(server.url))
        finally:
            await server.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())
    return 0


def _call_when_closed(pipe: int, stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def on_readable() -> None:
        # A closed pipe stays readable.
        loop.remove_reader(pipe)
        stop()

    loop.add_reader(pipe, on_readable)


def stop_when_input_ends() -> None:
    """Stop this process when its standard input ends."""

    def wait() -> None:
        # Input that can't be read counts as ended.
        with suppress(OSError):
            while os.read(_STDIN, 4096):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    # A thread, because an event loop can't wait for every kind of file.
    threading.Thread(target=wait, daemon=True).start()


def banner(settings: Settings, address: str) -> str:
    """Return the text that a started server prints. `address` is what it listens on."""
    url = settings.public_url or address
    listens = "" if url == address else f"  Listens  {address}\n"
    to_outbox = settings.mail_url == OUTBOX
    mail = f"{url}/#/mailbox (stored in {settings.data_dir / 'outbox'}, not sent)" if to_outbox else "sent by SMTP"
    url_option = "" if url == DEFAULT_URL else f" --url {url}"
    return f"""
  Tickover {__version__}

  Console  {url}/
  RPC      {url}/rpc
  Docs     {url}/docs
{listens}  Data     {redact_url(settings.database_url)}
  Mail     {mail}

  Try      tickover login you@example.test{url_option}

  Press Ctrl-C to stop.
"""
