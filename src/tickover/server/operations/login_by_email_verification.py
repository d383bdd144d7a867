import hmac
from typing import Annotated, Literal

from msgspec import Meta

from tickover.api import ids
from tickover.api.access_tokens import SignedIn
from tickover.api.errors import Reason, Rejection
from tickover.api.fields import Params, doc, expected
from tickover.api.limits import CODE_DIGITS, TOKEN_LIFETIME
from tickover.api.timestamps import Instant
from tickover.server.operations.operation import Caller, Operation, Services
from tickover.server.operations.send_login_code_email import Address
from tickover.server.sign_in import tokens
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import NewSession


class VerificationEntry(Params, frozen=True):
    email: Address
    # The pattern alone would accept a final line break, because `$` matches before it.
    code: Annotated[
        str,
        Meta(min_length=CODE_DIGITS, max_length=CODE_DIGITS, pattern=f"^[0-9]{{{CODE_DIGITS}}}$"),
        Meta(extra={"secret": True}),
        expected(f"{CODE_DIGITS} digits"),
        doc(f"The {CODE_DIGITS} digits from the email, including leading zeros."),
    ]
    authentication_method: Annotated[Literal["EMAIL_CODE"], doc("The only supported method.")]


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


@Operation(
    "loginByEmailVerification",
    SignedIn,
    needs=None,
    is_core=True,
    limited_per_client=True,
    reasons=(Reason.LOGIN_REFUSED,),
    examples={"With a code": {"email": "ana@example.test", "code": "752017", "authenticationMethod": "EMAIL_CODE"}},
)
async def login_by_email_verification(params: VerificationEntry, caller: Caller, services: Services) -> SignedIn:
    """Exchange a code for a bearer token.

    A code works once, allows few attempts, and becomes invalid when a newer code is sent. The first sign-in of an
    address creates its user. All invalid codes get the same response.
    """
    services.check_allowed(params.email)
    attempt = await services.store.count_attempt(params.email, services.limits_of(params.email), caller.now)
    # Without a live code, compare with a digest that never matches, so that the response takes the same time.
    expected, sent_at = (attempt.digest, attempt.sent_at) if attempt else (bytes(32), caller.now)
    actual = services.mint.code_digest(params.email, sent_at, params.code)
    token, session = new_session(services.mint, caller.now)
    user = None
    if hmac.compare_digest(expected, actual):
        user = await services.store.redeem_code(params.email, expected, session)
    return signed_in(token, user)
