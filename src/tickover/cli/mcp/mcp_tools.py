"""The tools: what an agent can do with clocks."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any, Final

from mcp.server.mcpserver.exceptions import ToolError
from msgspec import json
from pydantic import Field

from tickover.api.command_arguments import to_instant
from tickover.api.connections import BankProtocol
from tickover.cli.call_errors import translate_errors
from tickover.cli.cli_errors import CliError, Exit
from tickover.cli.cli_run import CliRun
from tickover.cli.mcp.mcp_inputs import (
    Accounts,
    AddedContributions,
    BankFaults,
    BankQuirks,
    ClockId,
    Expectations,
    Goals,
    Json,
    Labels,
    ObservedTransactions,
    OpeningBalances,
    Time,
    Transactions,
    Transfers,
)
from tickover.cli.output import to_json
from tickover.client import Event, Reason, Snapshot, Tickover
from tickover.scenarios import load, names

MAX_EVENTS: Final = 100
"""More would fill the model's context."""
_MAX_CLOCKS: Final = 50
_HINTS: Final = {
    Reason.CLOCK_NOT_FOUND: "Call list_clocks to see the user's clocks.",
    Reason.CLOCK_EXPIRED: "Clocks expire after seven days. Call create_clock.",
    Reason.TIME_BEFORE_CURRENT: "Time only moves forward. Call fork_clock to get a copy at an earlier time.",
    Reason.ITEM_NOT_PENDING: "Items that have happened can't be cancelled. Call fork_clock to get a copy before them.",
    Reason.TIME_AFTER_MAX: "Use a time that is not after maxTime.",
}


class Tools:
    """Each public method is a tool. Its docstring and annotations describe it to the model."""

    def __init__(self, run: CliRun) -> None:
        self._session = run

    def list_scenarios(self) -> Json:
        """List the ready-made schedules that create_clock accepts: salaries, rent and goals."""
        scenarios = {name: load(name) for name in names()}
        return {
            "scenarios": [{"name": name, "title": one.title, "about": one.about} for name, one in scenarios.items()]
        }

    def create_clock(  # noqa: PLR0913 - one parameter for each argument
        self,
        *,
        scenario: Annotated[str | None, Field(description="The name of an included scenario.")] = None,
        scenario_text: Annotated[
            str | None, Field(description="Your own scenario in TOML, as in tickover://scenarios/trip.")
        ] = None,
        start: Annotated[Time | None, Field(description="The clock's first time. Required without a scenario.")] = None,
        transactions: Transactions | None = None,
        goals: Goals | None = None,
        accounts: Accounts | None = None,
        transfers: Transfers | None = None,
        opening_balances: OpeningBalances = None,
        expectations: Expectations | None = None,
        name: str | None = None,
        labels: Labels = None,
    ) -> Json:
        """Create a test clock with simulated money: from a scenario, from its text, or from transactions and goals.

        Nothing after `start` has happened yet. Move the clock with advance_clock. The clock keeps its `expectations`,
        which check_clock checks.
        """
        params = _without_none(
            transactions=transactions,
            goals=goals,
            accounts=accounts,
            transfers=transfers,
            openingBalances=opening_balances,
            expectations=expectations,
        )
        with self._client() as client:
            if sum(map(bool, (scenario, scenario_text, params))) > 1:
                raise ValueError("pass only one: a scenario, a scenario_text, or transactions and goals")
            if scenario or scenario_text:
                return _clock(
                    client.create_clock_from_scenario(
                        scenario, text=scenario_text, start=start, name=name, labels=labels
                    ).snapshot
                )
            if start is None:
                raise ValueError("pass a start, or a scenario")
            params["frozenTime"] = to_instant(start)
            return _clock(client.create_clock(params, name=name, labels=labels).snapshot)

    def list_clocks(self, labels: Labels = None) -> Json:
        """List the user's clocks, newest first."""
        with self._client() as client:
            found = list(islice(client.list_clocks(labels), _MAX_CLOCKS + 1))
            return _truncated("clocks", found, _MAX_CLOCKS)

    def show_clock(
        self,
        id: ClockId,
        at: Annotated[Time | None, Field(description="Preview the clock at this later time.")] = None,
    ) -> Json:
        """Show a clock's time, goals and next event. With `at`, preview it without moving it."""
        with self._client() as client:
            return _clock(client.get_clock(id, at).snapshot)

    def advance_clock(
        self,
        id: ClockId,
        to: Annotated[Time | None, Field(description="The new time.")] = None,
        by: Annotated[str | None, Field(description="A duration instead of a time: 1mo, 2w, 10d, '1y 6mo'.")] = None,
    ) -> Json:
        """Move a clock forward and return what happened. Without `to` and `by`, move to the next event."""
        with self._client() as client:
            advanced = client.advance_clock(id, to, by=by, next=to is None and by is None)
            return {**_clock(advanced.clock), **_events(advanced.events or ())}

    def list_events(
        self,
        id: ClockId,
        after: Annotated[Time | None, Field(description="Only events after this time.")] = None,
        until: Annotated[
            Time | None, Field(description="Only events until this time. It can be later than now.")
        ] = None,
        opening_balances: OpeningBalances = None,
    ) -> Json:
        """List what happened on a clock, with the balance after each transaction. With `until`, also the future."""
        with self._client() as client:
            return _events(client.list_events(id, after=after, until=until, opening_balances=opening_balances))

    def get_balances(self, id: ClockId, at: Time | None = None, opening_balances: OpeningBalances = None) -> Json:
        """Return the balance of each currency and account at a time, with its lowest and highest point until then."""
        with self._client() as client:
            return _json(client.get_balances(id, at, opening_balances=opening_balances))

    def check_clock(
        self,
        id: ClockId,
        expectations: Expectations | None = None,
        until: Time | None = None,
        opening_balances: OpeningBalances = None,
    ) -> Json:
        """Check expectations about everything that is scheduled, by default those of the clock.

        A violation has its cause, when the expectation holds again, and the worst value until then.
        """
        with self._client() as client:
            return _json(client.check_clock(id, expectations, until=until, opening_balances=opening_balances))

    def reconcile_clock(  # noqa: PLR0913 - one parameter for each argument
        self,
        id: ClockId,
        *,
        transactions: ObservedTransactions | None = None,
        balance: Annotated[float | None, Field(description="The balance that the app shows.")] = None,
        at: Time | None = None,
        account: Annotated[str | None, Field(description="The key of an account of the clock.")] = None,
        currency: Annotated[str | None, Field(description="Required if the clock has several and no account.")] = None,
        tolerance_days: int = 0,
    ) -> Json:
        """Compare what the app under test recorded with what the bank showed. `firstDivergence` has the first mistake.

        Pass all transactions of the account or currency until `at`, which is the clock's time by default.
        """
        with self._client() as client:
            options: Json = {"balance": balance, "at": at, "account": account, "currency": currency}
            return _json(client.reconcile_clock(id, transactions, tolerance_days=tolerance_days, **options))

    def amend_clock(
        self,
        id: ClockId,
        transactions: Transactions | None = None,
        goals: Goals | None = None,
        contributions: AddedContributions | None = None,
        transfers: Transfers | None = None,
        cancel: Annotated[
            list[str] | None,
            Field(description="IDs of pending items, from list_events with `until`."),
        ] = None,
    ) -> Json:
        """Add items to a clock and cancel pending ones, as when the user spends, or stops a standing order.

        Added items can't be before the clock's time. All changes are made together, or none.
        """
        with self._client() as client:
            added = _without_none(
                transactions=transactions, goals=goals, contributions=contributions, transfers=transfers
            )
            return _clock(client.amend_clock(id, add=added, cancel=cancel or ()).snapshot)

    def fork_clock(self, id: ClockId, at: Time | None = None, name: str | None = None) -> Json:
        """Copy a clock at any time, by default at its start. Use it to go back in time. The original doesn't change."""
        with self._client() as client:
            return _clock(client.fork_clock(id, at, name=name).snapshot)

    def connect_clock(
        self,
        id: ClockId,
        protocol: BankProtocol,
        institution: Annotated[str | None, Field(description="The name of the bank.")] = None,
        faults: BankFaults | None = None,
        quirks: BankQuirks | None = None,
    ) -> Json:
        """Let the app under test read a clock as if it were a bank, with Plaid or SimpleFIN.

        The app exchanges the `publicToken` at `url`, or claims the `setupToken`, once. Then advance the clock: the
        app's next sync brings what happened.
        """
        with self._client() as client:
            connected = client.connect_clock(id, protocol, institution=institution, faults=faults, quirks=quirks)
            return {**_json(connected), "url": connected.simplefin_url or f"{client.url}/plaid"}

    def delete_clock(self, id: ClockId) -> Json:
        """Delete a clock permanently."""
        with self._client() as client:
            client.delete_clock(id)
            return {"deleted": id}

    @contextmanager
    def _client(self) -> Iterator[Tickover]:
        """Open a signed-in client. Errors reach the model with their reason, paths and hint, and without the token."""
        run = self._session
        try:
            # The run of the command reads the token for each call, so that a sign-in or a new token counts at once.
            with translate_errors(run), run.signed_in_client() as client:
                yield client
        except CliError as error:
            errors = [
                # The parameters of an amendment are arguments of the tool.
                {**each, "path": each["path"].removeprefix("add.")}
                for each in error.document["error"].get("errors", ())
            ]
            raise _tool_error(error.reason, error.message, _sign_in_hint(error, run), errors) from None
        except ValueError as error:
            raise _tool_error("INVALID_ARGUMENT", f"{error}.") from None


def _sign_in_hint(error: CliError, run: CliRun) -> str:
    """Return the error's hint. The user's terminal may not have the TICKOVER_URL of this program."""
    if error.exit != Exit.NOT_SIGNED_IN or run.environment_token:
        return error.hint
    return f"Ask the user to run: tickover login EMAIL --url {run.url}"


def argument_error(tool: str, known: Iterable[str], errors: Iterable[tuple[str, str]]) -> ToolError:
    """Return the error of a call whose arguments don't fit the tool."""
    named = [{"path": path, "message": message} for path, message in errors]
    hint = f"Arguments of {tool}: {', '.join(known) or 'none'}."
    paths = ", ".join(error["path"] for error in named)
    return _tool_error("INVALID_ARGUMENT", f"Invalid arguments: {paths}.", hint, named)


def _tool_error(reason: str, message: str, hint: str = "", errors: Sequence[Any] = ()) -> ToolError:
    error = {"reason": reason, "message": message, "hint": _HINTS.get(reason, hint), "errors": errors}  # type: ignore[call-overload]
    return ToolError(to_json({name: value for name, value in error.items() if value}))


def _without_none(**params: Any) -> Json:
    return {name: value for name, value in params.items() if value is not None}


def _clock(snapshot: Snapshot) -> Json:
    """Return the clock without its items, which would fill the model's context."""
    shown = _json(snapshot)
    pending = shown.pop("pendingTransactions")
    upcoming = [item for goal in shown["goals"] for item in goal.pop("upcomingContributions")]
    for goal in shown["goals"]:
        goal["contributions"] = len(goal["contributions"])
    shown["postedTransactions"] = len(shown.pop("transactions"))
    shown["pendingTransactions"] = len(pending)
    if "accounts" in shown:
        pending += (transfers := shown.pop("pendingTransfers"))
        shown["postedTransfers"] = len(shown.pop("transfers"))
        shown["pendingTransfers"] = len(transfers)
    shown["nextEvents"] = sorted([*pending, *upcoming], key=lambda item: item["at"])[:3]
    return shown


def _events(events: Iterable[Event]) -> Json:
    return _truncated("events", list(islice(events, MAX_EVENTS + 1)), MAX_EVENTS)


def _truncated(name: str, found: Sequence[Any], limit: int) -> Json:
    more = {"truncated": f"Only the first {limit}. Narrow the request to see others."} if len(found) > limit else {}
    return _json({name: found[:limit], **more})


def _json(value: Any) -> Json:
    return json.decode(to_json(value), type=Json)
