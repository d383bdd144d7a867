"""Parameters of the operations on access tokens."""

from typing import Annotated

from msgspec import Meta

from tickover.api.fields import Params, Text, doc
from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_TOKEN_DAYS, MAX_TOKEN_NAME
from tickover.api.tokens import ReadOnly


class CreateAccessTokenEntry(Params, frozen=True):
    """The parameters of createAccessToken."""

    name: Annotated[
        Text,
        Meta(min_length=1, max_length=MAX_TOKEN_NAME),
        doc("Your own name for the token, such as the program that uses it."),
    ]
    expires_in_days: Annotated[
        int, Meta(ge=1, le=MAX_TOKEN_DAYS), doc("The number of days until the token expires.")
    ] = DEFAULT_TOKEN_DAYS
    read_only: ReadOnly = False


class ListAccessTokensEntry(Params, frozen=True):
    """listAccessTokens has no parameters."""


class RevokeAccessTokenEntry(Params, frozen=True):
    """The parameters of revokeAccessToken."""

    id: Annotated[Text, doc("The ID of one of your access tokens.")]
