import hmac
from typing import Annotated, Literal

from msgspec import Meta

from tickover.api.errors import Reason
from tickover.api.fields import Params, doc, expected
from tickover.api.limits import CODE_DIGITS
from tickover.api.tokens import SignedIn
from tickover.server.operations.operation import Caller, Operation, Services
from tickover.server.operations.sign_in import Address, new_session, signed_in


class VerificationEntry(Params, frozen=True):
    """The parameters of loginByEmailVerification."""

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


@Operation(
    "loginByEmailVerification",
    SignedIn,
    needs=None,
    is_extension=False,
    limited_per_client=True,
    reasons=(Reason.LOGIN_REFUSED,),
    examples={"With a code": {"email": "ana@example.test", "code": "752017", "authenticationMethod": "EMAIL_CODE"}},
)
async def login_by_email_verification(params: VerificationEntry, caller: Caller, services: Services) -> SignedIn:
    """Exchange a code for a bearer token.

    A code works once, allows few attempts, and becomes invalid when a newer code is sent. The first sign-in of an
    address creates its user. All invalid codes get the same response.
    """
    attempt = await services.store.count_attempt(params.email, services.login_limits, caller.now)
    # Without a live code, compare with a digest that never matches, so that the response takes the same time.
    expected, sent_at = (attempt.digest, attempt.sent_at) if attempt else (bytes(32), caller.now)
    actual = services.mint.code_digest(params.email, sent_at, params.code)
    token, session = new_session(services.mint, caller.now)
    user = None
    if hmac.compare_digest(expected, actual):
        user = await services.store.redeem_code(params.email, expected, session)
    return signed_in(token, user)
