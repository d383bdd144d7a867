"""The objects and errors in responses of Plaid. Money that goes out is positive."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from zlib import crc32

from msgspec import json

from tickover.api import ids
from tickover.api.connections import BankFaultKind
from tickover.api.fields import AccountType
from tickover.server.bank import made_up
from tickover.server.bank.bank_service import BankError, OpenClock
from tickover.server.schedule.bank_rows import BankAccount, Row
from tickover.server.schedule.clock import Clock
from tickover.server.schedule.ledger import fraction_to_number
from tickover.server.sign_in.tokens import Mint
from tickover.server.webhook_calls import find_problem

_encode: Final = json.Encoder().encode

Members = Mapping[str, Any]
"""The members of a response, without `request_id`."""
_PRODUCTS: Final = ["auth", "identity", "transactions"]
_TYPES: Final[Mapping[AccountType, tuple[str, str]]] = {
    "CHECKING": ("depository", "checking"),
    "SAVINGS": ("depository", "savings"),
    "CASH": ("depository", "cash management"),
    "CREDIT_CARD": ("credit", "credit card"),
    "LOAN": ("loan", "loan"),
}
_LOCATION: Final = ("address", "city", "region", "postal_code", "country", "lat", "lon", "store_number")
_PAYMENT_META: Final = (
    "reference_number", "ppd_id", "payee", "by_order_of", "payer", "payment_method", "payment_processor", "reason",
)  # fmt: skip
_UNUSED: Final = (
    "account_owner", "category_id", "check_number", "logo_url", "merchant_entity_id", "unofficial_currency_code",
    "website",
)  # fmt: skip
_CHANNELS: Final = "in store", "online"
_CREDIT_LIMIT: Final = 5000
_CONSTANTS: Final = _encode(
    {
        **dict.fromkeys(_UNUSED),
        "counterparties": [],
        "location": dict.fromkeys(_LOCATION),
        "payment_meta": dict.fromkeys(_PAYMENT_META),
        "transaction_type": "unresolved",
    }
).rstrip(b"}")
"""The members that all transactions have. Encoding them once is much faster."""


def encode_row(row: Row, *, with_description: bool = False) -> bytes:
    account, content = row.account, row.content
    is_payment = content.amount < 0 and not row.source.is_transfer
    transaction = {
        "account_id": account.id,
        "amount": -content.amount,
        "authorized_date": content.authorized_at.date(),
        "authorized_datetime": content.authorized_at,
        "category": [content.category] if content.category else None,
        "date": content.at.date(),
        "datetime": content.at,
        "iso_currency_code": account.currency,
        "merchant_name": content.name if is_payment else None,
        "name": content.name,
        "original_description": content.name if with_description else None,
        # The same for all payments to a merchant.
        "payment_channel": _CHANNELS[crc32(content.name.encode()) % 2] if is_payment else "other",
        "pending": content.is_pending,
        "pending_transaction_id": content.pending_id,
        "personal_finance_category": _personal_finance_category(row),
        "transaction_code": "transfer" if row.source.is_transfer else None,
        "transaction_id": row.id,
    }
    return b"%b,%b" % (_CONSTANTS, _encode(transaction)[1:])


def _personal_finance_category(row: Row) -> Mapping[str, Any]:
    """Return the clock's category as it is. Plaid always has one, so apps read its members without a check."""
    is_income = row.content.amount > 0
    if row.content.category:
        primary = detailed = row.content.category
    elif row.source.is_transfer:
        primary = "TRANSFER_IN" if is_income else "TRANSFER_OUT"
        detailed = f"{primary}_ACCOUNT_TRANSFER"
    else:
        primary, detailed = ("INCOME", "INCOME_OTHER") if is_income else ("OTHER", "OTHER_OTHER")
    return {"confidence_level": "VERY_HIGH", "detailed": detailed, "primary": primary}


def to_account(clock: OpenClock, account: BankAccount) -> Mapping[str, Any]:
    type, subtype = _TYPES[account.type]
    balance, available = account.balance(clock.at), None
    if type in ("credit", "loan"):
        balance = -balance
    else:
        available = fraction_to_number(clock.view.available(account, clock.at))
    return {
        "account_id": account.id,
        "balances": {
            "available": available,
            "current": fraction_to_number(balance),
            "iso_currency_code": account.currency,
            "limit": _CREDIT_LIMIT if type == "credit" else None,
            "unofficial_currency_code": None,
        },
        # Most apps show it, and some need it.
        "mask": made_up.mask(_number_seed(clock.clock, account)),
        "name": account.name,
        "official_name": None,
        "subtype": subtype,
        "type": type,
    }


def check_webhook(url: str, allowed_hosts: Sequence[str]) -> str:
    """Return the URL of a webhook. Raise INVALID_FIELD if the server may not call it."""
    problem = find_problem(url, allowed_hosts)
    if problem:
        raise PlaidError("INVALID_FIELD", f"webhook {problem}")
    return url


def to_item(clock: OpenClock, institution_id: str, error: Mapping[str, Any] | None) -> Mapping[str, Any]:
    connection = clock.connection
    return {
        "available_products": ["balance"],
        "billed_products": _PRODUCTS,
        "consent_expiration_time": clock.consent_ends,
        "created_at": clock.connected_at,
        "error": error,
        "institution_id": institution_id,
        "institution_name": connection.institution,
        "item_id": ids.write("conn", connection.key),
        "products": _PRODUCTS,
        "update_type": "background",
        "webhook": connection.webhook and connection.webhook.url,
    }


def to_institution(id: str, name: str, country_codes: Sequence[str]) -> Mapping[str, Any]:
    return {
        # The Python library needs it, although the document doesn't have it.
        "connection_availability": "SUPPORTED",
        "country_codes": list(dict.fromkeys(country_codes)),
        "institution_id": id,
        "name": name,
        "oauth": False,
        "products": ["balance", *_PRODUCTS],
        "routing_numbers": [],
    }


def institution_id(mint: Mint, key: bytes) -> str:
    """Return an ID that leads to a connection or a clock, and can't be guessed."""
    return f"{ids.write('ins', key)}-{mint.sign(b'institution', key).hex()[:32]}"


def read_institution_id(mint: Mint, id: str) -> bytes | None:
    """Return the key of an institution, or None if the ID is invalid."""
    key = ids.read("ins", id[:40])
    return key if key is not None and id == institution_id(mint, key) else None


def to_link_account(clock: Clock, account: BankAccount) -> Members:
    """Return an account as Link has it."""
    type, subtype = _TYPES[account.type]
    return {
        "id": account.id,
        "name": account.name,
        "mask": made_up.mask(_number_seed(clock, account)),
        "type": type,
        "subtype": subtype,
        "verification_status": None,
        "class_type": None,
    }


def has_numbers(account: BankAccount) -> bool:
    return _TYPES[account.type][0] == "depository"


def _number_seed(clock: Clock, account: BankAccount) -> str:
    """Return what identifies the account, whatever the ID that a connection has for it."""
    return f"{clock.key.hex()} {account.key}"


def to_auth_numbers(clock: Clock, accounts: Sequence[BankAccount]) -> Members:
    """Return made-up numbers of the accounts, in the form that is usual for their currency."""
    numbers: dict[str, list[Members]] = {"ach": [], "eft": [], "international": [], "bacs": []}
    for account in accounts:
        seed = _number_seed(clock, account)
        found: Members
        match account.currency:
            case "USD":
                kind, routing = "ach", made_up.ROUTING_NUMBER
                found = {"account": made_up.account_number(seed, 12), "routing": routing, "wire_routing": routing}
            case "CAD":
                kind, found = (
                    "eft",
                    {"account": made_up.account_number(seed, 12), "institution": "999", "branch": "99999"},
                )
            case "GBP":
                kind, found = "bacs", {"account": made_up.account_number(seed, 8), "sort_code": made_up.sort_code(seed)}
            case _:
                kind, found = "international", {"iban": made_up.iban(seed), "bic": made_up.BIC}
        numbers[kind].append({"account_id": account.id, **found})
    return numbers


def to_owner(owner: made_up.Owner) -> Members:
    address = {"street": owner.street, "city": "Springfield", "region": None, "postal_code": "00000", "country": "US"}
    return {
        "names": [owner.name],
        "emails": [{"data": owner.email, "primary": True, "type": "primary"}],
        "phone_numbers": [{"data": owner.phone, "primary": True, "type": "mobile"}],
        "addresses": [{"data": address, "primary": True}],
    }


_LIMIT_CODES: Final = {
    "/item/get": "ITEM_GET_LIMIT",
    "/accounts/get": "ACCOUNTS_LIMIT",
    "/accounts/balance/get": "BALANCE_LIMIT",
    "/transactions/get": "TRANSACTIONS_LIMIT",
    "/transactions/sync": "TRANSACTIONS_SYNC_LIMIT",
    "/transactions/refresh": "TRANSACTIONS_REFRESH_LIMIT",
    "/institutions/get_by_id": "INSTITUTIONS_GET_BY_ID_LIMIT",
    "/auth/get": "AUTH_LIMIT",
    "/identity/get": "IDENTITY_LIMIT",
}


class PlaidError(BankError):
    """An error that a response has. `display` is for the user of the app."""

    def __init__(
        self, code: str, message: str, type: str = "INVALID_REQUEST", status: int = 400, display: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.members = {
            "display_message": display,
            "documentation_url": f"https://plaid.com/docs/errors/{type.lower().replace('_', '-')}/#{code.lower()}",
            "error_code": code,
            "error_message": message,
            "error_type": type,
            "suggested_action": None,
        }


def unsupported(*products: str) -> PlaidError:
    message = f"a clock doesn't have these products: {', '.join(products)}"
    return PlaidError("PRODUCTS_NOT_SUPPORTED", message, "ITEM_ERROR")


def invalid_keys() -> PlaidError:
    message = "invalid client_id or secret provided; the secret must be a Tickover access token (tka_…) that can write"
    return PlaidError("INVALID_API_KEYS", message, "INVALID_INPUT")


class SimulatedFault(PlaidError):
    """The error of a fault of the bank. The call has succeeded: the clock's owner asked for it."""

    def __init__(self, fault: BankFaultKind, endpoint: str) -> None:
        match fault:
            case "LOGIN_REQUIRED":
                message = (
                    "the login details of this item have changed and a user login is required to update this "
                    "information"
                )
                display = "The login of this bank has changed. Sign in to the bank again."
                super().__init__("ITEM_LOGIN_REQUIRED", message, "ITEM_ERROR", display=display)
            case "RATE_LIMITED":
                message = f"rate limit exceeded for attempts to access {endpoint}"
                super().__init__(_LIMIT_CODES.get(endpoint, "RATE_LIMIT"), message, "RATE_LIMIT_EXCEEDED", 429)
            case "INSTITUTION_DOWN":
                display = "This bank is not responding. Try again later."
                message = "this institution is not currently responding to requests"
                super().__init__("INSTITUTION_DOWN", message, "INSTITUTION_ERROR", display=display)
            case "INTERNAL_ERROR":
                super().__init__("INTERNAL_SERVER_ERROR", "an unexpected error occurred", "API_ERROR", 500)
