"""revokeAccessToken: revoke an access token."""

from typing import Annotated

from tickover.api import ids
from tickover.api.errors import Fault, invalid_params
from tickover.api.fields import Params, Text, doc
from tickover.api.tokens import Done
from tickover.server.operations.operation import NEEDS_SIGN_IN, Caller, Example, Operation, Permission, Services


class RevokeAccessTokenEntry(Params, frozen=True):
    """The parameters of revokeAccessToken."""

    id: Annotated[Text, doc("The ID of one of your access tokens.")]


async def revoke_access_token(params: RevokeAccessTokenEntry, caller: Caller, services: Services) -> Done:
    key = ids.read("token", params.id)
    if key is None or not await services.store.revoke_access_token(key, caller.token, caller.now):
        fault = Fault("id", "existing", "must be the ID of one of your access tokens")
        raise invalid_params(OPERATION.name, [fault])
    return Done()


OPERATION = Operation(
    name="revokeAccessToken",
    summary="Revoke an access token",
    description=(
        "The token stops working immediately, on every server. An unknown ID and the ID of another user's token get "
        f"the same response. {NEEDS_SIGN_IN}"
    ),
    params=RevokeAccessTokenEntry,
    result=Done,
    handler=revoke_access_token,
    needs=Permission.SESSION,
    examples=(Example("The token of the CI job", {"id": "token_01a2d121-c120-7737-af07-bcb81287c038"}),),
)
