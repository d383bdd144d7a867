"""Every call of the API: its request, whether it can be retried, and how its response is decoded."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import count
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from tickover.api.arguments import Amount, InstantLike, to_exact_decimal, to_instant
from tickover.api.clocks import Balances, ClockPage, EventPage, Goal, OneClock, Snapshot
from tickover.api.connections import BankFault, BankProtocol, Connected, Connections
from tickover.api.errors import Reason
from tickover.api.expectations import CheckResult, Expectation, ExpectationEntry
from tickover.api.limits import MAX_EVENTS
from tickover.api.plans import (
    ExpandedPlan,
    Plan,
    PlannedItem,
    PlanParts,
    StatementScenario,
    encode_json,
    to_exact_balances,
)
from tickover.api.reconciliation import Reconciliation
from tickover.api.tokens import AccessTokens, CreatedAccessToken, CurrentUser, Done, Sent, SignedIn, StoredEmail
from tickover.client.amendments import Item, amendment_params
from tickover.client.books import Books, read_books
from tickover.client.messages import Request, Response
from tickover.client.responses import decode_document, decode_result

T = TypeVar("T")

PlanLike = Plan | Mapping[str, Any]
"""A plan, or parameters of createTestClock as in JSON, which the server checks."""
FaultLike = BankFault | Mapping[str, Any]
"""A fault of a bank, or its members as in JSON. Its times can be all that `InstantLike` allows."""

_IDEMPOTENCY_KEY: Final = re.compile("[!-~]([ -~]{0,253}[!-~])?")
_IDS: Final = count(1)


class Call(Struct, Generic[T], frozen=True):
    """A request to the server and the function that decodes its response."""

    request: Request
    decode: Callable[[Response], T]
    needs_token: bool = True
    idempotent: bool = True
    """Whether the call can be sent again if the server may have processed it."""
    already_done: Mapping[Reason, T] = {}
    """Results for rejections of a retry that mean that an earlier attempt succeeded."""


def send_code(email: str) -> Call[Sent]:
    return _send_email(email, "SHORT_LIVED", "LOGIN_CODE")


def send_link(email: str) -> Call[Sent]:
    return _send_email(email, "LONG_LIVED", "WEB_LOGIN_LINK")


def log_in(email: str, code: str) -> Call[SignedIn]:
    params = {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}
    return _call("loginByEmailVerification", params, SignedIn, needs_token=False, idempotent=False)


def log_in_by_link(link_or_secret: str) -> Call[SignedIn]:
    _, _, secret = link_or_secret.rpartition("#token=")
    return _call("loginByEmailLink", {"token": secret}, SignedIn, needs_token=False, idempotent=False)


def log_out() -> Call[Done]:
    return _call("logout", {}, Done, idempotent=False)


def current_user() -> Call[CurrentUser]:
    return _call("getCurrentUser", {}, CurrentUser)


def create_access_token(name: str, expires_in_days: int, read_only: bool) -> Call[CreatedAccessToken]:
    params = {"name": name, "expiresInDays": expires_in_days, "readOnly": read_only}
    return _call("createAccessToken", params, CreatedAccessToken, idempotent=False)


def list_access_tokens() -> Call[AccessTokens]:
    return _call("listAccessTokens", {}, AccessTokens)


def revoke_access_token(id: str) -> Call[Done]:
    return _call("revokeAccessToken", {"id": id}, Done, idempotent=False)


def latest_email(email: str) -> Call[StoredEmail | None]:
    request = Request("GET", "/mailbox/latest", query={"to": email})
    return Call(request, lambda response: decode_document(response, StoredEmail), needs_token=False)


def build_plan(plan: PlanLike | None, parts: PlanParts) -> PlanLike:
    """Return `plan`, or a plan with these parts. Raise ValueError if both are present."""
    if plan is None:
        return Plan(**parts)  # type: ignore[arg-type]
    if not isinstance(plan, Plan | Mapping):
        raise ValueError("plan must be a Plan; for a scenario, use create_clock_from_scenario(NAME)")
    if parts:
        raise ValueError(f"pass either a plan or its parts ({', '.join(parts)})")
    return plan


def idempotency_key(key: str | None) -> str:
    """Return the key, or a new one. Raise ValueError if it is invalid."""
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise ValueError("an idempotency key must have 1 to 255 printable ASCII characters and no space at either end")
    return uuid4().hex if key is None else key


def create_clock(plan: PlanLike, name: str | None, labels: Mapping[str, str] | None, key: str | None) -> Call[Snapshot]:
    """Create a clock. The call is idempotent because it has an idempotency key."""
    names = _without_none({"name": name, "labels": labels})
    params = replace(plan, **names) if isinstance(plan, Plan) else {**plan, **names}
    return _clock_call("createTestClock", params, headers={"Idempotency-Key": idempotency_key(key)})


def create_clock_from_scenario(
    scenario: str | None,
    text: str | None,
    start: InstantLike | None,
    name: str | None,
    labels: Mapping[str, str] | None,
    key: str | None,
) -> Call[Snapshot]:
    """Create a clock. The call is idempotent because it has an idempotency key."""
    params = {"scenario": scenario, "text": text, "start": _optional_instant(start), "name": name, "labels": labels}
    headers = {"Idempotency-Key": idempotency_key(key)}
    return _clock_call("createTestClockFromScenario", _without_none(params), headers=headers)


def get_clock(id: str, at: InstantLike | None = None, details: bool = False) -> Call[Snapshot]:
    params = _id_and_at(id, at) | ({"details": True} if details else {})
    return _clock_call("getTestClock", params)


def advance_clock(id: str, frozen_time: datetime) -> Call[Snapshot]:
    """Advance a clock. The call is idempotent because advancing to the current frozen time changes nothing."""
    return _clock_call("advanceTestClock", {"id": id, "frozenTime": frozen_time})


def fork_clock(
    id: str,
    at: InstantLike | None,
    name: str | None = None,
    labels: Mapping[str, str] | None = None,
    opening_balances: Mapping[str, Amount] | None = None,
    expectations: Sequence[Expectation] | None = None,
) -> Call[Snapshot]:
    """Fork a clock. The call is idempotent because it has an idempotency key."""
    replaced = {
        "name": name,
        "labels": labels,
        "openingBalances": _optional_balances(opening_balances),
        "expectations": expectations,
    }
    params = _id_and_at(id, at) | _without_none(replaced)
    return _clock_call("forkTestClock", params, headers={"Idempotency-Key": idempotency_key(None)})


def amend_clock(
    id: str, add: Sequence[PlannedItem], cancel: Sequence[Item], goals: Sequence[Goal] = ()
) -> Call[Snapshot]:
    """Amend a clock. The call is idempotent because it has an idempotency key."""
    params = amendment_params(id, add, cancel, goals)
    return _clock_call("amendTestClock", params, headers={"Idempotency-Key": idempotency_key(None)})


def update_clock(
    id: str,
    name: str | None | UnsetType,
    labels: Mapping[str, str] | None | UnsetType,
    opening_balances: Mapping[str, Amount] | None | UnsetType,
    expectations: Sequence[Expectation] | None | UnsetType,
) -> Call[Snapshot]:
    """Replace what is given. None removes it. The call is idempotent."""
    balances = opening_balances if opening_balances is UNSET else _optional_balances(opening_balances)
    params = {"id": id, "name": name, "labels": labels, "openingBalances": balances, "expectations": expectations}
    return _clock_call("updateTestClock", {key: value for key, value in params.items() if value is not UNSET})


def delete_clock(id: str) -> Call[Done]:
    return replace(_call("deleteTestClock", {"id": id}, Done), already_done={Reason.CLOCK_NOT_FOUND: Done()})


def connect_clock(
    id: str, protocol: BankProtocol, institution: str | None, faults: Sequence[FaultLike] | None
) -> Call[Connected]:
    converted = None if faults is None else [_convert_times(fault) for fault in faults]
    params = {"id": id, "protocol": protocol, "institution": institution, "faults": converted}
    return _call("connectTestClock", _without_none(params), Connected, idempotent=False)


def list_connections(id: str) -> Call[Connections]:
    return _call("listTestClockConnections", {"id": id}, Connections)


def disconnect_clock(id: str, connection_id: str) -> Call[Done]:
    params = {"id": id, "connectionId": connection_id}
    return _call("disconnectTestClock", params, Done, idempotent=False)


def list_page(limit: int, cursor: str | None, labels: Mapping[str, str] | None) -> Call[ClockPage]:
    params = {"limit": limit, "cursor": cursor, "labels": labels}
    return _call("listTestClocks", _without_none(params), ClockPage)


def list_events(
    id: str,
    after: InstantLike | None,
    until: InstantLike | None,
    opening_balances: Mapping[str, Amount] | None,
    cursor: str | None = None,
) -> Call[EventPage]:
    params = {
        "id": id,
        "limit": MAX_EVENTS,
        "after": _optional_instant(after),
        "until": _optional_instant(until),
        "openingBalances": _optional_balances(opening_balances),
        "cursor": cursor,
    }
    return _call("listTestClockEvents", _without_none(params), EventPage)


def get_balances(id: str, at: InstantLike | None, opening_balances: Mapping[str, Amount] | None) -> Call[Balances]:
    params = _id_and_at(id, at) | {"openingBalances": _optional_balances(opening_balances)}
    return _call("getTestClockBalances", _without_none(params), Balances)


def check_clock(
    id: str,
    expectations: Sequence[Expectation] | None,
    until: InstantLike | None,
    opening_balances: Mapping[str, Amount] | None,
) -> Call[CheckResult]:
    if not all(isinstance(expectation, ExpectationEntry) for expectation in expectations or ()):
        raise ValueError('pass expectations, such as never_below("EUR", 0)')
    params = {
        "id": id,
        "until": _optional_instant(until),
        "openingBalances": _optional_balances(opening_balances),
        "expectations": expectations,
    }
    return _call("checkTestClock", _without_none(params), CheckResult)


def reconcile_clock(  # noqa: PLR0913, PLR0917 - one parameter for each member
    id: str,
    books: Books | None,
    balance: Amount | None,
    at: InstantLike | None,
    account: str | None,
    currency: str | None,
    tolerance_days: int,
) -> Call[Reconciliation[Decimal]]:
    observed = {
        "transactions": None if books is None else read_books(books),
        "balance": None if balance is None else to_exact_decimal(balance),
    }
    params = _id_and_at(id, at) | _without_none({"account": account, "currency": currency})
    return _call(
        "reconcileTestClock",
        {**params, "observed": _without_none(observed), "toleranceDays": tolerance_days},
        Reconciliation[Decimal],
    )


def expand_scenario(text: str, start: InstantLike | None) -> Call[ExpandedPlan]:
    return _call("expandScenario", _without_none({"text": text, "start": _optional_instant(start)}), ExpandedPlan)


def scenario_from_statement(
    content: bytes, file_name: str, currency: str | None, day_first: bool | None
) -> Call[StatementScenario]:
    encoded = b64encode(content).decode()
    params = {"content": encoded, "fileName": file_name, "currency": currency, "dayFirst": day_first}
    return _call("scenarioFromStatement", _without_none(params), StatementScenario)


def discover() -> Call[dict[str, Any]]:
    return _call("rpc.discover", {}, dict[str, Any], needs_token=False)


def _send_email(email: str, code_type: str, email_type: str) -> Call[Sent]:
    params = {"email": email, "loginCodeType": code_type, "emailType": email_type}
    return _call("sendLoginCodeEmail", params, Sent, needs_token=False, idempotent=False)


def _id_and_at(id: str, at: InstantLike | None) -> dict[str, Any]:
    return {"id": id} if at is None else {"id": id, "at": to_instant(at)}


def _optional_instant(value: InstantLike | None) -> datetime | None:
    return None if value is None else to_instant(value)


def _optional_balances(balances: Mapping[str, Amount] | None) -> dict[str, Decimal] | None:
    return None if balances is None else to_exact_balances(balances)


def _convert_times(fault: FaultLike) -> FaultLike:
    if isinstance(fault, BankFault):
        until = fault.until if fault.until is UNSET else to_instant(fault.until)
        return replace(fault, from_=to_instant(fault.from_), until=until)
    return {name: to_instant(value) if name in ("from", "until") else value for name, value in fault.items()}


def _without_none(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _call(
    operation: str,
    params: Any,
    result: type[T],
    *,
    headers: Mapping[str, str] = {},
    needs_token: bool = True,
    idempotent: bool = True,
) -> Call[T]:
    id = next(_IDS)
    content = encode_json({"jsonrpc": "2.0", "id": id, "method": operation, "params": params})
    request = Request("POST", "/rpc", headers={"Content-Type": "application/json", **headers}, content=content)
    return Call(request, lambda response: decode_result(response, id, result), needs_token, idempotent)


def _clock_call(operation: str, params: Any, headers: Mapping[str, str] = {}) -> Call[Snapshot]:
    call = _call(operation, params, OneClock, headers=headers)
    return Call(call.request, lambda response: call.decode(response).clock)
