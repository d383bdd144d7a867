"""What the module of an operation needs: Operation, and the types of its handler."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from tickover.api.errors import Reason
from tickover.api.fields import Params
from tickover.server.operations.caller import Caller
from tickover.server.operations.services import Services
from tickover.server.operations.sizes import SMALL_RESULT
from tickover.server.sign_in.tokens import Permission

__all__ = ["COPY", "LEDGER", "NEEDS_SIGN_IN", "VIEW", "Caller", "Example", "Operation", "Permission", "Services"]

Handler = Callable[[Any, Caller, Services], Awaitable[bytes | Struct]]
"""Runs a call with valid parameters. The result is JSON, or a struct to encode as JSON."""

Cost = Callable[[Services, bytes], int]
"""Estimates the bytes that a call with these parameters reads, computes and writes, besides the parameters."""


def _per_byte(times: int) -> Cost:
    """Return the cost of an operation that handles each byte of a clock's schedule this many times."""
    return lambda services, params: times * services.clocks.size_of(params)


VIEW: Final = _per_byte(1)
COPY: Final = _per_byte(4)
"""A copy is read, computed, written to the database and returned."""
LEDGER: Final = _per_byte(10)
"""Computing a ledger takes at least ten times as long as joining a view."""

NEEDS_SIGN_IN: Final = "Access tokens can't call this operation: it needs a token from a sign-in."


class Example(Struct, frozen=True):
    """A call in the reference. `python -m scripts.record_examples` records its result."""

    name: str
    params: Mapping[str, Any]


class Operation(Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    description: str
    params: type[Params]
    result: type[Struct] | None
    """None for the OpenRPC document."""
    handler: Handler
    examples: Sequence[Example]
    needs: Permission | None
    """The permission that the token must have. None if the operation needs no token."""
    is_extension: bool = True
    """Whether the operation is an addition to the interface."""
    is_idempotent: bool = False
    """Whether a client can send the call again without a key if the response is lost."""
    takes_idempotency_key: bool = False
    limited_per_client: bool = False
    """Whether the rate limit of the client's network counts the call. It counts invalid parameters too."""
    cost: Cost = lambda *_: 0
    max_result: int = SMALL_RESULT
    """The maximum size of the result in JSON, in bytes."""
    reasons: Sequence[Reason] = ()
    """In addition to the reasons with which any call can fail."""
