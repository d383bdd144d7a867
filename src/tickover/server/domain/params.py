"""The base class of parameters, and the types that JSON doesn't have."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from tickover.api import timestamps
from tickover.api.errors import Fault
from tickover.api.timestamps import Instant
from tickover.server.domain import email_addresses
from tickover.server.domain.email_addresses import EmailAddress

# U+0000 is invalid because databases and terminals disagree about it. Lone surrogates arrive here as U+0000. The
# decoder doesn't check each string for it; `jsonrpc.decode` checks the whole request at once, which is faster.
Text = Annotated[str, Meta(description="text without U+0000 and lone surrogates")]


class Params(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", gc=False):
    """The parameters of an operation, or a part of them. Unknown names are invalid, so that typos are noticed."""

    def faults(self, now: Instant) -> Iterable[Fault]:
        """Return the faults that the types of single fields can't express, such as wrong combinations.

        Fields that are invalid by themselves are None here, in spite of their types.
        """
        return ()

    def passes_fast_checks(self, now: Instant) -> bool:
        """Return True only if `faults` would return none, and the fields have no fault that the decoder ignores.

        Called only if all fields could be decoded. May return False for valid parameters.
        """
        return not list(self.faults(now))


class DiscoverParams(Params, frozen=True):
    """rpc.discover has no parameters."""


_PARSERS = {Instant: timestamps.parse, EmailAddress: email_addresses.parse}


def parse_custom_type(kind: Any, value: object) -> Any:
    """Parse an instant or an email address from a JSON value. Raise ValueError if it is invalid."""
    return _PARSERS[kind](value)
