"""Options that several commands take, and the kinds of values that they read."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from tickover.cli.session import Session
from tickover.core import moments
from tickover.spans import EXPECTED as SPAN_EXPECTED
from tickover.spans import Duration
from tickover.spans import parse as parse_span

F = TypeVar("F", bound=Callable[..., Any])

_WITHOUT_OFFSET: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?", re.ASCII)


def moment(text: str) -> datetime:
    """A time of a clock as people write it; in UTC where they do not say otherwise."""
    try:
        if _WITHOUT_OFFSET.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        return moments.parse(text)
    except ValueError:
        raise click.BadParameter(
            f"'{text}' is no time; write 2027-01-31, '2027-01-31 09:00' or 2027-01-31T09:00:00+01:00."
        ) from None


def span(text: str) -> Duration:
    """An amount of time as people write it."""
    try:
        amount = parse_span(text)
    except ValueError:
        raise click.BadParameter(f"'{text}' is no span; it {SPAN_EXPECTED}.") from None
    if amount.is_zero:
        raise click.BadParameter(f"'{text}' would not move the clock.")
    return amount


def names_and_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What completes a scenario: a file, or the name of one that comes with Tickover."""
    from tickover.scenarios import names

    # Files come first, because bash forgets what came before them; and zsh leaves out what is empty.
    file = CompletionItem(incomplete or "./", type="file")
    return [file, *(CompletionItem(name) for name in names() if name.startswith(incomplete))]


def output_options(command: F) -> F:
    """Have a command take --json and --no-color, beside what was given before it."""
    command = _shared("--no-color", is_flag=True, help="No colours. [NO_COLOR]", keep=_keep_no_color)(command)
    return _shared("--json", is_flag=True, help="JSON for programs instead of text for people.", keep=_keep_json)(
        command
    )


def shared_options(command: F) -> F:
    """Have a command take --url too."""
    help = "The server. [TICKOVER_URL, default http://127.0.0.1:8000]"
    return _shared("--url", metavar="URL", help=help, keep=_keep_url)(output_options(command))


def _shared(name: str, *, keep: Callable[[Session, Any], None], **more: Any) -> Callable[[F], F]:
    def remember(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        # What is left out here may have been given to a group before.
        if value:
            keep(ctx.ensure_object(Session), value)

    return click.option(name, expose_value=False, callback=remember, **more)


def _keep_json(session: Session, _: bool) -> None:
    session.output.wants_json = True


def _keep_no_color(session: Session, _: bool) -> None:
    session.output.wants_no_color = True


def _keep_url(session: Session, url: str) -> None:
    session.chosen_url = url
