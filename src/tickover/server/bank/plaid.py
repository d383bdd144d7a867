"""Plaid's API for one clock, as its OpenAPI document describes it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Final, TypeVar

from msgspec import DecodeError, Meta, Raw, Struct, ValidationError, json

from tickover.api import ids
from tickover.api.connections import BankProtocol
from tickover.api.errors import Reason, Rejection
from tickover.api.json_depth import is_nested_too_deeply
from tickover.server.bank.bank_service import Bank, BankRequest, OpenClock, UnknownSecret
from tickover.server.bank.plaid_objects import (
    PlaidError,
    SimulatedFault,
    encode_row,
    to_account,
    to_institution,
    to_item,
)
from tickover.server.bank.sync import Cursor, read_cursor, read_page, state_of, write_cursor
from tickover.server.http1.http_messages import SAFE_HEADERS, Header, Request, Response
from tickover.server.schedule.bank_view import BankAccount
from tickover.server.sign_in import tokens

_MAX_BODY: Final = 64 * 1024
"""Bytes. The body has the access token, so it is decoded before the caller is known."""
_HEADERS: Final = ((b"content-type", b"application/json"), *SAFE_HEADERS)
_T = TypeVar("_T")
_encode: Final = json.Encoder().encode

Members = Mapping[str, Any]
"""The members of a response, without `request_id`."""
Count = Annotated[int, Meta(ge=1, le=500)]
_AccountIds = Annotated[Sequence[str], Meta(max_length=500)]
"""A clock has fewer accounts."""


class _Options(Struct, frozen=True):
    account_id: str | None = None
    account_ids: _AccountIds | None = None
    count: Count | None = None
    offset: Annotated[int, Meta(ge=0)] | None = None
    include_original_description: bool | None = None
    days_requested: Annotated[int, Meta(ge=1, le=730)] | None = None
    """Ignored, because the whole history is there."""


class _Call(Struct, frozen=True):
    """The body of a request: the members that some endpoint needs. Others are ignored."""

    client_id: str | None = None
    secret: str | None = None
    access_token: str | None = None
    public_token: str | None = None
    institution_id: str | None = None
    cursor: Annotated[str, Meta(max_length=256)] | None = None
    count: Count | None = None
    start_date: date | None = None
    end_date: date | None = None
    options: _Options = _Options()


_Change = Callable[[bytes, BankProtocol, bytes], Awaitable[bool]]
"""A method of the store that returns whether there was such a connection."""
_decode_call: Final = json.Decoder(_Call).decode


class Plaid:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._services = bank.services
        self._endpoints: dict[str, Callable[[_Call, BankRequest], Awaitable[Members]]] = {
            "/item/public_token/exchange": self._exchange,
            "/item/get": self._get_item,
            "/item/remove": self._remove_item,
            "/accounts/get": self._get_accounts,
            "/accounts/balance/get": self._get_accounts,
            "/transactions/sync": self._sync,
            "/transactions/get": self._get_transactions,
            "/transactions/refresh": self._refresh,
            "/institutions/get_by_id": self._get_institution,
            "/sandbox/item/reset_login": self._reset_login,
        }

    def route(self, path: str) -> str | None:
        return path if path in self._endpoints else None

    def read(self, request: BankRequest) -> "_Call | PlaidError":
        """Return the body of a request, or what is wrong with the request."""
        try:
            if request.path not in self._endpoints or request.http.method != "POST":
                message = f"not found. Send POST requests to one of these endpoints: {', '.join(self._endpoints)}"
                raise PlaidError("NOT_FOUND", message)
            return _read_call(request.http)
        except PlaidError as error:
            return error

    def caller(self, request: BankRequest, call: "_Call | PlaidError") -> bytes | None:
        """Return the user whose clock the call is about, if the server knows."""
        return self._bank.recall(call.access_token) if isinstance(call, _Call) else None

    async def run(self, request: BankRequest, call: "_Call | PlaidError") -> Response:
        if isinstance(call, PlaidError):
            raise call
        try:
            members = await self._endpoints[request.path](call, request)
        except SimulatedFault as fault:
            return self.reject(request, fault)
        return 200, _HEADERS, _encode({**members, "request_id": request.request_id})

    def reject(self, request: BankRequest, error: Rejection) -> Response:
        headers: Sequence[Header] = _HEADERS
        match error:
            case PlaidError():
                found = error
            case UnknownSecret():
                found = PlaidError("INVALID_ACCESS_TOKEN", "could not find matching access token", "INVALID_INPUT")
            case Rejection(reason=Reason.RATE_LIMITED):
                found = SimulatedFault("RATE_LIMITED", request.path)
            case Rejection(reason=Reason.INVALID_REQUEST):
                found = PlaidError("INVALID_HEADERS", str(error))
            case Rejection(reason=Reason.UNAVAILABLE):
                # Apps try again later, other than after an internal error.
                found = PlaidError("PLANNED_MAINTENANCE", str(error), "API_ERROR", 503)
                headers = [*_HEADERS, (b"retry-after", b"%d" % error.details["retryAfterSeconds"])]
            case _:
                found = SimulatedFault("INTERNAL_ERROR", request.path)
        return found.status, headers, _encode({**found.members, "request_id": request.request_id})

    async def _exchange(self, call: _Call, request: BankRequest) -> Members:
        public_token = _require(call.public_token, "public_token")
        access_token = f"access-sandbox-{self._services.mint.new_secret()}"
        try:
            key = await self._bank.claim(public_token, access_token, "PLAID", request)
        except UnknownSecret:
            message = "provided public token is invalid, or was already exchanged"
            raise PlaidError("INVALID_PUBLIC_TOKEN", message, "INVALID_INPUT") from None
        return {"access_token": access_token, "item_id": ids.write("conn", key)}

    async def _get_item(self, call: _Call, request: BankRequest) -> Members:
        clock = await self._bank.open(_require(call.access_token, "access_token"), "PLAID", request)
        updates = {"last_successful_update": clock.at, "last_failed_update": None}
        return {"item": self._item(clock), "status": {"transactions": updates, "last_webhook": None}}

    async def _remove_item(self, call: _Call, request: BankRequest) -> Members:
        await self._change_item(call, request, self._services.store.end_connection)
        return {}

    async def _reset_login(self, call: _Call, request: BankRequest) -> Members:
        await self._change_item(call, request, self._services.store.require_login)
        return {"reset_login": True}

    async def _change_item(self, call: _Call, request: BankRequest, change: _Change) -> None:
        access_token = _require(call.access_token, "access_token")
        await self._bank.open(access_token, "PLAID", request)
        if not await change(tokens.digest(access_token), "PLAID", ids.first_live_key(request.now)):
            raise UnknownSecret

    async def _get_accounts(self, call: _Call, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        accounts = _find_accounts(clock, call.options.account_ids)
        return {"accounts": [to_account(clock, account) for account in accounts], "item": self._item(clock)}

    async def _refresh(self, call: _Call, request: BankRequest) -> Members:
        # The bank is always up to date.
        await self._open(call, request)
        return {}

    async def _get_institution(self, call: _Call, request: BankRequest) -> Members:
        id = _require(call.institution_id, "institution_id")
        key = ids.read("ins", id[:40])
        name = None
        if key is not None and id == self._institution_id(key):
            name = await self._bank.find_institution(key, request)
        if name is None:
            raise PlaidError("INVALID_INSTITUTION", "invalid institution_id provided", "INVALID_INPUT")
        return {"institution": to_institution(id, name)}

    async def _get_transactions(self, call: _Call, request: BankRequest) -> Members:
        start, end = _require(call.start_date, "start_date"), _require(call.end_date, "end_date")
        if end < start:
            raise PlaidError("INVALID_FIELD", "end_date must not be before start_date")
        clock = await self._open(call, request)
        accounts = _find_accounts(clock, call.options.account_ids)
        rows, wanted = clock.view.rows, {account.id for account in accounts}
        found = [
            position
            for position in range(len(rows) - 1, -1, -1)
            if rows[position].is_shown(clock.at)
            and start <= rows[position].at.date() <= end
            and rows[position].account.id in wanted
        ]
        offset = call.options.offset or 0
        page = found[offset : offset + (call.options.count or 100)]
        return {
            "accounts": [to_account(clock, account) for account in accounts],
            "item": self._item(clock),
            "total_transactions": len(found),
            "transactions": await self._encode_rows(clock, page, call.options),
        }

    async def _sync(self, call: _Call, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        account_id = call.options.account_id
        accounts = _find_accounts(clock, [account_id] if account_id else None)
        now = state_of(clock.view, clock.at)

        def sign(payload: bytes) -> bytes:
            bound = b"%b\n%b\n%b" % (clock.connection.key, (account_id or "").encode(), payload)
            return self._services.mint.sign(b"cursor", bound)

        cursor = Cursor(now, now) if call.cursor == "now" else read_cursor(call.cursor or "", sign)
        if cursor is None:
            raise PlaidError("INVALID_FIELD", "cursor is not one of this item and account")
        page = read_page(clock.view, now, cursor, call.count or 100, account_id)
        if page is None:
            message = "the underlying data changed during pagination; start again with the first cursor of the loop"
            raise PlaidError("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", message, "TRANSACTIONS_ERROR")
        return {
            "accounts": [to_account(clock, account) for account in accounts],
            "added": await self._encode_rows(clock, page.added, call.options),
            "has_more": page.has_more,
            "modified": [],
            "next_cursor": write_cursor(page.next, sign),
            "removed": page.removed,
            "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE",
        }

    async def _encode_rows(self, clock: OpenClock, positions: Sequence[int], options: _Options) -> list[Raw]:
        if options.include_original_description:
            rows = clock.view.rows
            return [Raw(encode_row(rows[position], with_description=True)) for position in positions]
        encoded = await self._bank.encode_rows(clock, encode_row)
        return [encoded[position] for position in positions]

    async def _open(self, call: _Call, request: BankRequest) -> OpenClock:
        """Open the clock for a call that reads data. Raise the error of a fault that holds."""
        clock = await self._bank.open(_require(call.access_token, "access_token"), "PLAID", request)
        if clock.fault is not None:
            raise SimulatedFault(clock.fault.kind, request.path)
        return clock

    def _item(self, clock: OpenClock) -> Members:
        is_login_required = clock.fault and clock.fault.kind == "LOGIN_REQUIRED"
        error = SimulatedFault("LOGIN_REQUIRED", "").members if is_login_required else None
        return to_item(clock.connection, self._institution_id(clock.connection.key), error)

    def _institution_id(self, key: bytes) -> str:
        """Return an ID that leads to the connection, and can't be guessed."""
        return f"{ids.write('ins', key)}-{self._services.mint.sign(b'institution', key).hex()[:32]}"


def _read_call(request: Request) -> _Call:
    if request.body is None or len(request.body) > _MAX_BODY:
        raise PlaidError("INVALID_BODY", "body is too large")
    if request.fields.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        # Pages of any origin can send other types.
        raise PlaidError("INVALID_HEADERS", "content-type must be application/json")
    if is_nested_too_deeply(request.body):
        raise PlaidError("INVALID_BODY", "body is nested too deeply")
    try:
        call = _decode_call(request.body)
    except ValidationError as error:
        raise PlaidError("INVALID_FIELD", str(error)) from None
    except (DecodeError, UnicodeDecodeError):
        raise PlaidError("INVALID_BODY", "body could not be parsed as JSON") from None
    _require(call.client_id or request.fields.get(b"plaid-client-id") or None, "client_id")
    _require(call.secret or request.fields.get(b"plaid-secret") or None, "secret")
    return call


def _require(value: _T | None, name: str) -> _T:
    if value is None:
        raise PlaidError("MISSING_FIELDS", f"the following required fields are missing: {name}")
    return value


def _find_accounts(clock: OpenClock, account_ids: Sequence[str] | None) -> list[BankAccount]:
    """Return the accounts with these IDs, or all."""
    accounts = list(clock.view.accounts.values())
    if not account_ids:
        return accounts
    wanted = set(account_ids)
    found = [account for account in accounts if account.id in wanted]
    if len(found) != len(wanted):
        message = "one of the account IDs is not an account of this item"
        raise PlaidError("INVALID_ACCOUNT_ID", message, "INVALID_INPUT")
    return found
