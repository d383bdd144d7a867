from typing import Annotated

from msgspec import Meta

from tickover.api.access_tokens import SignedIn
from tickover.api.errors import Reason
from tickover.api.fields import Params, Text, doc
from tickover.server.operations.login_by_email_verification import new_session, signed_in
from tickover.server.operations.operation import Caller, Operation, Services
from tickover.server.sign_in import tokens


class LinkEntry(Params, frozen=True):
    token: Annotated[Text, Meta(extra={"secret": True}), doc("The text after `#token=` in the link.")]


@Operation(
    "loginByEmailLink",
    SignedIn,
    needs=None,
    limited_per_client=True,
    reasons=(Reason.LOGIN_REFUSED,),
    examples={"With a link": {"token": "32rx2DA-Yc3Eu4bD0cQnEDw0TEGJ6y8ee9XUfkRvzsI"}},
)
async def login_by_email_link(params: LinkEntry, caller: Caller, services: Services) -> SignedIn:
    """Exchange the secret of a login link for a bearer token.

    The page of a login link calls this operation when you press its button. A link works once. All invalid links get
    the same response.
    """
    token, session = new_session(services.mint, caller.now)
    return signed_in(token, await services.store.redeem_link(tokens.digest(params.token), session, services.allows))
