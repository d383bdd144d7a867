from typing import Annotated

from tickover.api import ids
from tickover.api.access_tokens import Done
from tickover.api.errors import Fault, invalid_params
from tickover.api.fields import Params, Text, doc
from tickover.server.operations.operation import Caller, Operation, Permission, Services


class RevokeAccessTokenEntry(Params, frozen=True):
    id: Annotated[Text, doc("The ID of one of your access tokens.")]


@Operation(
    "revokeAccessToken",
    Done,
    needs=Permission.SESSION,
    examples={"The token of the CI job": {"id": "token_01a2d121-c120-7737-af07-bcb81287c038"}},
)
async def revoke_access_token(params: RevokeAccessTokenEntry, caller: Caller, services: Services) -> Done:
    """Revoke an access token.

    The token stops working immediately, on every server. An unknown ID and the ID of another user's token get the same
    response.
    """
    key = ids.read("token", params.id)
    if key is None or not await services.store.revoke_access_token(key, caller.token, caller.now):
        fault = Fault("id", "existing", "must be the ID of one of your access tokens")
        raise invalid_params([fault])
    return Done()
