"""Upper bounds of the JSON that several operations return, in bytes. A batch checks them before it runs a call."""

from typing import Final

from tickover.api.limits import (
    MAX_ACCOUNTS,
    MAX_CATEGORY,
    MAX_CLOCK_GOALS,
    MAX_CLOCK_ITEMS,
    MAX_CLOCK_NAME,
    MAX_CLOCK_TRANSACTIONS,
    MAX_CONTRIBUTIONS,
    MAX_EXPECTATIONS,
    MAX_GOALS,
    MAX_LABEL_NAME,
    MAX_LABEL_VALUE,
    MAX_LABELS,
    MAX_NAME,
    MAX_OPENING_BALANCES,
    MAX_TRANSACTIONS,
    MAX_TRANSFERS,
)

CHARACTER: Final = 6
"""The longest form of a character in JSON: `\\u0001`."""
NAME_AND_CATEGORY: Final = CHARACTER * (MAX_NAME + MAX_CATEGORY)
TRANSACTION: Final = 448 + NAME_AND_CATEGORY + CHARACTER * MAX_NAME
"""With the name at the authorization. A transfer is smaller."""
EXPECTATIONS: Final = MAX_EXPECTATIONS * (512 + NAME_AND_CATEGORY)
_STORY: Final = MAX_ACCOUNTS * (256 + CHARACTER * MAX_NAME) + MAX_OPENING_BALANCES * 48 + EXPECTATIONS
"""What a clock has besides its items."""
NAMES: Final = 64 + CHARACTER * MAX_CLOCK_NAME + MAX_LABELS * (8 + MAX_LABEL_NAME + CHARACTER * MAX_LABEL_VALUE)
"""The name and the labels of a clock."""
_CONTRIBUTION: Final = 144
_GOAL: Final = 448 + CHARACTER * MAX_NAME

SMALL_RESULT: Final = 4096
NEW_CLOCK: Final = (
    1024
    + NAMES
    + _STORY
    + (MAX_TRANSACTIONS + MAX_TRANSFERS) * TRANSACTION
    + MAX_GOALS * (_GOAL + MAX_CONTRIBUTIONS * _CONTRIBUTION)
)
CLOCK: Final = (
    1024
    + NAMES
    + _STORY
    + MAX_CLOCK_TRANSACTIONS * TRANSACTION
    + MAX_CLOCK_GOALS * _GOAL
    + (MAX_CLOCK_ITEMS - MAX_CLOCK_TRANSACTIONS) * _CONTRIBUTION
)
