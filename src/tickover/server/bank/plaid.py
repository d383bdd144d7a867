"""Plaid's API for one clock, as its OpenAPI document describes it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Raw, json

from tickover.api import ids
from tickover.api.connections import BankProtocol
from tickover.api.errors import Reason, Rejection
from tickover.server.bank.bank_service import Bank, BankRequest, OpenClock, UnknownSecret
from tickover.server.bank.plaid_objects import (
    PlaidError,
    SimulatedFault,
    encode_row,
    to_account,
    to_institution,
    to_item,
)
from tickover.server.bank.plaid_requests import (
    AccountsRequest,
    ExchangeRequest,
    InstitutionRequest,
    ItemRequest,
    PlaidRequest,
    SyncRequest,
    TransactionsRequest,
    decoder_of,
    read_request,
)
from tickover.server.bank.sync import Cursor, read_cursor, read_page, write_cursor
from tickover.server.http1.http_messages import SAFE_HEADERS, Header, Response
from tickover.server.schedule.bank_changes import Shown
from tickover.server.schedule.bank_rows import BankAccount
from tickover.server.sign_in import tokens

_HEADERS: Final = ((b"content-type", b"application/json"), *SAFE_HEADERS)
_encode: Final = json.Encoder().encode
_Request = TypeVar("_Request", bound=PlaidRequest)

Members = Mapping[str, Any]
"""The members of a response, without `request_id`."""
_Change = Callable[[bytes, BankProtocol, bytes], Awaitable[bool]]
"""A method of the store that returns whether there was such a connection."""


class Endpoint(NamedTuple):
    decode: Callable[[bytes], PlaidRequest]
    run: Callable[[Any, BankRequest], Awaitable[Members]]


def endpoint(type: type[_Request], run: Callable[[_Request, BankRequest], Awaitable[Members]]) -> Endpoint:
    return Endpoint(decoder_of(type), run)


class Plaid:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._services = bank.services
        self._endpoints = {
            "/item/public_token/exchange": endpoint(ExchangeRequest, self._exchange),
            "/item/get": endpoint(ItemRequest, self._get_item),
            "/item/remove": endpoint(ItemRequest, self._remove_item),
            "/accounts/get": endpoint(AccountsRequest, self._get_accounts),
            "/accounts/balance/get": endpoint(AccountsRequest, self._get_accounts),
            "/transactions/sync": endpoint(SyncRequest, self._sync),
            "/transactions/get": endpoint(TransactionsRequest, self._get_transactions),
            "/transactions/refresh": endpoint(ItemRequest, self._refresh),
            "/institutions/get_by_id": endpoint(InstitutionRequest, self._get_institution),
            "/sandbox/item/reset_login": endpoint(ItemRequest, self._reset_login),
        }

    def route(self, path: str) -> str | None:
        return path if path in self._endpoints else None

    def read(self, request: BankRequest) -> PlaidRequest | PlaidError:
        """Return the body of a request, or what is wrong with the request."""
        try:
            if request.path not in self._endpoints or request.http.method != "POST":
                message = f"not found. Send POST requests to one of these endpoints: {', '.join(self._endpoints)}"
                raise PlaidError("NOT_FOUND", message)
            return read_request(request.http, self._endpoints[request.path].decode)
        except PlaidError as error:
            return error

    def caller(self, request: BankRequest, call: PlaidRequest | PlaidError) -> bytes | None:
        """Return the user whose clock the call is about, if the server knows."""
        return self._bank.recall(call.access_token) if isinstance(call, ItemRequest) else None

    async def run(self, request: BankRequest, call: PlaidRequest | PlaidError) -> Response:
        if isinstance(call, PlaidError):
            raise call
        try:
            members = await self._endpoints[request.path].run(call, request)
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

    async def _exchange(self, call: ExchangeRequest, request: BankRequest) -> Members:
        access_token = f"access-sandbox-{self._services.mint.new_secret()}"
        try:
            key = await self._bank.claim(call.public_token, access_token, "PLAID", request)
        except UnknownSecret:
            message = "provided public token is invalid, or was already exchanged"
            raise PlaidError("INVALID_PUBLIC_TOKEN", message, "INVALID_INPUT") from None
        return {"access_token": access_token, "item_id": ids.write("conn", key)}

    async def _get_item(self, call: ItemRequest, request: BankRequest) -> Members:
        clock = await self._bank.open(call.access_token, "PLAID", request)
        updates = {"last_successful_update": clock.at, "last_failed_update": None}
        return {"item": self._item(clock), "status": {"transactions": updates, "last_webhook": None}}

    async def _remove_item(self, call: ItemRequest, request: BankRequest) -> Members:
        await self._change_item(call, request, self._services.store.end_connection)
        return {}

    async def _reset_login(self, call: ItemRequest, request: BankRequest) -> Members:
        await self._change_item(call, request, self._services.store.require_login)
        return {"reset_login": True}

    async def _change_item(self, call: ItemRequest, request: BankRequest, change: _Change) -> None:
        await self._bank.open(call.access_token, "PLAID", request)
        if not await change(tokens.digest(call.access_token), "PLAID", ids.first_live_key(request.now)):
            raise UnknownSecret

    async def _get_accounts(self, call: AccountsRequest, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        accounts = _find_accounts(clock, call.options.account_ids)
        return {"accounts": [to_account(clock, account) for account in accounts], "item": self._item(clock)}

    async def _refresh(self, call: ItemRequest, request: BankRequest) -> Members:
        # The bank is always up to date.
        await self._open(call, request)
        return {}

    async def _get_institution(self, call: InstitutionRequest, request: BankRequest) -> Members:
        id = call.institution_id
        key = ids.read("ins", id[:40])
        name = None
        if key is not None and id == self._institution_id(key):
            name = await self._bank.find_institution(key, request)
        if name is None:
            raise PlaidError("INVALID_INSTITUTION", "invalid institution_id provided", "INVALID_INPUT")
        return {"institution": to_institution(id, name, call.country_codes)}

    async def _get_transactions(self, call: TransactionsRequest, request: BankRequest) -> Members:
        start, end = call.start_date, call.end_date
        if end < start:
            raise PlaidError("INVALID_FIELD", "end_date must not be before start_date")
        clock = await self._open(call, request)
        accounts = _find_accounts(clock, call.options.account_ids)
        view, state = clock.shown
        rows, wanted = view.rows, {account.key for account in accounts}
        found = [
            position
            for position in range(len(rows) - 1, -1, -1)
            if state.shows(rows[position])
            and start <= rows[position].content.at.date() <= end
            and rows[position].account.key in wanted
        ]
        found.sort(key=lambda position: rows[position].content.at, reverse=True)
        offset = call.options.offset or 0
        page = found[offset : offset + (call.options.count or 100)]
        return {
            "accounts": [to_account(clock, account) for account in accounts],
            "item": self._item(clock),
            "total_transactions": len(found),
            "transactions": await self._encode_rows(clock, page, described=call.options.include_original_description),
        }

    async def _sync(self, call: SyncRequest, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        account_id, now = call.options.account_id, clock.shown
        accounts = _find_accounts(clock, [account_id] if account_id else None)
        account = accounts[0].key if account_id else None

        def sign(payload: bytes) -> bytes:
            bound = b"%b\n%b\n%b" % (clock.connection.key, (account or "").encode(), payload)
            return self._services.mint.sign(b"cursor", bound)

        if call.cursor == "now":
            cursor: Cursor | None = Cursor(now.state, now.state)
        else:
            cursor = read_cursor(call.cursor or "", sign)
        if cursor is None:
            raise PlaidError("INVALID_FIELD", "cursor is not one of this item and account")
        page = read_page(await self._before(clock, cursor), now, cursor, call.count or 100, account)
        if page is None:
            message = "the underlying data changed during pagination; start again with the first cursor of the loop"
            raise PlaidError("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION", message, "TRANSACTIONS_ERROR")
        return {
            "accounts": [to_account(clock, account) for account in accounts],
            "added": await self._encode_rows(clock, page.added, described=call.options.include_original_description),
            "has_more": page.has_more,
            "modified": await self._encode_rows(
                clock, page.modified, described=call.options.include_original_description
            ),
            "next_cursor": write_cursor(page.next, sign),
            "removed": page.removed,
            "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE",
        }

    async def _before(self, clock: OpenClock, cursor: Cursor) -> Shown:
        """Return what the client has seen. The connection may have had other quirks then."""
        quirks = cursor.seen.quirks
        view = clock.view if quirks == clock.quirks.names else await self._bank.view_with(clock, quirks)
        return Shown(view, cursor.seen)

    async def _encode_rows(self, clock: OpenClock, positions: Sequence[int], *, described: bool | None) -> list[Raw]:
        if described:
            rows = clock.view.rows
            return [Raw(encode_row(rows[position], with_description=True)) for position in positions]
        return await self._bank.encode_rows(clock, positions, encode_row)

    async def _open(self, call: ItemRequest, request: BankRequest) -> OpenClock:
        """Open the clock for a call that reads data. Raise the error of a fault that holds."""
        clock = await self._bank.open(call.access_token, "PLAID", request)
        if clock.fault is not None:
            raise SimulatedFault(clock.fault.kind, request.path)
        return clock

    def _item(self, clock: OpenClock) -> Members:
        is_login_required = clock.fault and clock.fault.kind == "LOGIN_REQUIRED"
        error = SimulatedFault("LOGIN_REQUIRED", "").members if is_login_required else None
        connection = clock.connection
        institution = clock.clock.key if connection.has_clock_institution else connection.key
        return to_item(clock, self._institution_id(institution), error)

    def _institution_id(self, key: bytes) -> str:
        """Return an ID that leads to a connection or a clock, and can't be guessed."""
        return f"{ids.write('ins', key)}-{self._services.mint.sign(b'institution', key).hex()[:32]}"


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
