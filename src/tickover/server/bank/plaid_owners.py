"""Plaid's endpoints about a user's clocks: institutions, public tokens, link tokens and what Link itself calls."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from msgspec import UNSET, Struct, json, structs

from tickover.api import ids
from tickover.api.connections import BankFault, BankSettings
from tickover.api.errors import Reason, Rejection
from tickover.api.limits import DEFAULT_INSTITUTION, MAX_INSTITUTION
from tickover.api.timestamps import Instant
from tickover.server import gate
from tickover.server.bank import plaid_objects
from tickover.server.bank.bank_service import Bank, BankRequest, UnknownSecret
from tickover.server.bank.plaid_objects import (
    Members,
    PlaidError,
    check_webhook,
    institution_id,
    invalid_keys,
    read_institution_id,
)
from tickover.server.bank.plaid_requests import (
    CountryCode,
    InstitutionsRequest,
    LinkConnectRequest,
    LinkRequest,
    LinkTokenRequest,
    NewLinkTokenRequest,
    NewPublicTokenRequest,
    OwnerRequest,
    SearchRequest,
    secret_of,
)
from tickover.server.operations.access import Caller
from tickover.server.operations.connect_test_clock import create_connection
from tickover.server.schedule.bank_rows import BankConnection
from tickover.server.schedule.clock import Clock, encode_label
from tickover.server.schedule.quirks import NO_QUIRKS, AppliedQuirks
from tickover.server.sign_in import tokens
from tickover.server.sign_in.tokens import Permission
from tickover.server.storage.store import StoredConnection, StoredLinkToken, StoredWebhook, TooManyLinkTokens

_LINK_TOKEN_LIFETIME: Final = timedelta(hours=4)
_UPDATE_LIFETIME: Final = timedelta(minutes=30)
_MAX_LINK_TOKENS: Final = 1_000
"""Live link tokens of one user."""
_CLOCKS_PER_READ: Final = 200
_MAX_FOUND: Final = 10
_CLOCKS_PER_PAGE: Final = 50
"""Clocks that Link shows at once."""
_PRODUCTS: Final = frozenset({"auth", "balance", "identity", "transactions"})


class LinkSettings(Struct, frozen=True):
    """What the app has asked for in /link/token/create."""

    client_name: str
    language: str
    country_codes: Sequence[CountryCode]
    products: Sequence[str]
    webhook: str | None
    redirect_uri: str | None


class _Session(Struct, frozen=True):
    """What a link token lets a page do."""

    caller: Caller
    stored: StoredLinkToken

    @property
    def settings(self) -> LinkSettings:
        return json.decode(self.stored.settings, type=LinkSettings)


class PlaidOwners:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._services = bank.services

    # With an access token of Tickover as the secret

    async def get_institutions(self, call: InstitutionsRequest, request: BankRequest) -> Members:
        caller, options = await self._authenticate(call, request), call.options
        page, total = [], 0
        if not (options.oauth or options.routing_numbers) and _PRODUCTS.issuperset(options.products or ()):
            async for clock in self._clocks(caller):
                if call.offset <= total < call.offset + call.count:
                    page.append(self._institution(clock, call.country_codes))
                total += 1
        return {"institutions": page, "total": total}

    async def search_institutions(self, call: SearchRequest, request: BankRequest) -> Members:
        caller, query = await self._authenticate(call, request), call.query.casefold()
        found = []
        if not call.options.oauth and _PRODUCTS.issuperset(call.products or ()):
            async for clock in self._clocks(caller):
                if query in _name(clock).casefold():
                    found.append(self._institution(clock, call.country_codes))
                # As many as Plaid returns.
                if len(found) == _MAX_FOUND:
                    break
        return {"institutions": found}

    async def create_public_token(self, call: NewPublicTokenRequest, request: BankRequest) -> Members:
        caller = await self._authenticate(call, request)
        _check_products(call.initial_products)
        webhook = self._read_webhook(call.options.webhook)
        clock = await self._choose_clock(call, caller)
        if clock is None:
            raise _invalid_institution("there is no clock; create one in Tickover")
        _, public_token = await self._connect(clock, caller, webhook)
        return {"public_token": public_token}

    async def create_link_token(self, call: NewLinkTokenRequest, request: BankRequest) -> Members:
        caller = await self._authenticate(call, request)
        if call.user is None and call.user_id is None:
            raise PlaidError("MISSING_FIELDS", "the following required fields are missing: user")
        _check_products(call.products or ())
        self._read_webhook(call.webhook)
        item_digest, lifetime = None, _LINK_TOKEN_LIFETIME
        if call.access_token is not None:
            await self._check_item(call.access_token, caller, request)
            item_digest, lifetime = tokens.digest(call.access_token), _UPDATE_LIFETIME
        elif not call.products:
            raise PlaidError("INVALID_FIELD", "must provide at least one product")
        countries = list(dict.fromkeys(call.country_codes))
        products = sorted({*(call.products or ())})
        settings = LinkSettings(call.client_name, call.language, countries, products, call.webhook, call.redirect_uri)
        expires_at = caller.now + lifetime
        new = StoredLinkToken(caller.now, expires_at, item_digest, json.encode(settings).decode())
        link_token = f"link-sandbox-{self._services.mint.new_secret()}"
        outcome = await self._services.store.create_link_token(
            new, tokens.digest(link_token), caller.token, _MAX_LINK_TOKENS
        )
        if isinstance(outcome, TooManyLinkTokens):
            message = f"you have {_MAX_LINK_TOKENS} link tokens, which is the limit; they end after four hours"
            raise PlaidError("RATE_LIMIT", message, "RATE_LIMIT_EXCEEDED", 429)
        return {"link_token": link_token, "expiration": expires_at}

    async def get_link_token(self, call: LinkTokenRequest, request: BankRequest) -> Members:
        caller = await self._authenticate(call, request)
        session = await self._open_session(call.link_token, request)
        if session.caller.token.user != caller.token.user:
            raise _invalid_link_token()
        settings = structs.asdict(session.settings)
        products = settings.pop("products")
        return {
            "link_token": call.link_token,
            "created_at": session.stored.created_at,
            "expiration": session.stored.expires_at,
            "metadata": {**settings, "initial_products": products},
        }

    async def _authenticate(self, call: OwnerRequest, request: BankRequest) -> Caller:
        """Return the user whose access token is the secret. Raise INVALID_API_KEYS if it isn't one that may write."""
        digest = tokens.digest(secret_of(call, request.http))
        try:
            caller = await self._services.access.look_up(digest, Caller(request.now, request.network))
        except Rejection as rejection:
            if rejection.reason is not Reason.UNAUTHENTICATED:
                raise
            raise invalid_keys() from None
        if caller.token.permission is not Permission.WRITE:
            raise invalid_keys()
        return caller

    async def _clocks(self, caller: Caller) -> AsyncIterator[Clock]:
        """Yield the live clocks of a user, newest first."""
        before, min_live_key = None, ids.first_live_key(caller.now)
        while True:
            page = await self._services.store.list_clocks(caller.token, min_live_key, before, _CLOCKS_PER_READ)
            for clock in page:
                yield clock
            if len(page) < _CLOCKS_PER_READ:
                return
            before = page[-1].key
            await gate.pause()

    async def _choose_clock(self, call: NewPublicTokenRequest, caller: Caller) -> Clock | None:
        """Return the clock that the request means most likely."""
        username, id = call.options.override_username, call.institution_id
        key = ids.read("clock", username or "")
        institution = read_institution_id(self._services.mint, id)
        label = encode_label("institution", id)
        rules: tuple[Callable[[Clock], bool], ...] = (
            lambda clock: clock.key == key,
            lambda clock: username is not None and clock.name == username,
            lambda clock: clock.key == institution,
            lambda clock: label in (clock.labels or ""),
            lambda _: True,
        )
        best, found = len(rules), None
        async for clock in self._clocks(caller):
            # The first of equal ones is the newest.
            rank = next(rank for rank, applies in enumerate(rules) if applies(clock))
            if rank < best:
                best, found = rank, clock
            if best == 0:
                break
        return found

    async def _check_item(self, access_token: str, caller: Caller, request: BankRequest) -> None:
        """Raise INVALID_ACCESS_TOKEN unless it is one of an item of this user."""
        found = await self._bank.open(access_token, "PLAID", request)
        # What follows counts for the user whose secret it is.
        gate.identify(caller.token.user)
        if found.owner != caller.token.user:
            raise UnknownSecret

    # What Link calls, with a link token

    async def get_session(self, call: LinkRequest, request: BankRequest) -> Members:
        """Return the institutions of the user, or the accounts of the item to repair."""
        session = await self._open_session(call.link_token, request)
        members: dict[str, Any] = {"client_name": session.settings.client_name}
        if session.stored.item_digest is not None:
            return {**members, "item": await self._describe_item(session.stored.item_digest, request)}
        institutions: list[Members] = []
        skipped, has_more = 0, False
        async for clock in self._clocks(session.caller):
            if skipped < call.offset:
                skipped += 1
            elif has_more := len(institutions) == _CLOCKS_PER_PAGE:
                break
            else:
                institutions.append({**self._summary(clock), "time": clock.frozen_time})
        return {**members, "institutions": institutions, "has_more": has_more}

    async def get_session_accounts(self, call: LinkConnectRequest, request: BankRequest) -> Members:
        """Return the accounts of an institution."""
        session = await self._open_session(call.link_token, request)
        if session.stored.item_digest is not None:
            raise _invalid_institution("this link_token is for one item")
        return await self._describe(await self._find_clock(call, session), session.caller)

    async def connect(self, call: LinkConnectRequest, request: BankRequest) -> Members:
        """Connect a clock, or repair the item of a link token in update mode."""
        session = await self._open_session(call.link_token, request)
        digest = session.stored.item_digest
        if digest is not None:
            return await self._repair(digest, session.caller, request)
        clock = await self._find_clock(call, session)
        webhook = self._read_webhook(session.settings.webhook)
        connection, public_token = await self._connect(clock, session.caller, webhook)
        quirks = AppliedQuirks.of(connection.settings.quirks or (), BankConnection(connection.key, clock.frozen_time))
        return {**await self._describe(clock, session.caller, quirks), "public_token": public_token}

    async def _open_session(self, link_token: str, request: BankRequest) -> _Session:
        found = await self._services.store.find_link_token(tokens.digest(link_token), request.now)
        if found is None:
            raise _invalid_link_token()
        stored, token = found
        gate.identify(token.user)
        return _Session(Caller(request.now, request.network, token), stored)

    async def _find_clock(self, call: LinkConnectRequest, session: _Session) -> Clock:
        """Return the clock that is the institution. It must be one of this user."""
        key = read_institution_id(self._services.mint, call.institution_id or "")
        try:
            clock, _ = await self._services.clocks.find(ids.write("clock", key or bytes(16)), session.caller)
        except Rejection as rejection:
            if rejection.reason not in (Reason.CLOCK_NOT_FOUND, Reason.CLOCK_EXPIRED):
                raise
            raise _invalid_institution("invalid institution_id provided") from None
        return clock

    async def _describe(self, clock: Clock, caller: Caller, quirks: AppliedQuirks = NO_QUIRKS) -> dict[str, Any]:
        """Return a clock's institution and accounts as Link has them."""
        clock, schedule = await self._services.clocks.find(ids.write("clock", clock.key), caller)
        view = await self._services.ledgers.bank_view(clock, schedule, quirks)
        accounts = [plaid_objects.to_link_account(clock, account) for account in view.accounts.values()]
        return {"institution": self._summary(clock), "accounts": accounts}

    async def _describe_item(self, digest: bytes, request: BankRequest) -> dict[str, Any]:
        opened = await self._bank.open_digest(digest, "PLAID", request)
        accounts = [plaid_objects.to_link_account(opened.clock, account) for account in opened.view.accounts.values()]
        id = institution_id(self._services.mint, opened.institution_key)
        return {"institution": {"institution_id": id, "name": opened.connection.institution}, "accounts": accounts}

    async def _repair(self, digest: bytes, caller: Caller, request: BankRequest) -> Members:
        described = await self._describe_item(digest, request)
        public_token = f"public-sandbox-{self._services.mint.new_secret()}"
        repaired = await self._services.store.repair_login(
            digest, tokens.digest(public_token), caller.token, ids.first_live_key(caller.now), end_login_faults
        )
        if not repaired:
            raise UnknownSecret
        return {**described, "public_token": public_token}

    def _read_webhook(self, url: str | None) -> StoredWebhook | None:
        return None if not url else StoredWebhook(check_webhook(url, self._services.settings.webhook_hosts))

    async def _connect(
        self, clock: Clock, caller: Caller, webhook: StoredWebhook | None
    ) -> tuple[StoredConnection, str]:
        """Connect a clock as its defaults say. Return the connection and its public token."""
        public_token = f"public-sandbox-{self._services.mint.new_secret()}"
        key = self._services.mint.new_key(caller.now)
        try:
            _, schedule = await self._services.clocks.find(ids.write("clock", clock.key), caller)
            settings = _plaid_settings(schedule.bank_defaults or BankSettings())
            new = StoredConnection(
                key, "PLAID", _name(clock), caller.now, settings, has_clock_institution=True, webhook=webhook
            )
            await create_connection(new, public_token, clock.key, caller, self._services)
        except Rejection as rejection:
            match rejection.reason:
                case Reason.RATE_LIMITED:
                    raise PlaidError("ADDITION_LIMIT", str(rejection), "RATE_LIMIT_EXCEEDED", 429) from None
                case Reason.CLOCK_NOT_FOUND | Reason.CLOCK_EXPIRED:
                    raise _invalid_institution("the clock of this institution was deleted") from None
            raise
        return new, public_token

    def _summary(self, clock: Clock) -> dict[str, Any]:
        return {"institution_id": institution_id(self._services.mint, clock.key), "name": _name(clock)}

    def _institution(self, clock: Clock, country_codes: Sequence[CountryCode]) -> Members:
        id = institution_id(self._services.mint, clock.key)
        return plaid_objects.to_institution(id, _name(clock), country_codes)


def end_login_faults(settings: BankSettings, at: Instant) -> BankSettings:
    """Return the settings of a connection after a login at this instant."""
    if settings.bank_faults is UNSET:
        return settings
    kept: list[BankFault] = []
    for fault in settings.bank_faults:
        if fault.kind != "LOGIN_REQUIRED" or not fault.holds(at):
            kept.append(fault)
        elif fault.from_ < at:
            kept.append(structs.replace(fault, until=at))
    return structs.replace(settings, bank_faults=kept)


def _plaid_settings(defaults: BankSettings) -> BankSettings:
    """Leave out what Plaid doesn't have: rows without IDs."""
    if not defaults.quirks:
        return defaults
    return structs.replace(defaults, quirks=[quirk for quirk in defaults.quirks if quirk != "NO_IDS"])


def _name(clock: Clock) -> str:
    return (clock.name or DEFAULT_INSTITUTION)[:MAX_INSTITUTION]


def _check_products(products: Sequence[str]) -> None:
    if "balance" in products:
        raise PlaidError("INVALID_FIELD", "balance is not a valid product here; every item has it")
    missing = sorted({*products} - _PRODUCTS)
    if missing:
        raise plaid_objects.unsupported(*missing)


def _invalid_institution(message: str) -> PlaidError:
    return PlaidError("INVALID_INSTITUTION", message, "INVALID_INPUT")


def _invalid_link_token() -> PlaidError:
    display = "This link is no longer valid. Go back to the app and try again."
    message = "invalid link_token provided; it may have expired"
    return PlaidError("INVALID_LINK_TOKEN", message, "INVALID_INPUT", display=display)
