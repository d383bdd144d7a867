"""Command groups that import a command when it runs, so that help is fast."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that lists its commands under headings without importing them.

    Each command has its location below `tickover.cli`, as `module:attribute`, and its help.
    """

    def __init__(self, *arguments: Any, sections: Mapping[str, Mapping[str, tuple[str, str]]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sections = sections
        self._locations = {name: command[0] for section in sections.values() for name, command in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._locations)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._locations:
            return None
        module, _, attribute = self._locations[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"tickover.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, section in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, help) for name, (_, help) in section.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing and not self.invoke_without_command:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._locations and not name.startswith("-") and not ctx.resilient_parsing:
            from tickover.api.suggestions import suggest

            available = f"available commands: {', '.join(self._locations)}."
            hint = suggest(name, self._locations, "'{}'", fallback=available)
            raise click.UsageError(f"Unknown command '{name}'{hint}", ctx)
        return super().resolve_command(ctx, args)
