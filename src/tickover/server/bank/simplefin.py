"""The SimpleFIN protocol for one clock, in versions 1 and 2."""

import re
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from math import floor
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Raw, Struct, json
from msgspec.structs import replace

from tickover.api import ids
from tickover.api.errors import Reason, Rejection
from tickover.api.timestamps import Instant
from tickover.server.bank.bank_service import Bank, BankError, BankRequest, OpenClock, UnknownSecret
from tickover.server.http1.http_messages import SAFE_HEADERS, Header, Response
from tickover.server.rpc.reasons import REASONS
from tickover.server.schedule.bank_rows import BankAccount, Row
from tickover.server.schedule.money import Amount

_JSON: Final = ((b"content-type", b"application/json"), *SAFE_HEADERS)
_TEXT: Final = ((b"content-type", b"text/plain; charset=utf-8"), *SAFE_HEADERS)
_CLAIM: Final = "/claim/"
_DATE: Final = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,9})?")
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_EXACT: Final = Context(prec=400, traps=[Inexact])
"""The smallest double has 324 decimal places."""
_encode: Final = json.Encoder().encode

_CREATE: Final = (
    "A setup token connects an app to a test clock. Create one with connectTestClock and the protocol SIMPLEFIN, "
    "or with the command `tickover clock connect --simplefin`, and paste it into the app.\n"
)
_FAULTS: Final = {
    # Apps such as Actual look for this message of the SimpleFIN Bridge.
    "LOGIN_REQUIRED": ("con.auth", "Connection to {} may need attention"),
    "INSTITUTION_DOWN": ("con.", "{} is not responding. Try again later."),
}
"""By kind: the code of version 2, and the message. The others are HTTP statuses."""


class SimplefinError(BankError):
    def __init__(self, status: int, message: str, *headers: Header) -> None:
        super().__init__(message)
        self.response: Response = (status, (*_TEXT, *headers), message.encode())


class _Query(Struct, frozen=True):
    version: str
    start: Instant
    end: Instant
    """Exclusive."""
    pending: bool
    accounts: Sequence[str]
    balances_only: bool


class Simplefin:
    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._url = f"{bank.services.settings.bank_url}/simplefin"

    def route(self, path: str) -> str | None:
        """Return the path without the secret of a setup token, or None if nothing is there."""
        if path.startswith(_CLAIM):
            return "/claim"
        return path if path in ("/info", "/create", "/accounts") else None

    async def run(self, request: BankRequest) -> Response:
        if self.route(request.path) is None:
            raise SimplefinError(404, "Not found. Resources: /info, /create, /claim and /accounts.")
        methods = ("POST",) if request.path.startswith(_CLAIM) else ("GET", "HEAD")
        if request.http.method not in methods:
            raise SimplefinError(405, f"Use {methods[0]}.", (b"allow", methods[0].encode()))
        if request.http.body is None:
            raise SimplefinError(413, "The body is too large.")
        match request.path:
            case "/info":
                return 200, _JSON, _encode({"versions": ["1.0", "2.0"]})
            case "/create":
                return 200, _TEXT, _CREATE.encode()
            case "/accounts":
                return await self._accounts(request)
        return await self._claim(request)

    def reject(self, request: BankRequest, error: Rejection) -> Response:
        match error:
            case SimplefinError():
                return error.response
            case UnknownSecret():
                # Apps such as Actual compare the whole body.
                return SimplefinError(403, "Forbidden").response
            case Rejection(reason=Reason.INTERNAL):
                return SimplefinError(500, "The server failed because of a bug.").response
            case _:
                seconds = error.details.get("retryAfterSeconds")
                headers = [] if seconds is None else [(b"retry-after", b"%d" % seconds)]
                return SimplefinError(REASONS[error.reason].http_status, str(error), *headers).response

    def outcome(self, response: Response) -> str:
        return str(response[0])

    async def _claim(self, request: BankRequest) -> Response:
        setup, password = request.path.removeprefix(_CLAIM), self._bank.services.mint.new_secret()
        key = await self._bank.claim(setup, password, "SIMPLEFIN", request)
        scheme, rest = self._url.split("://", 1)
        return 200, _TEXT, f"{scheme}://{ids.write('conn', key)}:{password}@{rest}".encode()

    async def _accounts(self, request: BankRequest) -> Response:
        user, password = _read_credentials(request.http.fields.get(b"authorization", b""))
        query = _read_query(request.http.query)
        clock = await self._bank.open(password, "SIMPLEFIN", request)
        if user != ids.write("conn", clock.connection.key):
            raise UnknownSecret
        match clock.fault and clock.fault.kind:
            case "RATE_LIMITED":
                return _too_many_requests()
            case "INTERNAL_ERROR":
                return SimplefinError(500, "The bank failed. Try again later.").response
        account_set = await self._account_set(clock, query)
        if clock.fault is None and not await self._bank.count_call(clock, request):
            return _too_many_requests()
        request.opened.rows = sum(len(account["transactions"]) for account in account_set["accounts"])
        return 200, _JSON, _encode(account_set)

    async def _account_set(self, clock: OpenClock, query: _Query) -> Mapping[str, Any]:
        connection, faults = clock.connection, []
        if clock.fault is not None:
            code, message = _FAULTS[clock.fault.kind]
            faults = [{"code": code, "msg": message.format(connection.institution)}]
            # What was there before the bank stopped responding.
            clock = replace(clock, at=clock.fault.from_)
        accounts = await self._find_accounts(clock, query)
        messages = [fault["msg"] for fault in faults]
        if query.version == "1":
            return {"errors": messages, "accounts": accounts}
        id = ids.write("conn", connection.key)
        errors = [{**fault, "conn_id": id} for fault in faults]
        connected = {
            "conn_id": id,
            "name": connection.institution,
            "org_id": id,
            "org_name": connection.institution,
            "org_url": self._bank.services.settings.bank_url,
            "sfin_url": self._url,
        }
        return {"errlist": errors, "errors": messages, "connections": [connected], "accounts": accounts}

    async def _find_accounts(self, clock: OpenClock, query: _Query) -> list[Mapping[str, Any]]:
        accounts = [
            account for account in clock.view.accounts.values() if not query.accounts or account.id in query.accounts
        ]
        rows: dict[str, list[Raw]] = {account.key: [] for account in accounts}
        if accounts and not query.balances_only:
            positions, view_rows = _find_rows(clock, query), clock.view.rows
            encoded = await self._bank.encode_rows(clock, positions, _encode_row)
            for position, piece in zip(positions, encoded, strict=True):
                if (found := rows.get(view_rows[position].account.key)) is not None:
                    found.append(piece)
        return [self._to_account(clock, account, rows[account.key], query) for account in accounts]

    def _to_account(
        self, clock: OpenClock, account: BankAccount, rows: Sequence[Raw], query: _Query
    ) -> Mapping[str, Any]:
        institution = clock.connection.institution
        org = {"domain": urlsplit(self._url).hostname, "sfin-url": self._url, "name": institution}
        owner = {"org": org} if query.version == "1" else {"conn_id": ids.write("conn", clock.connection.key)}
        return {
            **owner,
            "id": account.id,
            "name": account.name,
            "currency": account.currency,
            "balance": _write_sum(account.balance(clock.at)),
            "available-balance": _write_sum(clock.view.available(account, clock.at)),
            "balance-date": _to_unix(clock.at),
            "transactions": rows,
        }


def _too_many_requests() -> Response:
    return SimplefinError(429, "Too many requests. Try again later.").response


def _find_rows(clock: OpenClock, query: _Query) -> list[int]:
    """Return the positions of the rows that the bank shows and the query asks for, of all accounts."""
    rows = clock.view.rows
    shown = clock.view.shown(clock.shown.state)
    # A row is never shown before its date.
    first = bisect_left(shown, clock.view.begin_between(query.start, clock.at).start)
    return [
        position
        for position in shown[first:]
        if query.start <= (content := rows[position].content).at < query.end
        and (query.pending or not content.is_pending)
    ]


def _encode_row(row: Row) -> bytes:
    content = row.content
    members = {
        "id": row.id if content.has_id else "0",
        "posted": 0 if content.is_pending else _to_unix(content.at),
        "amount": _write_amount(content.amount),
        "description": content.name,
        "payee": content.name,
        "memo": content.category or "",
        "transacted_at": _to_unix(content.authorized_at),
    }
    return _encode({**members, "pending": True} if content.is_pending else members)


def _to_unix(at: Instant) -> int:
    # Rounds down, so that a query from the result on includes the instant.
    return floor(at.timestamp())


def _write_amount(amount: Amount) -> str:
    # Much faster for most amounts. Decimals of up to 15 digits are different floats.
    text = f"{amount:.2f}"
    return text if float(text) == amount else _write_decimal(Decimal(repr(amount)))


def _write_sum(amount: Fraction) -> str:
    """Return the decimal that is this sum."""
    return _write_decimal(_EXACT.divide(amount.numerator, amount.denominator))


def _write_decimal(amount: Decimal) -> str:
    """Return all decimal places, and at least two."""
    whole, _, places = format(amount, "f").partition(".")
    return f"{whole}.{places:0<2}"


def _read_query(query: bytes) -> _Query:
    try:
        given = parse_qs(query.decode("ascii"), keep_blank_values=True, max_num_fields=100)
        version = given.get("version", ["1"])[-1]
        if version not in ("1", "2"):
            raise SimplefinError(400, "version must be 1 or 2.")
        return _Query(
            version,
            _read_date(given.get("start-date", [""])[-1], _FIRST),
            _read_date(given.get("end-date", [""])[-1], _LAST),
            given.get("pending") == ["1"],
            given.get("account", []),
            given.get("balances-only") == ["1"],
        )
    except ValueError:
        raise SimplefinError(400, "The query is invalid. Dates are Unix timestamps, in seconds.") from None


def _read_date(text: str, default: Instant) -> Instant:
    """Return the instant of a Unix timestamp. Raise ValueError if it is invalid."""
    if not text:
        return default
    if not _DATE.fullmatch(text):
        raise ValueError
    return datetime.fromtimestamp(float(text), UTC)


def _read_credentials(authorization: bytes) -> tuple[str, str]:
    """Return the user and password of Basic authentication. Raise UnknownSecret if there are none."""
    scheme, _, credentials = authorization.strip().partition(b" ")
    if scheme.lower() != b"basic":
        raise UnknownSecret
    try:
        user, _, password = b64decode(credentials.strip(), validate=True).decode().partition(":")
    except ValueError:
        raise UnknownSecret from None
    return user, password
