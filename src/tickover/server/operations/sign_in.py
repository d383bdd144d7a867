"""What the operations for sign-in share."""

from typing import Annotated

from tickover.api import ids
from tickover.api.errors import Reason, Rejection
from tickover.api.fields import doc
from tickover.api.limits import TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.api.tokens import SignedIn
from tickover.server.sign_in import tokens
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import NewSession

Address = Annotated[EmailAddress, doc("One email address.")]


def new_session(mint: Mint, now: Instant) -> tuple[str, NewSession]:
    """Return a bearer token, and what the database stores about it."""
    token = mint.new_bearer_token()
    return token, NewSession(mint.new_key(now), tokens.digest(token), now, now + TOKEN_LIFETIME)


def signed_in(token: str, user: bytes | None) -> SignedIn:
    """Return the result of a sign-in. Raise LOGIN_REFUSED if there is no user."""
    if user is None:
        # The response doesn't say which, so that it reveals nothing about the address.
        message = "This code or link is wrong, used or expired. Request a new one."
        raise Rejection(Reason.LOGIN_REFUSED, message)
    return SignedIn(token, ids.write("user", user))
