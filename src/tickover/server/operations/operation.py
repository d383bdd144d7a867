"""What the module of an operation needs: Operation, and the types of its handler."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
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
    In the docstring, the name of a limit in braces stands for its value.
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
    can_be_repeated: bool = False
    """Whether a client can send the call again without a key. It can if the call needs only the permission to read."""
    takes_idempotency_key: bool = False
    ignores_key: Callable[[Any], bool] = lambda _: False
    """Whether a call with these parameters needs no idempotency key, and ignores it."""
    decides_with_key: bool = False
    """Whether the store looks up the key in the same step as all that can reject the call."""
    limited_per_client: bool = False
    """Whether the rate limit of the client's network counts the call. It counts invalid parameters too."""
    reasons: Sequence[Reason] = ()
    """In addition to the reasons of any call, of any call on a clock, and of any call with a limit per client."""
    handler: Handler = field(init=False)

    def __call__(self, handler: Handler) -> Handler:
        """Add the operation to `OPERATIONS`."""
        self.handler = handler
        OPERATIONS[self.name] = self
        return handler

    @property
    def writes(self) -> bool:
        """Whether a call can change something."""
        return self.needs is not Permission.READ and self.result is not None

    @property
    def is_idempotent(self) -> bool:
        """Whether a client can send the call again if the response is lost."""
        return self.can_be_repeated or self.needs is Permission.READ

    @cached_property
    def params(self) -> type[Params]:
        params: type[Params] = self.handler.__annotations__["params"]
        return params

    @cached_property
    def summary(self) -> str:
        return cleandoc(self.handler.__doc__ or "").partition("\n\n")[0].removesuffix(".")

    @cached_property
    def description(self) -> str:
        text = cleandoc(self.handler.__doc__ or "").partition("\n\n")[2]
        description = " ".join(text.split()).format_map(vars(limits))
        return description + _NEEDS_SIGN_IN if self.needs is Permission.SESSION else description

    @cached_property
    def all_reasons(self) -> frozenset[Reason]:
        """The reasons with which a call can fail, except for those of any call."""
        of_clock = CLOCK_REASONS if issubclass(self.params, ClockParams) else ()
        return frozenset((*self.reasons, *of_clock, *[Reason.RATE_LIMITED] * self.limited_per_client))


OPERATIONS: Final[dict[str, Operation]] = {}
"""In the order of the reference: first the four core operations."""
