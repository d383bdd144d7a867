from datetime import timedelta
from math import ceil
from typing import Annotated

from msgspec import Meta

from tickover.api import ids
from tickover.api.access_tokens import CreatedAccessToken, ReadOnly
from tickover.api.errors import Reason, Rejection
from tickover.api.fields import Params, Text, doc
from tickover.api.limits import DEFAULT_TOKEN_DAYS, MAX_ACCESS_TOKENS, MAX_TOKEN_DAYS, MAX_TOKEN_NAME
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Permission, Services
from tickover.server.sign_in import tokens
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import Owner, Store, StoredAccessToken, TooManyTokens


class CreateAccessTokenEntry(Params, frozen=True):
    name: Annotated[
        Text,
        Meta(min_length=1, max_length=MAX_TOKEN_NAME),
        doc("Your own name for the token, such as the program that uses it."),
    ]
    expires_in_days: Annotated[
        int, Meta(ge=1, le=MAX_TOKEN_DAYS), doc("The number of days until the token expires.")
    ] = DEFAULT_TOKEN_DAYS
    read_only: ReadOnly = False


@Operation(
    "createAccessToken",
    CreatedAccessToken,
    needs=Permission.SESSION,
    reasons=(Reason.RATE_LIMITED,),
    examples={"For a CI job": {"name": "CI", "expiresInDays": 30}},
)
async def create_access_token(params: CreateAccessTokenEntry, caller: Caller, services: Services) -> CreatedAccessToken:
    """Create a token for a program, such as a CI job.

    Use the token as a bearer token, for example in a CI job. Only this response contains it. A read-only token can call
    only operations that change nothing. You can have {MAX_ACCESS_TOKENS} live access tokens.
    """
    return await create(params, caller.token, caller.now, services.store, services.mint)


async def create(
    params: CreateAccessTokenEntry, owner: Owner, now: Instant, store: Store, mint: Mint
) -> CreatedAccessToken:
    token = mint.new_access_token()
    expires_at = now + timedelta(days=params.expires_in_days)
    key = mint.new_key(now)
    new = StoredAccessToken(key, params.name, params.read_only, now, expires_at)
    outcome = await store.create_access_token(new, tokens.digest(token), owner, MAX_ACCESS_TOKENS)
    if isinstance(outcome, TooManyTokens):
        wait = ceil((outcome.first_expires_at - now).total_seconds())
        message = f"You have {MAX_ACCESS_TOKENS} access tokens, which is the limit. Revoke one first."
        raise Rejection(Reason.RATE_LIMITED, message, {"retryAfterSeconds": wait})
    return CreatedAccessToken(ids.write("token", key), token, params.name, params.read_only, expires_at)
