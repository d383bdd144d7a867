"""The root command: all commands by name, and error handling."""

import errno
import importlib
import os
import sys
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, Final

import click

from tickover import __version__
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.options import JSON, URL, LocalCommand
from tickover.cli.output import configure_streams, discard_output, report_error

_COMPLETE_VARIABLE: Final = "_TICKOVER_COMPLETE"
_WRITE_ERRORS: Final = {errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC}
"""Errors of writing to an open file. Without a file name, the file is standard output."""


class LazyGroup(click.Group):
    """A group that imports a command when it runs, so that help is fast.

    Each command has its location below `tickover.cli`, as `module:attribute`, and the first sentence of its help. The
    docstring of its function has the rest.
    """

    def __init__(self, name: str, *, lazy: Mapping[str, tuple[str, str]], **attributes: Any) -> None:
        listed = {command: click.Command(command, short_help=help) for command, (_, help) in lazy.items()}
        super().__init__(name, commands=listed, **attributes)
        self._locations = {command: location for command, (location, _) in lazy.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._locations)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        if name is None or listed is None:
            return name, listed, rest
        module, _, attribute = self._locations[name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"tickover.cli.{module}"), attribute)
        if command.short_help is None:
            command.short_help = listed.short_help
            command.help = f"{listed.short_help}\n\n{cleandoc(command.help or '')}"
        return name, command, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[URL, JSON],
    lazy={
        "login": ("commands.auth:login", "Sign in by email."),
        "logout": ("commands.auth:logout", "Sign out."),
        "clock": ("root:clock", "Create, advance and inspect clocks."),
        "scenarios": ("root:scenarios", "List ready-made scenarios."),
        "token": ("root:token", "Create, list and revoke access tokens for programs."),
        "listen": ("commands.follow:listen", "Deliver events to a webhook handler."),
        "mcp": ("commands.mcp:mcp", "Let coding agents use clocks."),
        "serve": ("commands.serve:serve", "Run the server until Ctrl-C."),
        "migrate": ("commands.serve:migrate", "Migrate the database to the current schema."),
        "bank": ("root:bank", "Let apps reach the bank under the names of real banks."),
        "users": ("root:users", "List, show and delete users in the database."),
        "completion": ("root:completion", "Print a shell completion script."),
    },
)
@click.version_option(__version__, prog_name="tickover")
def root() -> None:
    """Tickover: simulated money on test clocks that you control.

    Run `tickover serve` in one terminal. Then, in another:

    \b
    tickover login ana@example.test
    tickover clock create salary-and-rent --from 2027-01-01
    tickover clock advance --by 1mo
    """


@click.group(
    cls=LazyGroup,
    params=[URL, JSON],
    lazy={
        "create": ("commands.clock_commands:create", "Create a clock from a scenario or from parameters."),
        "show": ("commands.clock_commands:show", "Show a clock, or preview it at a later time."),
        "advance": ("commands.clock_commands:advance", "Move a clock forward and show what happened."),
        "add": ("commands.clock_commands:add", "Add items to a clock."),
        "cancel": ("commands.clock_commands:cancel", "Cancel items that haven't happened yet."),
        "balance": ("commands.money_commands:balance", "Show balances, and their lowest points up to a time."),
        "events": ("commands.money_commands:events", "List what happened, or follow it."),
        "follow": ("commands.follow:follow", "Keep programs under libfaketime at a clock's time."),
        "connect": ("commands.bank_commands:connect", "Let an app read a clock as if it were a bank."),
        "connections": ("commands.bank_commands:connections", "List the apps that read a clock."),
        "update-connection": ("commands.bank_commands:update_connection", "Change how the bank of an app behaves."),
        "calls": ("commands.bank_commands:calls", "List what an app asked the bank."),
        "disconnect": ("commands.bank_commands:disconnect", "End the connection of an app."),
        "export": ("commands.money_commands:export", "Write statements for other programs."),
        "check": ("commands.money_commands:check", "Check expectations about balances and goals."),
        "reconcile": (
            "commands.bank_commands:reconcile",
            "Compare what an app recorded with a clock.",
        ),
        "fork": ("commands.clock_commands:fork", "Copy a clock at its start or at another time."),
        "rename": ("commands.clock_commands:rename", "Set the name of a clock."),
        "list": ("commands.list_clocks:list_", "List your clocks, newest first."),
        "delete": ("commands.list_clocks:delete", "Delete clocks permanently."),
    },
)
def clock() -> None:
    """Most commands take the ID or the name of a clock. The default is the clock that you used last on that server. The
    first or last characters of an ID are enough if they match only one clock.
    """


@click.group(
    cls=LazyGroup,
    params=[URL, JSON],
    invoke_without_command=True,
    subcommand_metavar="[show NAME | from FILE]",
    lazy={
        "show": ("commands.scenario_commands:show", "Print a scenario's file, or its transactions and transfers."),
        "from": ("commands.scenarios_from:from_", "Write a scenario from a bank statement or a clock."),
    },
)
@click.pass_context
def scenarios(context: click.Context) -> None:
    """A scenario is a ready-made schedule for a clock.

    Examples:

    \b
    tickover scenarios
    tickover scenarios show salary-and-rent > mine.toml
    tickover clock create mine.toml
    """
    if context.invoked_subcommand is None:
        from tickover.cli.commands.scenario_commands import list_scenarios

        list_scenarios(context.ensure_object(CliRun))


@click.group(
    cls=LazyGroup,
    params=[URL, JSON],
    lazy={
        "create": ("commands.auth:create_token", "Create an access token for a program, and print it once."),
        "list": ("commands.auth:list_tokens", "List your access tokens."),
        "revoke": ("commands.auth:revoke_token", "Revoke an access token."),
    },
)
def token() -> None:
    """Set TICKOVER_TOKEN to a token, for example in a CI job. It works until it expires or is revoked, without any
    sign-in. Operators can create tokens for other users on the server's machine.
    """


@click.group(
    cls=LazyGroup,
    params=[JSON],
    lazy={"env": ("commands.bank_env:env", "Print what lets an unmodified app reach the bank.")},
)
def bank() -> None:
    """Let apps reach the bank under the names of real banks.

    The server listens for them if TICKOVER_BANK_HTTPS is set.
    """


@click.group(
    cls=LazyGroup,
    params=[JSON],
    lazy={
        "list": ("commands.user_commands:list_", "List users, newest first."),
        "show": ("commands.user_commands:show", "Show what a user has."),
        "revoke-sessions": ("commands.user_commands:revoke_sessions", "Sign a user out everywhere."),
        "delete": ("commands.user_commands:delete", "Delete a user and all of the user's data."),
    },
)
def users() -> None:
    """Run these commands on the server's machine with the server's settings. The server can keep running."""


@click.command(cls=LocalCommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(run: CliRun, shell: str) -> None:
    """The script completes commands, options and scenario names.

    To load it in every new shell, add the line to the file:

    \b
    bash   eval "$(tickover completion bash)"     ~/.bashrc
    zsh    eval "$(tickover completion zsh)"      ~/.zshrc, after compinit
    fish   tickover completion fish | source      ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None, "click supports all three shells"
    script = completion_class(root, {}, "tickover", _COMPLETE_VARIABLE).source()
    run.output.write({"shell": shell, "script": script}, *script.split("\n"))


def run(arguments: list[str]) -> int:
    """Run a command, report its error, and return its exit code."""
    configure_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as head does.
        discard_output(sys.stdout)
        return Exit.DONE
    except (KeyboardInterrupt, click.Abort):
        # A terminal shows ^C on the current line, so end that line.
        click.echo(err=True, nl=sys.stderr.isatty())
        return Exit.INTERRUPTED
    except click.ClickException as usage_error:
        error = _from_click(usage_error)
    except CliError as cli_error:
        error = cli_error
    except OSError as os_error:
        if os_error.filename or os_error.errno not in _WRITE_ERRORS:
            raise
        discard_output(sys.stdout)
        error = CliError(Exit.UNEXPECTED, f"Can't write to standard output: {os_error.strerror}.")
    else:
        return code
    report_error(error, as_json="--json" in arguments)
    return error.exit


def _run(arguments: list[str]) -> int:
    # Python decodes invalid bytes to surrogates. Later checks would report them less clearly.
    if any("\ud800" <= character <= "\udfff" for argument in arguments for character in argument):
        raise CliError(Exit.WRONG_COMMAND, "The arguments aren't valid UTF-8.")
    instruction = os.environ.get(_COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "tickover", _COMPLETE_VARIABLE, instruction)
    try:
        with root.make_context("tickover", list(arguments), obj=CliRun()) as context:
            root.invoke(context)
    except click.exceptions.Exit as exit:
        return exit.exit_code
    return Exit.DONE


def _from_click(error: click.ClickException) -> CliError:
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"See: {context.command_path} --help" if context else ""
    return CliError(Exit.WRONG_COMMAND, " ".join(error.format_message().split()), hint)
