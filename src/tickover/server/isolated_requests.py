"""The requests to the process for isolated calls, its results and its limits. See `isolated_calls.py`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType

from tickover.api.limits import MAX_CLOCK_TRANSACTIONS, MAX_OPENING_BALANCES

MAX_CPU_SECONDS: Final = 2
"""The kernel ends the process with SIGVTALRM if one call takes longer, even inside of a regular expression."""

MAX_MEMORY: Final = 256 * 1024 * 1024
"""Bytes of address space. The largest export needs 100 MB of it."""

MAX_EXPORT: Final = 1024 + MAX_CLOCK_TRANSACTIONS * 3600 + MAX_OPENING_BALANCES * 1600
"""Bytes of the largest result. Each transaction can have its own currency, so that each has its own statement. Amounts
can have 324 decimals, and a character of a name can become four bytes in JSON, or five in XML."""


class ExpandRequest(Struct, frozen=True, tag="expand"):
    text: str
    start: datetime | None
    default_start: datetime
    """The start if neither the request nor the scenario has one."""
    is_stored: bool = False
    """Whether a clock is created from it, with as many items as a clock can hold."""


class StatementRequest(Struct, frozen=True, tag="statement"):
    content: bytes
    file_name: str
    currency: str
    """Empty if the file has it."""
    is_day_first: bool | None


class ExportRequest(Struct, frozen=True, tag="export"):
    clock: Raw
    """A Snapshot."""
    format: str
    pending: bool
    opening: Mapping[str, int | float]
    account: str = ""


IsolatedRequest = ExpandRequest | StatementRequest | ExportRequest


class IsolatedResult(Struct, frozen=True, omit_defaults=True):
    """The result in JSON, or else the errors."""

    result: Raw | UnsetType = UNSET
    errors: Sequence[tuple[str, int | None]] = ()
    """Messages with their lines, if they have one."""
    seconds: float = 0
    """CPU time."""
