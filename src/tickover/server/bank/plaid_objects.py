"""The objects in responses of Plaid. Money that goes out is positive."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from zlib import crc32

from msgspec import Raw, Struct, json

from tickover.api import ids
from tickover.api.fields import AccountType
from tickover.api.timestamps import Instant
from tickover.server.bank.bank import OpenClock
from tickover.server.schedule.bank_view import BankAccount, Row
from tickover.server.schedule.ledger import fraction_to_number
from tickover.server.schedule.money import Amount
from tickover.server.storage.store import StoredConnection

_encode: Final = json.Encoder().encode

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


class _Transaction(Struct, frozen=True, kw_only=True, gc=False):
    account_id: str
    account_owner: None = None
    amount: Amount
    authorized_date: date
    authorized_datetime: Instant
    category: list[str] | None
    category_id: None = None
    check_number: None = None
    counterparties: list[Any] = []
    date: date
    datetime: Instant
    iso_currency_code: str
    location: Raw = Raw(_encode(dict.fromkeys(_LOCATION)))
    logo_url: None = None
    merchant_entity_id: None = None
    merchant_name: None = None
    name: str
    original_description: str | None = None
    payment_channel: str = "other"
    payment_meta: Raw = Raw(_encode(dict.fromkeys(_PAYMENT_META)))
    pending: bool
    pending_transaction_id: str | None
    personal_finance_category: Mapping[str, Any]
    transaction_code: str | None = None
    transaction_id: str
    transaction_type: str = "unresolved"
    unofficial_currency_code: None = None
    website: None = None


def encode_row(row: Row, *, with_description: bool = False) -> bytes:
    transaction = _Transaction(
        account_id=row.account.id,
        amount=-row.amount,
        authorized_date=row.authorized_at.date(),
        authorized_datetime=row.authorized_at,
        category=[row.category] if row.category else None,
        date=row.at.date(),
        datetime=row.at,
        iso_currency_code=row.account.currency,
        name=row.name,
        original_description=row.name if with_description else None,
        pending=row.is_pending,
        pending_transaction_id=row.pending_id,
        personal_finance_category=_personal_finance_category(row),
        transaction_code="transfer" if row.transfer else None,
        transaction_id=row.id,
    )
    return _encode(transaction)


def _personal_finance_category(row: Row) -> Mapping[str, Any]:
    """Return the clock's category as it is. Plaid always has one, so apps read its members without a check."""
    if row.category:
        primary = detailed = row.category
    elif row.transfer:
        primary = "TRANSFER_IN" if row.amount > 0 else "TRANSFER_OUT"
        detailed = f"{primary}_ACCOUNT_TRANSFER"
    else:
        primary, detailed = ("INCOME", "INCOME_OTHER") if row.amount > 0 else ("OTHER", "OTHER_OTHER")
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
            "limit": None,
            "unofficial_currency_code": None,
        },
        # Most apps show it, and some need it.
        "mask": f"{crc32(account.id.encode()) % 10_000:04}",
        "name": account.name,
        "official_name": None,
        "subtype": subtype,
        "type": type,
    }


def to_item(connection: StoredConnection, institution_id: str, error: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return {
        "available_products": ["balance"],
        "billed_products": ["transactions"],
        "consent_expiration_time": None,
        "created_at": connection.created_at,
        "error": error,
        "institution_id": institution_id,
        "institution_name": connection.institution,
        "item_id": ids.write("conn", connection.key),
        "products": ["transactions"],
        "update_type": "background",
        "webhook": None,
    }


def to_institution(id: str, name: str) -> Mapping[str, Any]:
    return {
        # The Python library needs it, although the document doesn't have it.
        "connection_availability": "SUPPORTED",
        "country_codes": ["US"],
        "institution_id": id,
        "name": name,
        "oauth": False,
        "products": ["transactions"],
        "routing_numbers": [],
    }
