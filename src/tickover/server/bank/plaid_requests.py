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


class Body(Struct, frozen=True):
    """The body of a request."""


class PlaidRequest(Body, frozen=True, kw_only=True):
    client_id: str | None = None
    secret: str | None = None


class ExchangeRequest(PlaidRequest, frozen=True):
    public_token: str


class ItemRequest(PlaidRequest, frozen=True):
    access_token: str


class UpdateWebhookRequest(ItemRequest, frozen=True):
    webhook: str | None = None


class FireWebhookRequest(ItemRequest, frozen=True):
    webhook_code: str
    webhook_type: str | None = None


class VerificationKeyRequest(PlaidRequest, frozen=True):
    key_id: str


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


# With an access token of Tickover as the secret

CountryCodes = Annotated[Sequence[CountryCode], Meta(min_length=1)]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
Product = Annotated[str, Meta(max_length=100)]
Products = Annotated[Sequence[Product], Meta(max_length=100)]
SomeProducts = Annotated[Products, Meta(min_length=1)]


class OwnerRequest(PlaidRequest, frozen=True):
    """A request that needs to know the user. Its secret is an access token."""


class InstitutionsOptions(Struct, frozen=True):
    products: SomeProducts | None = None
    routing_numbers: Sequence[str] | None = None
    oauth: bool | None = None


class InstitutionsRequest(OwnerRequest, frozen=True):
    count: Count
    offset: Offset
    country_codes: CountryCodes
    options: InstitutionsOptions = InstitutionsOptions()


class SearchOptions(Struct, frozen=True):
    oauth: bool | None = None


class SearchRequest(OwnerRequest, frozen=True):
    query: Text
    country_codes: CountryCodes
    products: SomeProducts | None = None
    options: SearchOptions = SearchOptions()


class PublicTokenOptions(Struct, frozen=True):
    override_username: str | None = None
    webhook: str | None = None


class NewPublicTokenRequest(OwnerRequest, frozen=True):
    institution_id: str
    initial_products: SomeProducts
    options: PublicTokenOptions = PublicTokenOptions()


class LinkUser(Struct, frozen=True):
    client_user_id: Text


class NewLinkTokenRequest(OwnerRequest, frozen=True):
    client_name: Text
    language: Text
    country_codes: CountryCodes
    user: LinkUser | None = None
    user_id: str | None = None
    products: Products | None = None
    access_token: Text | None = None
    webhook: Annotated[str, Meta(max_length=2_000)] | None = None
    redirect_uri: Annotated[str, Meta(max_length=2_000)] | None = None


class LinkTokenRequest(OwnerRequest, frozen=True):
    link_token: str


# What Link itself calls. There are no keys: the page has the link token alone.


class LinkRequest(Body, frozen=True):
    link_token: str
    offset: Offset = 0


class LinkConnectRequest(LinkRequest, frozen=True):
    institution_id: str | None = None


_Body = TypeVar("_Body", bound=Body)


def read_request(http: Request, decode: Callable[[bytes], _Body]) -> _Body:
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
    if isinstance(call, PlaidRequest):
        _check_keys(call, http)
    return call


def _check_keys(call: PlaidRequest, http: Request) -> None:
    for name, header in (("client_id", b"plaid-client-id"), ("secret", b"plaid-secret")):
        if not (getattr(call, name) or http.fields.get(header)):
            raise _missing(name)


def secret_of(call: PlaidRequest, http: Request) -> str:
    return call.secret or http.fields.get(b"plaid-secret", b"").decode("latin-1")


def _reject_body(problem: str) -> NoReturn:
    if problem.startswith(_MISSING):
        raise _missing(problem.removeprefix(_MISSING).replace("`", ""))
    raise PlaidError("INVALID_FIELD", problem)


def _missing(names: str) -> PlaidError:
    return PlaidError("MISSING_FIELDS", f"the following required fields are missing: {names}")


def decoder_of(type: type[_Body]) -> Callable[[bytes], _Body]:
    return json.Decoder(type).decode
