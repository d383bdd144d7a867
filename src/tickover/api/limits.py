"""Every number of the interface, named once."""

from datetime import timedelta
from typing import Final

# Clocks
CLOCK_LIFETIME: Final = timedelta(days=7)
SPAN_YEARS: Final = 10
"""How far from now a clock may start, and how far from its start it may run, in calendar years."""
MAX_TRANSACTIONS: Final = 100
MAX_GOALS: Final = 25
MAX_CONTRIBUTIONS: Final = 100
MAX_NAME: Final = 120
MAX_CATEGORY: Final = 80
MAX_AMOUNT: Final = 1_000_000_000
MAX_PROGRESS_PERCENT: Final = 10**15
"""A tiny target can be over-funded without bound; beyond this a double no longer holds two decimals."""
MAX_PAGE: Final = 100
DEFAULT_PAGE: Final = 20
"""Clocks that listTestClocks gives at once, at the most and unless told otherwise."""
MAX_IDEMPOTENCY_KEY: Final = 255

# Signing in
RESEND_INTERVAL: Final = timedelta(seconds=60)
CODE_DIGITS: Final = 6
CODE_LIFETIME: Final = timedelta(minutes=10)
CODE_TRIES: Final = 5
LINK_LIFETIME: Final = timedelta(hours=1)
SENDS_AN_HOUR: Final = 30
SENDS_AN_HOUR_FROM_ONE_NETWORK: Final = 10
"""Both count letters to one address that no sign-in has followed."""
FAILURES_IN_A_ROW: Final = 100
"""NIST SP 800-63B's ceiling: a hundred guesses at a million codes are one chance in ten thousand."""
CLIENT_BURST: Final = 300
CLIENT_REFILL: Final = 5
"""Calls a second that one client address may make to the public operations, after its burst."""
TOKEN_LIFETIME: Final = timedelta(days=30)
MAIL_CONVERSATION: Final = timedelta(seconds=10)
"""For everything that is said to the mail server about one letter."""
MAX_EMAIL: Final = 254
"""Bytes in UTF-8, by RFC 5321's limit on a path."""
MAX_EMAIL_LOCAL: Final = 64
"""Bytes in UTF-8 of what comes before the at sign."""
MAX_EMAIL_LABEL: Final = 63
"""Characters between two dots of the domain."""

# Requests
REQUEST_DEADLINE: Final = timedelta(seconds=30)
"""For the whole of a request to come in, head and body."""
MAX_HEAD: Final = 32 * 1024
MAX_BODY: Final = 1024 * 1024
MAX_NESTING: Final = 64
"""Levels of arrays and objects in a body, the body itself included."""
MAX_BATCH: Final = 50
MAX_BATCH_BYTES: Final = 8 * 1024 * 1024
"""Of the response to a batch. A call whose response might not fit is refused before it runs."""
MAX_UNFINISHED_BYTES: Final = 64 * 1024 * 1024
"""Of the responses to all unfinished batches of a process."""
MAX_LARGE_CALLS: Final = 32
"""Calls with much data that a process runs at the same time. Further ones wait."""
MAX_SMALL_PARAMS: Final = 16 * 1024
"""Bytes of parameters above which a call is large."""
MAX_FAULTS: Final = 10_000
"""More than a request within its counts can have; keeps the answer to a hostile one bounded."""
