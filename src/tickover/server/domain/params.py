"""The types of parameters that JSON doesn't have."""

from typing import Any

from tickover.api import timestamps
from tickover.api.timestamps import Instant
from tickover.server.domain import email_addresses
from tickover.server.domain.email_addresses import EmailAddress

_PARSERS = {Instant: timestamps.parse, EmailAddress: email_addresses.parse}


def parse_custom_type(kind: Any, value: object) -> Any:
    """Parse an instant or an email address from a JSON value. Raise ValueError if it is invalid."""
    return _PARSERS[kind](value)
