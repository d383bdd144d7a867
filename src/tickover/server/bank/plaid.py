"""Plaid's API for one clock, as its OpenAPI document describes it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from msgspec import Raw, json

from tickover.api import ids
from tickover.api.connections import BankProtocol
from tickover.api.errors import Reason, Rejection
from tickover.server import gate
from tickover.server.bank import made_up
from tickover.server.bank.bank_service import Bank, BankRequest, OpenClock, UnknownSecret
from tickover.server.bank.link_files import is_link_file, link_file
from tickover.server.bank.plaid_objects import (
    Members,
    PlaidError,
    SimulatedFault,
    check_webhook,
    encode_row,
    has_numbers,
    institution_id,
    invalid_keys,
    read_institution_id,
    to_account,
    to_auth_numbers,
    to_institution,
    to_item,
    to_owner,
    unsupported,
)
from tickover.server.bank.plaid_owners import PlaidOwners
from tickover.server.bank.plaid_requests import (
    AccountsRequest,
    Body,
    ExchangeRequest,
    FireWebhookRequest,
    InstitutionRequest,
    InstitutionsRequest,
    ItemRequest,
    LinkConnectRequest,
    LinkRequest,
    LinkTokenRequest,
    NewLinkTokenRequest,
    NewPublicTokenRequest,
    SearchRequest,
    SyncRequest,
    TransactionsRequest,
    UpdateWebhookRequest,
    VerificationKeyRequest,
    decoder_of,
    read_request,
)
from tickover.server.bank.sync import START, Cursor, read_cursor, read_page, write_cursor
from tickover.server.bank.webhooks import WebhookCaller, body_to_fire
from tickover.server.http1.http_messages import SAFE_HEADERS, Header, Response
from tickover.server.schedule.bank_changes import Shown
from tickover.server.schedule.bank_rows import BankAccount
from tickover.server.sign_in import tokens

_HEADERS: Final = ((b"content-type", b"application/json"), *SAFE_HEADERS)
_encode: Final = json.Encoder().encode
_Body = TypeVar("_Body", bound=Body)
_Change = Callable[[bytes, BankProtocol, bytes], Awaitable[bool]]
"""A method of the store that returns whether there was such a connection."""


UNSUPPORTED: Final = {
    "/investments/holdings/get": "investments",
    "/investments/transactions/get": "investments",
    "/investments/refresh": "investments",
    "/liabilities/get": "liabilities",
    "/statements/list": "statements",
    "/statements/download": "statements",
    "/statements/refresh": "statements",
    "/asset_report/create": "assets",
    "/credit/bank_income/get": "income",
    "/credit/payroll_income/get": "income",
}
"""The products of endpoints about what a clock doesn't have."""


class Endpoint(NamedTuple):
    decode: Callable[[bytes], Body]
    run: Callable[[Any, BankRequest], Awaitable[Members]]


async def _to_accounts(clock: OpenClock, accounts: Sequence[BankAccount]) -> list[Mapping[str, Any]]:
    """Return the accounts as JSON. Other calls run in between."""
    found = []
    for account in accounts:
        found.append(to_account(clock, account))
        await gate.pause()
    return found


def endpoint(type: type[_Body], run: Callable[[_Body, BankRequest], Awaitable[Members]]) -> Endpoint:
    return Endpoint(decoder_of(type), run)


class Plaid:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._services = bank.services
        owners = PlaidOwners(bank)
        self._webhooks = WebhookCaller(bank)
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
            "/sandbox/item/fire_webhook": endpoint(FireWebhookRequest, self._fire_webhook),
            "/item/webhook/update": endpoint(UpdateWebhookRequest, self._update_webhook),
            "/webhook_verification_key/get": endpoint(VerificationKeyRequest, self._get_verification_key),
            "/auth/get": endpoint(AccountsRequest, self._get_auth),
            "/identity/get": endpoint(AccountsRequest, self._get_identity),
            "/institutions/get": endpoint(InstitutionsRequest, owners.get_institutions),
            "/institutions/search": endpoint(SearchRequest, owners.search_institutions),
            "/sandbox/public_token/create": endpoint(NewPublicTokenRequest, owners.create_public_token),
            "/link/token/create": endpoint(NewLinkTokenRequest, owners.create_link_token),
            "/link/token/get": endpoint(LinkTokenRequest, owners.get_link_token),
            **{path: endpoint(ItemRequest, self._reject_product) for path in UNSUPPORTED},
        }
        # Not for apps, so errors don't name them.
        self._link = {
            "/link/session/get": endpoint(LinkRequest, owners.get_session),
            "/link/session/accounts": endpoint(LinkConnectRequest, owners.get_session_accounts),
            "/link/session/connect": endpoint(LinkConnectRequest, owners.connect),
        }

    def route(self, path: str) -> str | None:
        if path in UNSUPPORTED:
            return "/unsupported"
        return "/link" if is_link_file(path) else path if self._find(path) else None

    def _find(self, path: str) -> Endpoint | None:
        return self._endpoints.get(path) or self._link.get(path)

    async def run(self, request: BankRequest) -> Response:
        if request.http.method in ("GET", "HEAD") and is_link_file(request.path):
            return link_file(request.path)
        found = self._find(request.path)
        if found is None or request.http.method != "POST":
            endpoints = ", ".join(path for path in self._endpoints if path not in UNSUPPORTED)
            message = f"not found. Send POST requests to one of these endpoints: {endpoints}"
            raise PlaidError("NOT_FOUND", message)
        call = read_request(request.http, found.decode)
        try:
            members = await found.run(call, request)
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
            case Rejection(reason=Reason.UNAUTHENTICATED):
                found = invalid_keys()
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

    def outcome(self, response: Response) -> str:
        """Return the status of a response, or its error code."""
        status, _, body = response
        return "200" if status == 200 else str(json.decode(body)["error_code"])

    async def _exchange(self, call: ExchangeRequest, request: BankRequest) -> Members:
        access_token = f"access-sandbox-{self._services.mint.new_secret()}"
        try:
            key = await self._bank.claim(call.public_token, access_token, "PLAID", request)
        except UnknownSecret:
            message = "provided public token is invalid, or was already exchanged"
            raise PlaidError("INVALID_PUBLIC_TOKEN", message, "INVALID_INPUT") from None
        self._services.webhook_changed()
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

    async def _update_webhook(self, call: UpdateWebhookRequest, request: BankRequest) -> Members:
        url = check_webhook(call.webhook, self._services.settings.webhook_hosts) if call.webhook else None

        async def update(digest: bytes, protocol: BankProtocol, min_live_key: bytes) -> bool:
            return await self._services.store.update_webhook(digest, protocol, min_live_key, url)

        await self._change_item(call, request, update)
        self._services.webhook_changed()
        return {"item": self._item(await self._bank.open(call.access_token, "PLAID", request))}

    async def _fire_webhook(self, call: FireWebhookRequest, request: BankRequest) -> Members:
        clock = await self._bank.open(call.access_token, "PLAID", request)
        body, webhook = body_to_fire(clock, call.webhook_type, call.webhook_code), clock.connection.webhook
        if webhook is None or body is None:
            message = "the item has no webhook, or the webhook can't be fired"
            raise PlaidError("SANDBOX_WEBHOOK_INVALID", message, "SANDBOX_ERROR")
        if not self._webhooks.fire(webhook.url, body, clock.owner, request.now):
            message = "too many webhooks are being called; try again"
            raise PlaidError("RATE_LIMIT", message, "RATE_LIMIT_EXCEEDED", 429)
        return {"webhook_fired": True}

    async def _get_verification_key(self, call: VerificationKeyRequest, _: BankRequest) -> Members:
        if call.key_id != self._webhooks.signer.key_id:
            raise PlaidError("INVALID_WEBHOOK_VERIFICATION_KEY_ID", "key_id is not a key of this bank", "INVALID_INPUT")
        return {"key": self._webhooks.signer.public_key}

    async def _change_item(self, call: ItemRequest, request: BankRequest, change: _Change) -> None:
        clock = await self._bank.open(call.access_token, "PLAID", request)
        if not await change(tokens.digest(call.access_token), "PLAID", ids.first_live_key(request.now)):
            raise UnknownSecret
        self._services.clock_changed(clock.clock.key)

    async def _get_accounts(self, call: AccountsRequest, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        accounts = _find_accounts(clock, call.options.account_ids)
        await self._count(clock, request)
        return {"accounts": await _to_accounts(clock, accounts), "item": self._item(clock)}

    async def _refresh(self, call: ItemRequest, request: BankRequest) -> Members:
        # The bank is always up to date.
        await self._count(await self._open(call, request), request)
        return {}

    async def _get_institution(self, call: InstitutionRequest, request: BankRequest) -> Members:
        id = call.institution_id
        key = read_institution_id(self._services.mint, id)
        name = None if key is None else await self._bank.find_institution(key, request)
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
            for position in reversed(view.shown(state))
            if start <= rows[position].content.at.date() <= end and rows[position].account.key in wanted
        ]
        found.sort(key=lambda position: rows[position].content.at, reverse=True)
        offset = call.options.offset or 0
        page = found[offset : offset + (call.options.count or 100)]
        request.opened.rows = len(page)
        await self._count(clock, request)
        return {
            "accounts": await _to_accounts(clock, accounts),
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
        await self._count(clock, request)
        request.opened.rows = len(page.added) + len(page.modified) + len(page.removed)
        return {
            "accounts": await _to_accounts(clock, accounts),
            "added": await self._encode_rows(clock, page.added, described=call.options.include_original_description),
            "has_more": page.has_more,
            "modified": await self._encode_rows(
                clock, page.modified, described=call.options.include_original_description
            ),
            "next_cursor": write_cursor(page.next, sign),
            "removed": page.removed,
            "transactions_update_status": "HISTORICAL_UPDATE_COMPLETE",
        }

    async def _count(self, clock: OpenClock, request: BankRequest) -> None:
        """Count a call that nothing else refuses. Raise the error of the bank's limit."""
        if not await self._bank.count_call(clock, request):
            raise SimulatedFault("RATE_LIMITED", request.path)

    async def _before(self, clock: OpenClock, cursor: Cursor) -> Shown:
        """Return what the client has seen. The connection may have had other quirks then."""
        quirks = cursor.seen.quirks
        has_same_rows = quirks == clock.quirks.names or cursor.seen == START
        view = clock.view if has_same_rows else await self._bank.view_with(clock, quirks)
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

    async def _get_auth(self, call: AccountsRequest, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        accounts = [each for each in _find_accounts(clock, call.options.account_ids) if has_numbers(each)]
        if not accounts:
            message = "there are no valid checking or savings account(s) associated with this Item"
            raise PlaidError("NO_AUTH_ACCOUNTS", message, "ITEM_ERROR")
        await self._count(clock, request)
        return {
            "accounts": await _to_accounts(clock, accounts),
            "item": self._item(clock),
            "numbers": to_auth_numbers(clock.clock, accounts),
        }

    async def _get_identity(self, call: AccountsRequest, request: BankRequest) -> Members:
        clock = await self._open(call, request)
        owner = to_owner(made_up.Owner(clock.clock.key))
        accounts = _find_accounts(clock, call.options.account_ids)
        await self._count(clock, request)
        return {
            "accounts": [{**to_account(clock, account), "owners": [owner]} for account in accounts],
            "item": self._item(clock),
        }

    async def _reject_product(self, call: ItemRequest, request: BankRequest) -> Members:
        await self._open(call, request)
        raise unsupported(UNSUPPORTED[request.path])

    def _item(self, clock: OpenClock) -> Members:
        is_login_required = clock.fault and clock.fault.kind == "LOGIN_REQUIRED"
        error = SimulatedFault("LOGIN_REQUIRED", "").members if is_login_required else None
        return to_item(clock, institution_id(self._services.mint, clock.institution_key), error)


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
