"""Sign-in by emailed code, and tokens."""

# mypy: disable-error-code=import-not-found, no-warn-return-any

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from math import ceil
from uuid import UUID

import aiosmtplib
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from lab.bench.baselines.default.errors import Reason, RpcError
from lab.bench.baselines.default.models import LoginCode, Token, User
from lab.bench.baselines.default.schemas import Login, SendLoginCode, VerifyLogin

_RESEND = timedelta(seconds=60)
_CODE_LIFE = timedelta(minutes=10)
_CODE_TRIES = 5
_TOKEN_LIFE = timedelta(days=30)


@dataclass(frozen=True)
class Mailer:
    host: str
    port: int
    sender: str = "Clocks <clocks@localhost>"

    async def send_code(self, email: str, code: str) -> None:
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = email
        message["Subject"] = f"{code} is your code"
        message.set_content(f"Your code is {code}. It is good for ten minutes.\n")
        await aiosmtplib.send(message, hostname=self.host, port=self.port, timeout=10)


@dataclass(frozen=True)
class Logins:
    sessions: async_sessionmaker[AsyncSession]
    mailer: Mailer
    # Without a key that is stored elsewhere, a reader of the table could try all codes.
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    async def send(self, params: SendLoginCode) -> None:
        code = f"{secrets.randbelow(1_000_000):06}"
        try:
            async with self.sessions.begin() as session:
                await self._store_code(session, params.email, code)
        except IntegrityError:
            # Another call has sent the first code to this address at the same time.
            raise _too_soon(_RESEND) from None
        try:
            await self.mailer.send_code(params.email, code)
        except (aiosmtplib.SMTPException, OSError):
            async with self.sessions.begin() as session:
                await session.execute(delete(LoginCode).where(LoginCode.email == params.email))
            raise RpcError(Reason.MAIL_NOT_SENT, "The mail server didn't take the message.") from None

    async def _store_code(self, session: AsyncSession, email: str, code: str) -> None:
        now = datetime.now(UTC)
        stored = await session.get(LoginCode, email, with_for_update=True)
        if stored is None:
            stored = LoginCode(email=email)
            session.add(stored)
        elif now < stored.sent_at + _RESEND:
            raise _too_soon(stored.sent_at + _RESEND - now)
        stored.digest = self._digest(email, code)
        stored.sent_at = now
        stored.expires_at = now + _CODE_LIFE
        stored.tries = 0

    async def verify(self, params: VerifyLogin) -> Login:
        now = datetime.now(UTC)
        login: Login | None = None
        async with self.sessions.begin() as session:
            stored = await session.get(LoginCode, params.email, with_for_update=True)
            if stored is not None and stored.digest and stored.tries < _CODE_TRIES and now < stored.expires_at:
                stored.tries += 1
                if hmac.compare_digest(stored.digest, self._digest(params.email, params.code)):
                    stored.digest = None
                    login = await _issue_token(session, params.email, now)
        # Only here, because an exception above would roll back the try.
        if login is None:
            raise RpcError(Reason.LOGIN_REFUSED, "The code is wrong or has expired.")
        return login

    def _digest(self, email: str, code: str) -> bytes:
        return hmac.digest(self.key, f"{email} {code}".encode(), "sha256")


async def authenticate(session: AsyncSession, token: str) -> UUID:
    """Return the user of the token."""
    user_id = await session.scalar(
        select(Token.user_id).where(Token.digest == _token_digest(token), Token.expires_at > datetime.now(UTC))
    )
    if user_id is None:
        raise RpcError(Reason.UNAUTHENTICATED, "A valid bearer token is needed.")
    return user_id


async def _issue_token(session: AsyncSession, email: str, now: datetime) -> Login:
    user = await session.scalar(select(User).where(User.email == email))
    if user is None:
        user = User(email=email, created_at=now)
        session.add(user)
        await session.flush()
    token = secrets.token_urlsafe(32)
    session.add(Token(digest=_token_digest(token), user_id=user.id, expires_at=now + _TOKEN_LIFE))
    return Login(token=token, user_id=f"user_{user.id}")


def _token_digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _too_soon(wait: timedelta) -> RpcError:
    seconds = ceil(wait.total_seconds())
    message = f"A message was sent to this address just now; try again in {seconds} seconds."
    return RpcError(Reason.RESEND_TOO_SOON, message, retryAfterSeconds=seconds)
