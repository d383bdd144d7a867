"""Groups of commands that are imported when they are used, so that help answers at once."""

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

import click


class Later(NamedTuple):
    """A command that is not imported yet."""

    target: str
    """Where it is: `module:attribute`."""
    help: str


class LazyGroup(click.Group):
    """A group that knows its commands by name and a line of help, under headings."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Mapping[str, Later]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._sections = sections
        self._later = {name: later for section in sections.values() for name, later in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._later)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        later = self._later.get(cmd_name)
        if later is None:
            return None
        module, _, attribute = later.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, section in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, later.help) for name, later in section.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing and not self.invoke_without_command:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._later and not name.startswith("-") and not ctx.resilient_parsing:
            nearest = get_close_matches(name, self._later, n=1)
            hint = f"did you mean '{nearest[0]}'?" if nearest else f"there are {', '.join(self._later)}."
            raise click.UsageError(f"There is no command '{name}'; {hint}", ctx)
        return super().resolve_command(ctx, args)
