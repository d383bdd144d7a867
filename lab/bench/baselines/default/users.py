"""Users and their tokens. They exist from the start, because sign-ins are not measured on this server."""

# mypy: disable-error-code=import-not-found, no-warn-return-any

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from lab.bench.baselines.default.errors import Reason, RpcError
from lab.bench.baselines.default.models import Token, User

_TOKEN_LIFE = timedelta(days=30)


async def add_users(session: AsyncSession, tokens: Sequence[str]) -> None:
    """Add a user for each token."""
    now = datetime.now(UTC)
    for number, token in enumerate(tokens):
        user = User(email=f"user{number}@example.test", created_at=now)
        session.add(user)
        await session.flush()
        session.add(Token(digest=_digest(token), user_id=user.id, expires_at=now + _TOKEN_LIFE))


async def authenticate(session: AsyncSession, token: str) -> UUID:
    """Return the user of the token."""
    user_id = await session.scalar(
        select(Token.user_id).where(Token.digest == _digest(token), Token.expires_at > datetime.now(UTC))
    )
    if user_id is None:
        raise RpcError(Reason.UNAUTHENTICATED, "A valid bearer token is needed.")
    return user_id


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
