"""What the module of an operation needs: Operation, and the types of its handler."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from inspect import cleandoc
from typing import Any, Final

from msgspec import Struct

from tickover.api import limits
from tickover.api.errors import Reason
from tickover.api.fields import Params
from tickover.server.operations.access import Caller
from tickover.server.operations.services import Services
from tickover.server.operations.stored_clocks import CLOCK_REASONS, ClockParams
from tickover.server.sign_in.tokens import Permission

__all__ = ["OPERATIONS", "Caller", "NoParams", "Operation", "Permission", "Services"]

Handler = Callable[[Any, Caller, Services], Awaitable[bytes | Struct]]
"""Runs a call with valid parameters. The result is JSON, or a struct to encode as JSON."""

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
    reasons: Sequence[Reason] = ()
    """In addition to the reasons with which any call can fail, or any call on a clock or with a limit per client."""
    params: type[Params] = field(init=False)
    handler: Handler = field(init=False)
    summary: str = field(init=False)
    description: str = field(init=False)

    @property
    def writes(self) -> bool:
        """Whether a call can change something."""
        return self.needs is not Permission.READ and self.result is not None

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
        OPERATIONS[self.name] = self
        return handler


OPERATIONS: Final[dict[str, Operation]] = {}
"""In the order of the reference: first the four core operations."""
