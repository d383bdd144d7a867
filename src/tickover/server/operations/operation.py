"""What the module of an operation needs: Operation, and the types of its handler."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from inspect import cleandoc
from typing import Any, Final

from msgspec import Struct

from tickover.api import limits
from tickover.api.clocks import OneClock
from tickover.api.errors import Reason
from tickover.api.fields import Params
from tickover.server.operations.access import Caller
from tickover.server.operations.clocks import CLOCK_REASONS, ClockParams
from tickover.server.operations.services import Services
from tickover.server.sign_in.tokens import Permission

__all__ = ["COPY", "LEDGER", "OPERATIONS", "VIEW", "Caller", "NoParams", "Operation", "Permission", "Services"]

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

_MAX_CLOCK: Final = 5_500_000
"""The largest clock in JSON, if each character takes six bytes, such as `\\u0001`. A test creates it."""
_NEEDS_SIGN_IN: Final = " Access tokens can't call this operation: it needs a token from a sign-in."


class NoParams(Params, frozen=True):
    """The operation has no parameters."""


@dataclass
class Operation:
    """An operation, as the decorator of its handler.

    The handler's annotations have the type of the parameters, and its docstring has the summary and the description.
    In the docstring, the name of a limit in braces stands for its value. Parameters without a docstring get one.
    """

    name: str
    result: type[Struct] | None
    """None for the OpenRPC document."""
    _: KW_ONLY
    needs: Permission | None
    """The permission that the token must have. None if the operation needs no token."""
    examples: Mapping[str, Mapping[str, Any]]
    """Parameters of calls in the reference, by name. `python -m scripts.record_examples` records their results."""
    is_core: bool = False
    """Whether it is one of the four core operations, whose behaviour never changes."""
    is_idempotent: bool = False
    """Whether a client can send the call again without a key if the response is lost. Those that only read are."""
    takes_idempotency_key: bool = False
    limited_per_client: bool = False
    """Whether the rate limit of the client's network counts the call. It counts invalid parameters too."""
    cost: Cost = lambda *_: 0
    max_result: int = 0
    """The maximum size of the result in JSON, in bytes. A batch checks it before it runs the call. Default: that of a
    clock, or 4096."""
    reasons: Sequence[Reason] = ()
    """In addition to the reasons with which any call can fail, or any call on a clock or with a limit per client."""
    params: type[Params] = field(init=False)
    handler: Handler = field(init=False)
    summary: str = field(init=False)
    description: str = field(init=False)

    def __call__(self, handler: Handler) -> Handler:
        """Add the operation to `OPERATIONS`."""
        self.handler, self.params = handler, handler.__annotations__["params"]
        self.params.__doc__ = self.params.__doc__ or f"The parameters of {self.name}."
        summary, _, text = cleandoc(handler.__doc__ or "").partition("\n\n")
        self.summary = summary.removesuffix(".")
        self.description = " ".join(text.split()).format_map(vars(limits))
        self.is_idempotent |= self.needs is Permission.READ
        if self.needs is Permission.SESSION:
            self.description += _NEEDS_SIGN_IN
        if issubclass(self.params, ClockParams):
            self.reasons = (*CLOCK_REASONS, *self.reasons)
        if self.limited_per_client:
            self.reasons = (Reason.RATE_LIMITED, *self.reasons)
        self.max_result = self.max_result or (_MAX_CLOCK if self.result is OneClock else 4096)
        OPERATIONS[self.name] = self
        return handler


OPERATIONS: Final[dict[str, Operation]] = {}
"""In the order of the reference: first the four core operations."""
