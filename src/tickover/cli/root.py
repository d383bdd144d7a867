"""All commands by name, and how a run of one of them ends."""

import errno
import os
import sys
from pathlib import Path
from typing import Final

import click

from tickover import __version__
from tickover.cli.errors import Exit, Trouble
from tickover.cli.lazy import Later, LazyGroup
from tickover.cli.options import shared_options
from tickover.cli.output import give_up, set_streams_up, tell
from tickover.cli.session import Session

COMPLETE_VARIABLE: Final = "_TICKOVER_COMPLETE"
_UNWRITABLE: Final = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC}
"""What an open file without a name may answer when it is written to: of those a command has standard output only."""
_SETTINGS: Final = {"help_option_names": ["-h", "--help"]}


@click.group(
    cls=LazyGroup,
    context_settings=_SETTINGS,
    sections={
        "Clocks": {
            "login": Later("tickover.cli.commands.auth:login", "Sign in by e-mail."),
            "logout": Later("tickover.cli.commands.auth:logout", "Sign out."),
            "clock": Later("tickover.cli.root:clock", "Create, move and look at clocks."),
            "scenarios": Later("tickover.cli.commands.scenarios:scenarios", "List schedules to begin with."),
        },
        "The server": {
            "serve": Later("tickover.cli.commands.serve:serve", "Serve POST /rpc until Ctrl-C."),
            "migrate": Later("tickover.cli.commands.serve:migrate", "Bring the database's schema up to date."),
            "sweep": Later("tickover.cli.commands.serve:sweep", "Delete what has expired, now."),
            "copy": Later("tickover.cli.commands.serve:copy", "Copy all data from one database to another."),
        },
        "This program": {
            "completion": Later(
                "tickover.cli.commands.completion:completion", "Print what completes commands in a shell."
            ),
        },
    },
)
@click.version_option(__version__, prog_name="tickover")
@shared_options
def root() -> None:
    """Tickover: disposable simulated money on a clock that you move, and signing in by e-mail.

    \b
    tickover serve                          in one terminal, and in another:
    tickover login ana@example.test
    tickover clock create salary-and-rent --from 2027-01-01
    tickover clock advance --by 1mo
    """


@click.group(
    cls=LazyGroup,
    context_settings=_SETTINGS,
    sections={
        "Commands": {
            "create": Later(
                "tickover.cli.commands.clocks:create", "Create a clock, from a scenario or from parameters."
            ),
            "show": Later("tickover.cli.commands.clocks:show", "Show a clock as it is, or as it would be."),
            "advance": Later("tickover.cli.commands.clocks:advance", "Move a clock forward, and show what happened."),
            "fork": Later("tickover.cli.commands.clocks:fork", "Copy a clock, standing earlier or later."),
            "watch": Later("tickover.cli.commands.watch:watch", "Show a clock, and again whenever it moves."),
            "list": Later("tickover.cli.commands.list_clocks:list_", "List your clocks, newest first."),
            "delete": Later("tickover.cli.commands.list_clocks:delete", "Delete clocks."),
        }
    },
)
@shared_options
def clock() -> None:
    """Create, move and look at clocks.

    Most commands take the ID of a clock. Left out, it is the clock that was used last on that server; the last
    characters of an id, or the first, do as well where they fit one clock only.

    \b
    tickover clock create salary-and-rent --from 2027-01-01
    tickover clock advance --next
    tickover clock show --at 2027-06-01
    """


def run(arguments: list[str]) -> int:
    """Run a command; its exit code. What went wrong has been said."""
    set_streams_up()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read it had enough.
        give_up(sys.stdout)
        return Exit.DONE
    except (KeyboardInterrupt, click.Abort):
        # The terminal shows ^C in the line where it was pressed.
        click.echo(err=True, nl=sys.stderr.isatty())
        return Exit.BROKEN_OFF
    except click.ClickException as error:
        trouble = _of_click(error)
    except Trouble as error:
        trouble = error
    except OSError as error:
        if error.filename or error.errno not in _UNWRITABLE:
            raise
        give_up(sys.stdout)
        trouble = Trouble(Exit.UNEXPECTED, f"Standard output cannot be written: {error.strerror}.")
    else:
        return code
    tell(trouble, as_json="--json" in arguments)
    return trouble.exit


def _run(arguments: list[str]) -> int:
    # Bytes that are no text would travel far before they are refused, and with less to say.
    if any("\ud800" <= sign <= "\udfff" for argument in arguments for sign in argument):
        raise Trouble(Exit.WRONG_COMMAND, "What was typed is not text in UTF-8.")
    as_module = Path(sys.argv[0]).name == "__main__.py"
    name = "python -m tickover" if as_module else "tickover"
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, name, COMPLETE_VARIABLE, instruction)
    try:
        with root.make_context(name, list(arguments), obj=Session()) as context:
            root.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return Exit.DONE


def _of_click(error: click.ClickException) -> Trouble:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"See: {context.command_path} --help" if context else ""
    return Trouble(Exit.WRONG_COMMAND, " ".join(error.format_message().split()), hint)
