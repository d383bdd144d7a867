"""Sign-in and tokens on the wire."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal

from msgspec import UNSET, UnsetType

from tickover.api.fields import Result, Timestamp, doc
from tickover.api.limits import TOKEN_LIFETIME

_Message = Annotated[Literal["ok"], doc("Confirms that the operation succeeded.")]
_UserId = Annotated[str, doc("Your user ID, the same at every sign-in. Opaque; starts with `user_`.")]
_TokenId = Annotated[str, doc("The token's ID, which isn't secret. It starts with `token_`.")]
_ExpiresAt = Annotated[Timestamp, doc("The real time at which the token expires.")]
ReadOnly = Annotated[bool, doc("Whether the token can call only operations that change nothing.")]


class Done(Result, frozen=True, omit_defaults=False):
    """The operation succeeded."""

    message: _Message = "ok"


class Sent(Result, frozen=True):
    """The mail server accepted the email."""

    message: _Message
    login_url: Annotated[
        str | UnsetType, doc("The link. Only for `WEB_LOGIN_LINK`, and only if emails go to the development outbox.")
    ] = UNSET


class SignedIn(Result, frozen=True):
    """A bearer token and its user."""

    token: Annotated[str, doc(f"The bearer token. It starts with `tko_` and is valid for {TOKEN_LIFETIME.days} days.")]
    user_id: _UserId

    def __repr__(self) -> str:
        """Omit the token, because reprs end up in logs."""
        return f"{type(self).__name__}(user_id={self.user_id!r})"


class EmailSummary(Result, frozen=True, kw_only=True):
    """An email in the list of the development mailbox. Newer emails have greater IDs."""

    id: str
    to: str
    subject: str
    sent_at: Timestamp
    code: str | None = None
    login_url: str | None = None


class StoredEmail(EmailSummary, frozen=True, kw_only=True):
    """An email in the development mailbox."""

    text: str


class TokenInfo(Result, frozen=True):
    """The token in use."""

    type: Annotated[Literal["SESSION", "ACCESS"], doc("`SESSION`: a token from a sign-in. `ACCESS`: an access token.")]
    expires_at: _ExpiresAt


class CurrentUser(Result, frozen=True):
    """Your user and the token in use."""

    user_id: _UserId
    email: Annotated[str, doc("One email address.")]
    token: TokenInfo


class CreatedAccessToken(Result, frozen=True):
    """The new access token."""

    id: _TokenId
    token: Annotated[str, doc("The bearer token. It starts with `tka_`.")]
    name: Annotated[str, doc("The name of the request.")]
    read_only: ReadOnly
    expires_at: _ExpiresAt

    def __repr__(self) -> str:
        """Omit the token, because reprs end up in logs."""
        return f"{type(self).__name__}(id={self.id!r}, name={self.name!r})"


class AccessToken(Result, frozen=True):
    """An access token, without its secret."""

    id: _TokenId
    name: Annotated[str, doc("Your own name for the token.")]
    read_only: ReadOnly
    created_at: Annotated[Timestamp, doc("The real time at which the token was created.")]
    expires_at: _ExpiresAt
    last_used_on: Annotated[date | None, doc("The last day in UTC on which the token was used, if any.")] = None


class AccessTokens(Result, frozen=True):
    """Your live access tokens."""

    tokens: Annotated[Sequence[AccessToken], doc("Newest first.")]
