"""The bodies of requests to Plaid's API: the members that the bank reads. Others are ignored."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Annotated, Final, Literal, NoReturn, TypeVar

from msgspec import DecodeError, Meta, Struct, ValidationError, json

from tickover.api.json_depth import is_nested_too_deeply
from tickover.server.bank.plaid_objects import PlaidError
from tickover.server.http1.http_messages import Request

_MAX_BODY: Final = 64 * 1024
"""Bytes. The body has the access token, so it is decoded before the caller is known."""
_MISSING: Final = "Object missing required field "

Count = Annotated[int, Meta(ge=1, le=500)]
Offset = Annotated[int, Meta(ge=0)]
AccountIds = Annotated[Sequence[str], Meta(max_length=500)]
"""A clock has fewer accounts."""
CountryCode = Literal[
    "AT", "BE", "CA", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "IE", "IT", "LT", "LV", "NL", "NO", "PL", "PT", "SE",
    "US",
]  # fmt: skip


class PlaidRequest(Struct, frozen=True, kw_only=True):
    client_id: str | None = None
    secret: str | None = None


class ExchangeRequest(PlaidRequest, frozen=True):
    public_token: str


class ItemRequest(PlaidRequest, frozen=True):
    access_token: str


class AccountsOptions(Struct, frozen=True):
    account_ids: AccountIds | None = None


class AccountsRequest(ItemRequest, frozen=True):
    options: AccountsOptions = AccountsOptions()


class SyncOptions(Struct, frozen=True):
    account_id: str | None = None
    include_original_description: bool | None = None
    days_requested: Annotated[int, Meta(ge=1, le=730)] | None = None
    """Ignored, because the whole history is there."""


class SyncRequest(ItemRequest, frozen=True):
    cursor: Annotated[str, Meta(max_length=256)] | None = None
    count: Count | None = None
    options: SyncOptions = SyncOptions()


class TransactionsOptions(AccountsOptions, frozen=True):
    count: Count | None = None
    offset: Offset | None = None
    include_original_description: bool | None = None


class TransactionsRequest(ItemRequest, frozen=True):
    start_date: date
    end_date: date
    options: TransactionsOptions = TransactionsOptions()


class InstitutionRequest(PlaidRequest, frozen=True):
    institution_id: str
    country_codes: Sequence[CountryCode]


_Request = TypeVar("_Request", bound=PlaidRequest)


def read_request(http: Request, decode: Callable[[bytes], _Request]) -> _Request:
    """Return the body of a request. Raise PlaidError if it is invalid."""
    if http.body is None or len(http.body) > _MAX_BODY:
        raise PlaidError("INVALID_BODY", "body is too large")
    if http.fields.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        # Pages of any origin can send other types.
        raise PlaidError("INVALID_HEADERS", "content-type must be application/json")
    if is_nested_too_deeply(http.body):
        raise PlaidError("INVALID_BODY", "body is nested too deeply")
    try:
        call = decode(http.body)
    except ValidationError as error:
        _reject_body(str(error))
    except (DecodeError, UnicodeDecodeError):
        raise PlaidError("INVALID_BODY", "body could not be parsed as JSON") from None
    for name, header in (("client_id", b"plaid-client-id"), ("secret", b"plaid-secret")):
        if not (getattr(call, name) or http.fields.get(header)):
            raise _missing(name)
    return call


def _reject_body(problem: str) -> NoReturn:
    if problem.startswith(_MISSING):
        raise _missing(problem.removeprefix(_MISSING).replace("`", ""))
    raise PlaidError("INVALID_FIELD", problem)


def _missing(names: str) -> PlaidError:
    return PlaidError("MISSING_FIELDS", f"the following required fields are missing: {names}")


def decoder_of(type: type[_Request]) -> Callable[[bytes], _Request]:
    return json.Decoder(type).decode
