"""Command groups that import a command when it runs, so that help is fast."""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click


class LazyCommand(NamedTuple):
    """A command that isn't imported yet."""

    target: str
    """The command's location: `module:attribute`."""
    help: str


class LazyGroup(click.Group):
    """A group that lists its commands under headings without importing them."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Mapping[str, LazyCommand]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sections = sections
        self._lazy_commands = {name: command for section in sections.values() for name, command in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self._lazy_commands.get(cmd_name)
        if lazy is None:
            return None
        module, _, attribute = lazy.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, section in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, command.help) for name, command in section.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing and not self.invoke_without_command:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._lazy_commands and not name.startswith("-") and not ctx.resilient_parsing:
            from tickover.api.suggestions import suggest

            available = f"available commands: {', '.join(self._lazy_commands)}."
            hint = suggest(name, self._lazy_commands, "'{}'", fallback=available)
            raise click.UsageError(f"Unknown command '{name}'{hint}", ctx)
        return super().resolve_command(ctx, args)
