"""The command `tickover listen`."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tickover.api import timestamps
from tickover.api.errors import Reason
from tickover.cli import formatting
from tickover.cli.errors import CliError, Exit
from tickover.cli.options import ClientCommand
from tickover.cli.select_clock import resolve_clock_id
from tickover.cli.session import Session

if TYPE_CHECKING:
    from tickover.cli.follow_events import EventFollower
    from tickover.cli.plaid_updates import PlaidUpdates
    from tickover.client import Event
    from tickover.client.webhooks import Webhook

SECRET_VARIABLE: Final = "TICKOVER_WEBHOOK_SECRET"  # noqa: S105 - the name isn't secret
_GONE: Final = {Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED}
_SECONDS: Final = click.FloatRange(min=0.05)


@click.command(cls=ClientCommand)
@click.option("--forward-to", "target", required=True, metavar="URL", help="URL of the webhook handler.")
@click.option(
    "--clock", "ids", multiple=True, metavar="ID", help="Clock to follow. Repeatable. [default: the one used last]"
)
@click.option(
    "--secret-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"File with the signing secret. [{SECRET_VARIABLE}, default: a new secret]",
)
@click.option(
    "--as",
    "provider",
    type=click.Choice(["plaid"]),
    help="Post the provider's webhooks instead: SYNC_UPDATES_AVAILABLE for each Plaid item.",
)
@click.option("--print-json", is_flag=True, help="Print each payload on one line.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="Maximum retries of a delivery.",
)
@click.option(
    "--retry-delay",
    type=_SECONDS,
    default=1,
    show_default=True,
    metavar="SECONDS",
    help="Delay before the first retry. It doubles with each retry.",
)
@click.option("--duplicate", is_flag=True, help="Deliver every event twice.")
@click.option("--reorder", is_flag=True, help="Deliver the events of one advance in reverse order.")
@click.option("--fail-first", is_flag=True, help="Ignore the first response to each event, and deliver it again.")
@click.option(
    "--every",
    type=_SECONDS,
    default=1,
    show_default=True,
    metavar="SECONDS",
    help="Interval between requests to the server.",
)
def listen(
    session: Session, /, target: str, ids: Sequence[str], secret_file: Path | None, provider: str | None, **options: Any
) -> None:
    """Deliver the events of clocks to a webhook handler, in order, as they happen.

    Each request is signed as in Standard Webhooks. The time in its headers is real. The time in its payload is
    simulated. --duplicate, --reorder and --fail-first imitate the faults of networks. Press Ctrl-C to stop.

    Examples:

    \b
    tickover listen --forward-to localhost:3000/hook
    tickover listen --forward-to localhost:3000/hook --duplicate
    tickover listen --forward-to localhost:3000/plaid --as plaid
    """
    from tickover.cli.follow_events import EventFollower
    from tickover.cli.plaid_updates import PlaidUpdates
    from tickover.client.webhooks import decode_secret, new_secret, parse_url

    given = _read_secret(secret_file)
    secret = new_secret() if given is None else given
    try:
        key = decode_secret(secret)
        parse_url(target)
    except ValueError as error:
        raise click.UsageError(formatting.sentence(error)) from None
    with session.signed_in_client(retries=0) as client:
        found = [resolve_clock_id(session, client, id) for id in ids or (None,)]
        followers = [EventFollower(client, id) for id in dict.fromkeys(found)]
        for follower in followers:
            # Skip earlier events.
            follower.new_events()
        updates = {one.id: PlaidUpdates(client, one.id) for one in followers} if provider == "plaid" else {}
        for id, update in updates.items():
            if not update.connections():
                session.output.note(f"{id} has no Plaid connection. Create one: tickover clock connect --plaid {id}")
        if not updates:
            session.output.note(f"Signing secret: {secret}" if given is None else "Signing with your secret.")
        session.output.note(
            f"Ready. Forwarding events of {', '.join(one.id for one in followers)}. Press Ctrl-C to stop."
        )
        deliveries = _Deliveries(session, target, key, **{key: options[key] for key in options if key != "every"})
        while followers:
            time.sleep(options["every"])
            followers = [one for one in followers if _forward(session, one, deliveries, updates.get(one.id))]
    raise CliError(
        Exit.NOT_FOUND, "All clocks have been deleted or have expired.", "List your clocks: tickover clock list"
    )


def _read_secret(file: Path | None) -> str | None:
    """Return the secret of the file, or else of the environment, or None."""
    if file is None:
        return os.environ.get(SECRET_VARIABLE) or None
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise click.UsageError(f"Can't read a secret from '{file}'.") from None


def _forward(
    session: Session, follower: "EventFollower", deliveries: "_Deliveries", updates: "PlaidUpdates | None"
) -> bool:
    """Deliver the new events of a clock, or updates of Plaid. Return whether to follow it further."""
    try:
        with session.translate_errors():
            events = follower.new_events()
            connections = [] if updates is None else updates.connections_to_notify(events)
    except CliError as error:
        if error.reason in _GONE:
            session.output.note(f"{follower.id} has been deleted or has expired.")
            return False
        if error.exit != Exit.UNAVAILABLE:
            raise
        session.output.note(f"{error.message} Retrying.")
        return True
    if updates is None:
        deliveries.deliver_all(follower, events)
    for connection in connections:
        deliveries.deliver_update(connection.id)
    return True


class _Deliveries:
    """Posts events, retries, and prints the results."""

    def __init__(  # noqa: PLR0913 - one parameter for each option
        self,
        session: Session,
        target: str,
        key: bytes,
        *,
        print_json: bool,
        retries: int,
        retry_delay: float,
        duplicate: bool,
        reorder: bool,
        fail_first: bool,
    ) -> None:
        self._session, self._target, self._key = session, target, key
        self._print_json, self._retries, self._retry_delay = print_json, retries, retry_delay
        self._duplicate, self._reorder, self._fail_first = duplicate, reorder, fail_first

    def deliver_all(self, follower: "EventFollower", events: "Sequence[Event]") -> None:
        for event in follower.queue.arrange(events, duplicate=self._duplicate, reorder=self._reorder):
            self._deliver_event(follower.id, event)

    def deliver_update(self, item_id: str) -> None:
        """Post SYNC_UPDATES_AVAILABLE of Plaid."""
        from tickover.cli.plaid_updates import updates_available

        self._deliver(f"SYNC_UPDATES_AVAILABLE  {item_id}", lambda: updates_available(item_id))

    def _deliver_event(self, clock_id: str, event: "Event") -> None:
        from tickover.client.webhooks import sign_event

        title = f"{timestamps.write(event.at)}  {event.type}  {event.id}"
        self._deliver(title, lambda: sign_event(clock_id, event, self._key))

    def _deliver(self, title: str, webhook: "Callable[[], Webhook]") -> None:
        """Post a request until it succeeds. Each attempt has its own signature."""
        if self._print_json:
            click.echo(webhook().body)
        for attempt in range(1 + self._fail_first + self._retries):
            if attempt > self._fail_first:
                time.sleep(self._retry_delay * 2 ** (attempt - 1 - self._fail_first))
            status = self._post(webhook())
            is_lost = self._fail_first and attempt == 0
            is_delivered = isinstance(status, int) and 200 <= status < 300 and not is_lost
            self._report(title, f"{status}, ignored" if is_lost else str(status))
            if is_delivered:
                return
        self._session.output.note(f"Gave up on {title.rsplit(maxsplit=1)[-1]}. Continuing with the next event.")

    def _post(self, webhook: "Webhook") -> int | str:
        """Return the HTTP status, or the reason why there is none."""
        from tickover.client import Unreachable
        from tickover.client.sync_client import run
        from tickover.client.webhooks import post_to_url

        try:
            return run(post_to_url(self._target, webhook, blocking=True)).status
        except Unreachable:
            return "no response"

    def _report(self, title: str, status: str) -> None:
        line = f"{title}  [{status}]"
        if self._print_json or self._session.output.wants_json:
            self._session.output.note(line)
        else:
            self._session.output.write({}, line)
