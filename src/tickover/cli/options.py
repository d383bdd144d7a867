"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tickover.cli.session import DEFAULT_URL, Session

F = TypeVar("F", bound=Callable[..., Any])


def output_options(command: F) -> F:
    """Add --json and --no-color to a command."""
    command = _shared_option("--no-color", is_flag=True, help="Disable colours. [NO_COLOR]", apply=_set_no_color)(
        command
    )
    return _shared_option("--json", is_flag=True, help="Print JSON.", apply=_set_json)(command)


def shared_options(command: F) -> F:
    """Add --url, --json and --no-color to a command."""
    help = f"Server address. [TICKOVER_URL, default: the server of the last sign-in, or {DEFAULT_URL}]"
    return _shared_option("--url", metavar="URL", help=help, apply=_set_url)(output_options(command))


def _shared_option(name: str, *, apply: Callable[[Session, Any], None], **settings: Any) -> Callable[[F], F]:
    def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        # A group before the command may have set the option already.
        if value:
            apply(ctx.ensure_object(Session), value)

    return click.option(name, expose_value=False, callback=callback, **settings)


def _set_json(session: Session, _: bool) -> None:
    session.output.wants_json = True


def _set_no_color(session: Session, _: bool) -> None:
    session.output.wants_no_color = True


def _set_url(session: Session, url: str) -> None:
    session.url_option = url
