"""Every call of the API: its request, whether it can be retried, and how its response is decoded."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import count
from typing import Any, Final, Generic, Literal, TypedDict, TypeVar, Unpack
from uuid import uuid4

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from tickover.api.access_tokens import (
    AccessToken,
    AccessTokens,
    CreatedAccessToken,
    CurrentUser,
    Done,
    Sent,
    SignedIn,
    StoredEmail,
)
from tickover.api.clocks import AdvancedClock, Balances, ClockPage, EventPage, ExportedClock, Goal, OneClock, Snapshot
from tickover.api.command_arguments import Amount, InstantLike, to_exact_decimal, to_instant
from tickover.api.connections import (
    BankFault,
    BankProtocol,
    Connected,
    Connection,
    ConnectionCall,
    ConnectionCalls,
    Connections,
    OneConnection,
    to_quirks,
)
from tickover.api.errors import Reason
from tickover.api.expectations import CheckResult, Expectation, ExpectationEntry
from tickover.api.fields import ExportFormat
from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_EVENTS
from tickover.api.plans import (
    ExpandedScenario,
    Plan,
    PlanParts,
    StatementScenario,
    encode_json,
    to_exact_balances,
)
from tickover.api.reconciliation import Reconciliation
from tickover.client.amendments import Additions, Item, added_items
from tickover.client.books import Books, read_books
from tickover.client.rpc_messages import Request, Response, decode_document, decode_result

T = TypeVar("T")
U = TypeVar("U")

PlanLike = Plan | Mapping[str, Any]
"""A plan, or parameters of createTestClock as in JSON, which the server checks."""
ExpectationLike = Expectation | Mapping[str, Any]
"""An expectation, or its members as in JSON."""
FaultLike = BankFault | Mapping[str, Any]
"""A fault of a bank, or its members as in JSON. Its times can be all that `InstantLike` allows."""

QuirksLike = Sequence[str] | str
"""Quirks of a bank, or the name of a set of them, such as "holds"."""

ProtocolLike = BankProtocol | Literal["simplefin", "plaid"]

_CAMEL: Final = {
    "faults": "faults",
    "quirks": "quirks",
    "consent_days": "consentDays",
    "calls_per_day": "callsPerDay",
    "webhook": "webhook",
}
_IDEMPOTENCY_KEY: Final = re.compile("[!-~]([ -~]{0,253}[!-~])?")
_IDS: Final = count(1)


class ClockChanges(TypedDict, total=False):
    """What a fork or an update replaces."""

    name: str | None
    labels: Mapping[str, str] | None
    opening_balances: Mapping[str, Amount] | None
    expectations: Sequence[Expectation] | None


class BankOptions(TypedDict, total=False):
    """How the bank of a connection behaves."""

    faults: Sequence[FaultLike] | None
    quirks: QuirksLike | None
    consent_days: int | None
    calls_per_day: int | None
    webhook: str | None


class BankChanges(TypedDict, total=False):
    """What an update of a connection replaces. None removes it."""

    faults: Sequence[FaultLike] | None
    quirks: QuirksLike | None
    calls_per_day: int | None
    webhook: str | None


class Call(Struct, Generic[T], frozen=True):
    """A request to the server and the function that decodes its response."""

    request: Request
    decode: Callable[[Response], T]
    idempotent: bool = True
    """Whether the call can be sent again if the server may have processed it."""
    already_done: Mapping[Reason, T] = {}
    """Results for rejections of a retry that mean that an earlier attempt succeeded."""


def send_code(email: str) -> Call[None]:
    """Send a six-digit code to this email address."""
    return _convert(_send_email(email, "SHORT_LIVED", "LOGIN_CODE"), lambda _: None)


def send_link(email: str) -> Call[str | None]:
    """Send a login link. Return it too if the server stores emails in the development outbox."""
    return _convert(_send_email(email, "LONG_LIVED", "WEB_LOGIN_LINK"), lambda sent: sent.login_url or None)


def log_in(email: str, code: str) -> Call[SignedIn]:
    params = {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}
    return _call("loginByEmailVerification", params, SignedIn, idempotent=False)


def log_in_by_link(link_or_secret: str) -> Call[SignedIn]:
    _, _, secret = link_or_secret.rpartition("#token=")
    return _call("loginByEmailLink", {"token": secret}, SignedIn, idempotent=False)


def log_out(everywhere: bool) -> Call[None]:
    return _command("logout", {"everywhere": True} if everywhere else {})


def delete_current_user() -> Call[None]:
    call = _command("deleteCurrentUser", {})
    return replace(call, idempotent=True, already_done={Reason.UNAUTHENTICATED: None})


def current_user() -> Call[CurrentUser]:
    """Return the user that the token belongs to, and when the token expires."""
    return _call("getCurrentUser", {}, CurrentUser)


def create_access_token(
    name: str, *, expires_in_days: int = DEFAULT_TOKEN_DAYS, read_only: bool = False
) -> Call[CreatedAccessToken]:
    """Create a token for a program. It is shown only once. The client must have signed in."""
    params = {"name": name, "expiresInDays": expires_in_days, "readOnly": read_only}
    return _call("createAccessToken", params, CreatedAccessToken, idempotent=False)


def list_access_tokens() -> Call[Sequence[AccessToken]]:
    """Return your live access tokens, newest first."""
    return _convert(_call("listAccessTokens", {}, AccessTokens), lambda result: result.tokens)


def revoke_access_token(id: str) -> Call[None]:
    """Revoke the access token with this ID."""
    return _command("revokeAccessToken", {"id": id})


def latest_email(email: str) -> Call[StoredEmail | None]:
    """Return the newest email to this address, or None if the development mailbox has none or is disabled."""
    request = Request("GET", "/mailbox/latest", query={"to": email})
    return Call(request, lambda response: decode_document(response, StoredEmail))


def create_clock(
    plan: PlanLike | None = None,
    *,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
    **parts: Unpack[PlanParts],
) -> Call[Snapshot]:
    """Create a clock from a plan, or from the parts of one, such as a frozen time, transactions and goals.

    A plan can also be a dictionary with the parameters of createTestClock.
    """
    if plan is None:
        plan = Plan(**parts)  # type: ignore[arg-type]
    elif not isinstance(plan, Plan | Mapping):
        raise ValueError("plan must be a Plan; for a scenario, use create_clock_from_scenario(NAME)")
    elif parts:
        raise ValueError(f"pass either a plan or its parts ({', '.join(parts)})")
    names = _without_none(name=name, labels=labels)
    params = replace(plan, **names) if isinstance(plan, Plan) else {**plan, **names}
    return _clock_call("createTestClock", params, _idempotency_key(idempotency_key))


def create_clock_from_scenario(
    scenario: str | None = None,
    *,
    text: str | None = None,
    start: InstantLike | None = None,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Call[Snapshot]:
    """Create a clock from the name of an included scenario, or from the text of your own in TOML.

    It has the scenario's title unless you pass a name, its accounts, opening balances and expectations.
    """
    params = _without_none(scenario=scenario, text=text, start=_instant(start), name=name, labels=labels)
    return _clock_call("createTestClockFromScenario", params, _idempotency_key(idempotency_key))


def get_clock(id: str, at: InstantLike | None = None, *, details: bool = False) -> Call[Snapshot]:
    """Return a clock, or preview it at the instant `at`. `details` adds `start_time` and initial amounts."""
    return _clock_call("getTestClock", _without_none(id=id, at=_instant(at), details=details or None))


def advance_clock(id: str, to: InstantLike | None, by: str | None, next: bool) -> Call[AdvancedClock]:
    params = _without_none(id=id, frozenTime=_instant(to), by=by, next=next or None, events=True)
    return _call("advanceTestClock", params, AdvancedClock, headers=_idempotency_key(None))


def fork_clock(id: str, at: InstantLike | None = None, **changes: Unpack[ClockChanges]) -> Call[Snapshot]:
    """Create a clock with the same schedule, at the instant `at` or at the original start.

    It has the name, labels, opening balances and expectations of the original unless you pass others.
    """
    params = _without_none(id=id, at=_instant(at), **_changed_members(changes))
    return _clock_call("forkTestClock", params, _idempotency_key(None))


def amend_clock(
    id: str, *, add: Additions = (), cancel: Sequence[Item] = (), goals: Sequence[Goal] = ()
) -> Call[Snapshot]:
    """Add items to a clock, and cancel items that haven't happened yet.

    Name the goals of contributions by ID, or pass the goals of the clock and use their names.
    """
    ids = [item if isinstance(item, str) else item.id for item in cancel]
    params = {"id": id, "add": added_items(add, goals), "cancel": ids}
    return _clock_call("amendTestClock", params, _idempotency_key(None))


def update_clock(id: str, **changes: Unpack[ClockChanges]) -> Call[Snapshot]:
    """Replace the name, labels, opening balances or expectations that you pass. None removes them."""
    return _clock_call("updateTestClock", {"id": id, **_changed_members(changes)})


def delete_clock(id: str) -> Call[None]:
    """Delete a clock permanently."""
    return replace(
        _command("deleteTestClock", {"id": id}), idempotent=True, already_done={Reason.CLOCK_NOT_FOUND: None}
    )


def connect_clock(
    id: str, protocol: ProtocolLike, *, institution: str | None = None, **bank: Unpack[BankOptions]
) -> Call[Connected]:
    """Let a program that speaks the protocol of a bank read a clock. The token in the result is shown only once."""
    members = _bank_members(bank, BankOptions)
    options = _without_none(**{**members, "institution": institution, "faults": members.get("faults") or None})
    params = {"id": id, "protocol": protocol.upper(), **options}
    return _call("connectTestClock", params, Connected, idempotent=False)


def update_connection(id: str, connection_id: str, **changes: Unpack[BankChanges]) -> Call[Connection]:
    """Change how the bank of a connection behaves. None removes what you pass."""
    params = {"id": id, "connectionId": connection_id, **_bank_members(changes, BankChanges)}
    return _convert(_call("updateTestClockConnection", params, OneConnection), lambda result: result.connection)


def _bank_members(given: Mapping[str, Any], allowed: type) -> dict[str, Any]:
    """Return the members of JSON for these arguments."""
    if unknown := given.keys() - allowed.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument '{min(unknown)}'")
    members = {_CAMEL[name]: value for name, value in given.items()}
    if members.get("faults") is not None:
        members["faults"] = [
            {name: to_instant(value) if name in ("from", "until") else value for name, value in fault.items()}
            for fault in [fault if isinstance(fault, Mapping) else to_builtins(fault) for fault in members["faults"]]
        ]
    if members.get("quirks") is not None:
        members["quirks"] = to_quirks(members["quirks"])
    return members


def list_connections(id: str) -> Call[Sequence[Connection]]:
    """Return the connections of a clock, oldest first."""
    call = _call("listTestClockConnections", {"id": id}, Connections)
    return _convert(call, lambda result: result.connections)


def list_connection_calls(id: str, connection_id: str, *, limit: int | None = None) -> Call[Sequence[ConnectionCall]]:
    """Return the last calls that an app made with a connection, newest first."""
    params = _without_none(id=id, connectionId=connection_id, limit=limit)
    return _convert(_call("listConnectionCalls", params, ConnectionCalls), lambda result: result.calls)


def disconnect_clock(id: str, connection_id: str) -> Call[None]:
    """End a connection of a clock."""
    return _command("disconnectTestClock", {"id": id, "connectionId": connection_id})


def list_page(
    limit: int = 20, cursor: str | None = None, labels: Mapping[str, str] | None = None, name: str | None = None
) -> Call[ClockPage]:
    """Return one page of your clocks with these labels and this name, or of all, newest first."""
    return _call("listTestClocks", _without_none(limit=limit, cursor=cursor, labels=labels, name=name), ClockPage)


def list_events(
    id: str,
    after: InstantLike | None,
    until: InstantLike | None,
    opening_balances: Mapping[str, Amount] | None,
    cursor: str | None = None,
) -> Call[EventPage]:
    params = _without_none(
        id=id,
        limit=MAX_EVENTS,
        after=_instant(after),
        until=_instant(until),
        openingBalances=_balances(opening_balances),
        cursor=cursor,
    )
    return _call("listTestClockEvents", params, EventPage)


def get_balances(
    id: str, at: InstantLike | None = None, *, opening_balances: Mapping[str, Amount] | None = None
) -> Call[Balances]:
    """Return a clock's balances at an instant, which is the frozen time by default."""
    params = _without_none(id=id, at=_instant(at), openingBalances=_balances(opening_balances))
    return _call("getTestClockBalances", params, Balances)


def export_clock(
    id: str,
    format: ExportFormat = "csv",
    *,
    pending: bool = False,
    opening_balances: Mapping[str, Amount] | None = None,
    account: str | None = None,
) -> Call[str]:
    """Return a clock's transactions as a file, with scheduled ones too if `pending` is true.

    It has a statement for each account, or only for `account`, or for each currency of a clock without accounts.
    """
    params = _without_none(
        id=id, format=format, pending=pending, openingBalances=_balances(opening_balances), account=account
    )
    return _convert(_call("exportTestClock", params, ExportedClock), lambda result: result.text)


def check_clock(
    id: str,
    expectations: Sequence[ExpectationLike] | None = None,
    *,
    until: InstantLike | None = None,
    opening_balances: Mapping[str, Amount] | None = None,
) -> Call[CheckResult]:
    """Check expectations until `until`, by default those of the clock. The result is false if one fails."""
    if not all(isinstance(expectation, ExpectationEntry | Mapping) for expectation in expectations or ()):
        raise ValueError('pass expectations, such as never_below("EUR", 0)')
    params = _without_none(
        id=id, until=_instant(until), openingBalances=_balances(opening_balances), expectations=expectations
    )
    return _call("checkTestClock", params, CheckResult)


def reconcile_clock(  # noqa: PLR0913 - one parameter for each member
    id: str,
    books: Books | None = None,
    *,
    balance: Amount | None = None,
    at: InstantLike | None = None,
    account: str | None = None,
    currency: str | None = None,
    tolerance_days: int = 0,
) -> Call[Reconciliation[Decimal]]:
    """Compare the books of an app with what the bank showed. See `Clock.reconcile`, which raises an error."""
    observed = _without_none(
        transactions=None if books is None else read_books(books),
        balance=None if balance is None else to_exact_decimal(balance),
    )
    params = _without_none(
        id=id, at=_instant(at), account=account, currency=currency, observed=observed, toleranceDays=tolerance_days
    )
    return _call("reconcileTestClock", params, Reconciliation[Decimal])


def expand_scenario(text: str, start: InstantLike | None = None) -> Call[Plan]:
    """Return the plan of a scenario in TOML. The server expands it, and creates nothing."""
    params = _without_none(text=text, start=_instant(start))
    call = _call("expandScenario", params, ExpandedScenario[Plan, Expectation])
    return _convert(call, lambda result: replace(result.params, expectations=result.expectations))


def scenario_from_statement(
    content: bytes, *, file_name: str = "Statement", currency: str | None = None, day_first: bool | None = None
) -> Call[str]:
    """Return a scenario in TOML with the payments of a bank's file in CSV or OFX. The server reads it."""
    encoded = b64encode(content).decode()
    params = _without_none(content=encoded, fileName=file_name, currency=currency, dayFirst=day_first)
    return _convert(_call("scenarioFromStatement", params, StatementScenario), lambda result: result.text)


def discover() -> Call[dict[str, Any]]:
    """Return the server's OpenRPC document."""
    return _call("rpc.discover", {}, dict[str, Any])


def _send_email(email: str, code_type: str, email_type: str) -> Call[Sent]:
    params = {"email": email, "loginCodeType": code_type, "emailType": email_type}
    return _call("sendLoginCodeEmail", params, Sent, idempotent=False)


def _idempotency_key(key: str | None) -> dict[str, str]:
    """Return the header with this key, or with a new one, which makes the call idempotent."""
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise ValueError("an idempotency key must have 1 to 255 printable ASCII characters and no space at either end")
    return {"Idempotency-Key": uuid4().hex if key is None else key}


def _instant(value: InstantLike | None) -> datetime | None:
    return None if value is None else to_instant(value)


def _balances(balances: Mapping[str, Amount] | None) -> dict[str, Decimal] | None:
    return None if balances is None else to_exact_balances(balances)


def _changed_members(changes: ClockChanges) -> dict[str, Any]:
    if unknown := changes.keys() - ClockChanges.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    members = dict[str, Any](changes)
    if "opening_balances" in members:
        members["openingBalances"] = _balances(members.pop("opening_balances"))
    return members


def _without_none(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _call(
    operation: str,
    params: Any,
    result: type[T],
    *,
    headers: Mapping[str, str] = {},
    idempotent: bool = True,
) -> Call[T]:
    id = next(_IDS)
    content = encode_json({"jsonrpc": "2.0", "id": id, "method": operation, "params": params})
    request = Request("POST", "/rpc", headers={"Content-Type": "application/json", **headers}, content=content)
    return Call(request, lambda response: decode_result(response, id, result), idempotent)


def _convert(call: Call[U], convert: Callable[[U], T]) -> Call[T]:
    """Return a call with another result."""
    return Call(call.request, lambda response: convert(call.decode(response)), call.idempotent)


def _command(operation: str, params: Any) -> Call[None]:
    """Return a call without a result that can't be sent twice."""
    return _convert(_call(operation, params, Done, idempotent=False), lambda _: None)


def _clock_call(operation: str, params: Any, headers: Mapping[str, str] = {}) -> Call[Snapshot]:
    return _convert(_call(operation, params, OneClock, headers=headers), lambda result: result.clock)
