"""Upper bounds of what operations answer, in bytes. A batch needs them before it runs a call."""

from typing import Final

from tickover.api.limits import (
    MAX_CATEGORY,
    MAX_CONTRIBUTIONS,
    MAX_GOALS,
    MAX_NAME,
    MAX_PAGE,
    MAX_TRANSACTIONS,
)

_CHARACTER: Final = 6
"""A control character in JSON: `\\u0001`."""
_TRANSACTION: Final = 256 + _CHARACTER * (MAX_NAME + MAX_CATEGORY)
_CONTRIBUTION: Final = 144
_GOAL: Final = 384 + _CHARACTER * MAX_NAME + MAX_CONTRIBUTIONS * _CONTRIBUTION
_SUMMARY: Final = 256

MAX_ENVELOPE: Final = 64
"""Of the members of a response around its result, beside the id."""
MAX_REFUSAL: Final = 1024
"""Of any error but INVALID_PARAMS, beside the id."""
MAX_SMALL_RESULT: Final = 4096
MAX_CLOCK_RESULT: Final = 1024 + MAX_TRANSACTIONS * _TRANSACTION + MAX_GOALS * _GOAL
MAX_PAGE_RESULT: Final = 1024 + MAX_PAGE * _SUMMARY
MAX_DOCUMENT: Final = 256 * 1024
"""Of the OpenRPC document."""
