"""Parameters of the operations on access tokens."""

from typing import Annotated

from msgspec import Meta

from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS, MAX_TOKEN_NAME
from tickover.server.domain.params import Params, Text

TokenName = Annotated[Text, Meta(min_length=1, max_length=MAX_TOKEN_NAME)]


class CreateAccessTokenParams(Params, frozen=True):
    """The parameters of createAccessToken."""

    name: TokenName
    expires_in_days: Annotated[int, Meta(ge=1, le=MAX_TOKEN_DAYS)] = DEFAULT_TOKEN_DAYS
    read_only: bool = False


class ListAccessTokensParams(Params, frozen=True):
    """listAccessTokens has no parameters."""


class RevokeAccessTokenParams(Params, frozen=True):
    """The parameters of revokeAccessToken."""

    id: Text
