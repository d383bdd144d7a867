"""The command `tickover clock follow`."""

import os
import shlex
import time
from datetime import datetime
from pathlib import Path
from typing import Final

import click

from tickover.cli import formatting
from tickover.cli.options import ClientCommand, clock_argument
from tickover.cli.select_clock import remember_clock, resolve_clock_id
from tickover.cli.session import Session

_POLL_SECONDS: Final = 0.25
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
def follow(session: Session, id: str | None, file: Path) -> None:
    """Keep programs under libfaketime at the clock's time, until Ctrl-C.

    The command prints the variables that make a program read the file. The time of the program moves with the clock.

    Examples:

    \b
    tickover clock follow --faketime /tmp/clock-time
    """
    with session.signed_in_client() as client:
        clock = client.get_clock(resolve_clock_id(session, client, id))
        remember_clock(session, clock.id)
        _write(file, clock.frozen_time)
        variables = {"FAKETIME_TIMESTAMP_FILE": str(file.resolve()), **_FAKETIME_OPTIONS}
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        session.output.write(variables, f"export {exports}")
        session.output.note(f"Ready. Following {clock.id}. Press Ctrl-C to stop.")
        while True:
            time.sleep(_POLL_SECONDS)
            before = clock.frozen_time
            clock.refresh()
            if clock.frozen_time != before:
                _write(file, clock.frozen_time)
                session.output.note(formatting.timestamp(clock.frozen_time))


def _write(file: Path, instant: datetime) -> None:
    """Replace the file in one step, so that no program reads half of it."""
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        new.write_text(f"{int(instant.timestamp())}\n", "ascii")
        new.replace(file)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise click.UsageError(f"Can't write '{file}': {error.strerror}.") from None
