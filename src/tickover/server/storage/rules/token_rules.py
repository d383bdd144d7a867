"""Access tokens and link tokens: how many there may be."""

from tickover.api.timestamps import from_micros, to_micros
from tickover.server.storage import statements
from tickover.server.storage.rows import owner_values
from tickover.server.storage.rules.steps import Call, Rule, owner_lock, read, write
from tickover.server.storage.store import (
    Created,
    Owner,
    StoredAccessToken,
    StoredLinkToken,
    Token,
    TooManyLinkTokens,
    TooManyTokens,
)


def create_access_token(
    new: StoredAccessToken, digest: bytes, owner: Owner, limit: int
) -> Rule[Created | TooManyTokens | None]:
    """Return None if the owner's token was revoked."""
    yield owner_lock(owner)
    created_at, expires_at = to_micros(new.created_at), to_micros(new.expires_at)
    [(user, count, first_expires_at)] = yield read(
        Call(statements.COUNT_ACCESS_TOKENS, (*owner_values(owner), created_at))
    )
    if user is None:
        return None
    if count >= limit:
        return TooManyTokens(from_micros(first_expires_at))
    values = digest, user, expires_at, new.key, new.name, new.read_only, created_at
    yield write(Call(statements.INSERT_ACCESS_TOKEN, values))
    return Created()


def create_link_token(
    new: StoredLinkToken, digest: bytes, token: Token, limit: int
) -> Rule[Created | TooManyLinkTokens | None]:
    """Return None if the access token was revoked."""
    yield owner_lock(token)
    created_at, expires_at = to_micros(new.created_at), to_micros(new.expires_at)
    [(user, count)] = yield read(Call(statements.COUNT_LINK_TOKENS, (*owner_values(token), created_at)))
    if user is None:
        return None
    if count >= limit:
        return TooManyLinkTokens()
    values = digest, token.digest, user, created_at, expires_at, new.item_digest, new.settings
    yield write(Call(statements.INSERT_LINK_TOKEN, values))
    return Created()
