"""Commands that follow clocks until Ctrl-C: `tickover clock follow` and `tickover listen`."""

import os
import shlex
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click
from msgspec import json

from tickover.api.errors import Reason
from tickover.api.terminal import sanitize
from tickover.cli import formatting
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import ClientCommand, clock_argument
from tickover.cli.select_clock import remember_clock, resolve_clock_id

if TYPE_CHECKING:
    from tickover.client import Clock
    from tickover.client.webhooks import Webhook

SECRET_VARIABLE: Final = "TICKOVER_WEBHOOK_SECRET"  # noqa: S105 - the name isn't secret
_GONE: Final = {Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED}
_POLL_SECONDS: Final = 0.5
_RETRY_SECONDS: Final = 1
"""The delay before the first retry. It doubles with each retry."""
_FAKETIME_SECONDS: Final = 0.25
_FAKETIME_OPTIONS: Final = {"FAKETIME_FMT": "%s", "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
"""The file has Unix seconds, is read at every call, and doesn't change timeouts."""


@click.command(cls=ClientCommand)
@clock_argument
@click.option(
    "--faketime",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write the clock's time to, for libfaketime.",
)
def follow(run: CliRun, id: str | None, file: Path) -> None:
    """Ctrl-C ends it.

    The command prints the variables that make a program read the file. The time of the program moves with the clock.
    """
    with run.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(run, client, id))
        remember_clock(run, clock.id)
        _write_time(file, clock.frozen_time)
        variables = {"FAKETIME_TIMESTAMP_FILE": str(file.resolve()), **_FAKETIME_OPTIONS}
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        run.output.write(variables, f"export {exports}")
        run.output.note(f"Ready. Following {clock.id}. Press Ctrl-C to stop.")
        while True:
            time.sleep(_FAKETIME_SECONDS)
            before = clock.frozen_time
            clock.refresh()
            if clock.frozen_time != before:
                _write_time(file, clock.frozen_time)
                run.output.note(formatting.timestamp(clock.frozen_time))


def _write_time(file: Path, instant: datetime) -> None:
    """Replace the file in one step, so that no program reads half of it."""
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        new.write_text(f"{int(instant.timestamp())}\n", "ascii")
        new.replace(file)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise click.UsageError(f"Can't write '{file}': {error.strerror}.") from None


@click.command(cls=ClientCommand)
@click.option("--forward-to", "target", required=True, metavar="URL", help="URL of the webhook handler.")
@click.option(
    "--clock", "ids", multiple=True, metavar="ID", help="Clock to follow. Repeatable. [default: the one used last]"
)
@click.option(
    "--secret-file",
    type=click.File(encoding="utf-8", errors="replace"),
    metavar="FILE",
    help=f"File with the signing secret. [{SECRET_VARIABLE}, default: a new secret]",
)
@click.option(
    "--retries", type=click.IntRange(0), default=3, show_default=True, metavar="N", help="Retries of a delivery."
)
@click.option("--duplicate", is_flag=True, help="Deliver every event twice.")
@click.option("--reorder", is_flag=True, help="Deliver the events of one advance in reverse order.")
@click.option("--fail-first", is_flag=True, help="Ignore the first response to each event, and deliver it again.")
def listen(  # noqa: PLR0913 - one parameter for each option
    run: CliRun,
    target: str,
    ids: Sequence[str],
    *,
    secret_file: TextIO | None,
    retries: int,
    duplicate: bool,
    reorder: bool,
    fail_first: bool,
) -> None:
    """The events arrive in order, as they happen.

    Each request is signed as in Standard Webhooks. The time in its headers is real. The time in its payload is
    simulated. --duplicate, --reorder and --fail-first imitate the faults of networks. With --json, print each payload
    on one line. Press Ctrl-C to stop.

    Examples:

    \b
    tickover listen --forward-to localhost:3000/hook
    tickover listen --forward-to localhost:3000/hook --duplicate
    """
    from tickover.client.webhooks import Webhook, decode_secret, new_secret, parse_url

    given = secret_file.read().strip() if secret_file else os.environ.get(SECRET_VARIABLE) or None
    secret = new_secret() if given is None else given
    try:
        key = decode_secret(secret)
        parse_url(target)
    except ValueError as error:
        raise click.UsageError(formatting.sentence(error)) from None

    def send(webhook: Webhook) -> None:
        _send(run, target, webhook, key, retries, fail_first=fail_first)

    with run.signed_in_client(retries=0) as client:
        found = dict.fromkeys(resolve_clock_id(run, client, id) for id in ids or (None,))
        clocks = [client.get_clock(id) for id in found]
        forward = methodcaller("deliver", send, secret=secret, duplicate=duplicate, reorder=reorder)
        for clock in clocks:
            # Earlier events aren't forwarded.
            clock.deliver(lambda _: None, secret=secret)
        _note(f"Signing secret: {secret}" if given is None else "Signing with your secret.")
        _note(f"Ready. Forwarding events of {', '.join(found)}. Press Ctrl-C to stop.")
        while clocks:
            time.sleep(_POLL_SECONDS)
            clocks = [clock for clock in clocks if _try(run, forward, clock)]
    raise CliError(
        Exit.NOT_FOUND, "All clocks have been deleted or have expired.", "List your clocks: tickover clock list"
    )


def _note(text: str) -> None:
    """Print progress, which isn't output, even with --json."""
    click.echo(sanitize(text), err=True)


def _try(run: CliRun, forward: "Callable[[Clock], None]", clock: "Clock") -> bool:
    """Forward what is new. Return whether to follow the clock further."""
    from tickover.cli.call_errors import translate_errors

    try:
        with translate_errors(run):
            forward(clock)
    except CliError as error:
        if error.reason in _GONE:
            _note(f"{clock.id} has been deleted or has expired.")
            return False
        if error.exit != Exit.UNAVAILABLE:
            raise
        _note(f"{error.message} Retrying.")
    return True


def _send(run: CliRun, target: str, webhook: "Webhook", key: bytes, retries: int, *, fail_first: bool) -> None:
    """Post a webhook until it succeeds, and print the results. Each attempt has its own time and signature."""
    from tickover.client import Unreachable, sync_client
    from tickover.client.webhooks import post_to_url, sign

    payload = json.decode(webhook.body)
    id, what = webhook.headers["webhook-id"], f"{payload['timestamp']}  {payload['type']}"
    if run.output.wants_json:
        click.echo(webhook.body)
    for attempt in range(1 + fail_first + retries):
        if attempt > fail_first:
            time.sleep(_RETRY_SECONDS * 2 ** (attempt - 1 - fail_first))
        webhook = sign(id, webhook.body, key)
        try:
            status: int | None = sync_client.run(post_to_url(target, webhook, blocking=True)).status
        except Unreachable:
            status = None
        is_lost = fail_first and attempt == 0
        line = f"{what}  {id}  [{status or 'no response'}{', ignored' if is_lost else ''}]"
        click.echo(sanitize(line), err=run.output.wants_json)
        if status in range(200, 300) and not is_lost:
            return
    _note(f"Gave up on {id}. Continuing with the next event.")
