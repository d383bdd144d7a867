"""Maximum sizes of responses, in bytes. A batch checks them before it runs a call."""

from typing import Final

from tickover.api.limits import (
    MAX_CATEGORY,
    MAX_CLOCK_NAME,
    MAX_CONTRIBUTIONS,
    MAX_EVENTS,
    MAX_EXPECTATIONS,
    MAX_GOALS,
    MAX_LABEL_NAME,
    MAX_LABEL_VALUE,
    MAX_LABELS,
    MAX_NAME,
    MAX_OPENING_BALANCES,
    MAX_PAGE,
    MAX_PAGE_NAMES,
    MAX_TRANSACTIONS,
)

_CHARACTER: Final = 6
"""The longest form of a character in JSON: `\\u0001`."""
_TRANSACTION: Final = 256 + _CHARACTER * (MAX_NAME + MAX_CATEGORY)
_CONTRIBUTION: Final = 144
_GOAL: Final = 384 + _CHARACTER * MAX_NAME + MAX_CONTRIBUTIONS * _CONTRIBUTION
_NAMES: Final = 64 + _CHARACTER * MAX_CLOCK_NAME + MAX_LABELS * (8 + MAX_LABEL_NAME + _CHARACTER * MAX_LABEL_VALUE)
_SUMMARY: Final = 256

MAX_ENVELOPE: Final = 64
"""The members of a response other than the result and the id."""
MAX_ERROR: Final = 1024
"""Any error response except INVALID_PARAMS, without the id."""
MAX_SMALL_RESULT: Final = 4096
MAX_CLOCK_RESULT: Final = 1024 + _NAMES + MAX_TRANSACTIONS * _TRANSACTION + MAX_GOALS * _GOAL
MAX_PAGE_RESULT: Final = 1024 + MAX_PAGE * _SUMMARY + MAX_PAGE_NAMES + _NAMES
MAX_EVENTS_RESULT: Final = 1024 + MAX_EVENTS * (256 + _TRANSACTION)
MAX_BALANCES_RESULT: Final = 1024 + (MAX_TRANSACTIONS + MAX_OPENING_BALANCES) * 384
MAX_CHECK_RESULT: Final = 1024 + MAX_EXPECTATIONS * (
    512 + _CHARACTER * (MAX_NAME + MAX_CATEGORY) + max(MAX_TRANSACTIONS, MAX_CONTRIBUTIONS) * 64
)
MAX_DOCUMENT: Final = 256 * 1024
"""The OpenRPC document."""
