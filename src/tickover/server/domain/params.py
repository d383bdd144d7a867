"""The base of everything that a caller sends: how it is read, and how it may be refused."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from tickover.api import timestamps
from tickover.api.errors import Fault
from tickover.api.timestamps import Instant
from tickover.server.domain import email_addresses
from tickover.server.domain.email_addresses import EmailAddress

# U+0000 is refused because databases and terminals disagree about it; lone surrogates arrive here as U+0000. The
# decoder is not asked to look for it in every text: `reading` looks once, in all of them.
Text = Annotated[str, Meta(description="text without U+0000 and lone surrogates")]


class Params(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", gc=False):
    """Parameters, or a part of them. A misspelt name that was ignored would ruin a simulation, so it is refused."""

    def faults(self, now: Instant) -> Iterable[Fault]:
        """What is wrong between fields that are each right in themselves.

        It is also asked when some fields were refused already: those are None, whatever their type says.
        """
        return ()

    def passes_fast_checks(self, now: Instant) -> bool:
        """Whether a quick look finds nothing that the decoder could have let through, and nothing for `faults`.

        It is asked only when all fields could be read, and may say no where all is well.
        """
        return not list(self.faults(now))


_READERS = {Instant: timestamps.parse, EmailAddress: email_addresses.parse}


def read_text(kind: Any, value: object) -> Any:
    """Read a value of one of our own types from what JSON gave; ValueError says what is wrong with it."""
    return _READERS[kind](value)
