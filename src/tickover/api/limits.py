"""Limits and lifetimes of the API."""

from datetime import timedelta
from typing import Final

# Clocks
CLOCK_LIFETIME: Final = timedelta(days=7)
SPAN_YEARS: Final = 10
"""Calendar years: how far from now a clock may start, and how far it may advance from its start."""
MAX_TRANSACTIONS: Final = 100
MAX_TRANSFERS: Final = 100
MAX_GOALS: Final = 25
MAX_CONTRIBUTIONS: Final = 100
"""Contributions of one goal in one call."""
MAX_ADDED: Final = 100
"""Entries of each list of `add` of amendTestClock."""
MAX_CANCELLED: Final = 100
# What a clock can hold after amendments
MAX_CLOCK_TRANSACTIONS: Final = 2_000
"""Transactions and transfers of a clock."""
MAX_CLOCK_GOALS: Final = 100
MAX_GOAL_CONTRIBUTIONS: Final = 500
MAX_CLOCK_ITEMS: Final = 5_000
"""Transactions, transfers and contributions of a clock."""
MAX_CLOCK_CURRENCIES: Final = 100
"""Different currencies of a clock."""

# Fields of clocks
MAX_ACCOUNTS: Final = 20
MAX_ACCOUNT_KEY: Final = 40
MAX_NAME: Final = 120
MAX_CATEGORY: Final = 80
MAX_AMOUNT: Final = 1_000_000_000
MAX_PROGRESS_PERCENT: Final = 10**15
"""Over-funding has no limit, but a larger double can't hold two decimals."""
MAX_PAGE: Final = 100
"""Clocks on one page of listTestClocks."""
DEFAULT_PAGE: Final = 20
MAX_IDEMPOTENCY_KEY: Final = 255
MAX_CLOCK_NAME: Final = 200
MAX_LABELS: Final = 20
MAX_LABEL_NAME: Final = 64
MAX_LABEL_VALUE: Final = 200
MAX_PAGE_NAMES: Final = 64 * 1024
"""Bytes of names and labels on one page of listTestClocks. A page that would have more ends early."""
MAX_SCANNED_CLOCKS: Final = 1_000
"""Clocks that one call of listTestClocks with `labels` or `name` looks at."""

MAX_DURATION: Final = 100
"""Characters of a duration."""

# Events, balances and expectations
MAX_EVENTS: Final = 500
"""Events on one page of listTestClockEvents."""
DEFAULT_EVENTS: Final = 100
MAX_OPENING_BALANCE: Final = 10**12
MAX_OPENING_BALANCES: Final = 200
"""Currencies in `openingBalances`. ISO 4217 has fewer."""
MAX_BOUND: Final = 10**13
"""The largest `atLeast` and `atMost`. No balance and no total of a clock can be as large."""
MAX_EXPECTATIONS: Final = 50
MAX_POSTED_COUNT: Final = 1_000_000

# Connections
MAX_CONNECTIONS: Final = 20
"""Connections of one clock."""
MAX_INSTITUTION: Final = 120
DEFAULT_INSTITUTION: Final = "Tickover Bank"
MAX_BANK_FAULTS: Final = 20
MAX_CONNECTION_CALLS: Final = 100
"""The calls of a connection that listConnectionCalls remembers."""
MAX_CONSENT_DAYS: Final = 730
MAX_CALLS_PER_DAY: Final = 1_000

# Scenarios
MAX_SCENARIO_BYTES: Final = 256 * 1024
"""The largest file, and the largest text of createTestClockFromScenario, in UTF-8."""
MAX_SCENARIO_TEXT: Final = 64 * 1024
"""Characters. The included scenarios have up to 4,000."""
MAX_BANK_FILE_UPLOAD: Final = 512 * 1024
"""Bytes of a bank file in scenarioFromStatement. In Base64, it fits in a request."""
MAX_FILE_NAME: Final = 255

# Sign-in
RESEND_INTERVAL: Final = timedelta(seconds=60)
CODE_DIGITS: Final = 6
CODE_LIFETIME: Final = timedelta(minutes=10)
CODE_ATTEMPTS: Final = 5
LINK_LIFETIME: Final = timedelta(hours=1)
SENDS_AN_HOUR: Final = 30
"""Emails to one address since its last sign-in."""
SENDS_AN_HOUR_FROM_ONE_NETWORK: Final = 10
FAILURES_IN_A_ROW: Final = 100
"""The limit of NIST SP 800-63B. A hundred guesses of a million codes succeed with a probability of 1 in 10,000."""
FIXED_CODE_FAILURE_LIFETIME: Final = timedelta(hours=1)
"""How long failures count against an address with a fixed code."""
TOKEN_LIFETIME: Final = timedelta(days=30)
MAX_ACCESS_TOKENS: Final = 50
"""Live access tokens of one user."""
MAX_TOKEN_NAME: Final = 100
MAX_TOKEN_DAYS: Final = 365
DEFAULT_TOKEN_DAYS: Final = 90
MAX_EMAIL: Final = 254
"""Bytes in UTF-8: the limit of RFC 5321 on a path."""
MAX_EMAIL_LOCAL: Final = 64
"""Bytes in UTF-8 before the at sign."""
MAX_EMAIL_LABEL: Final = 63
"""Characters between two dots of the domain."""

# Requests
MAX_HEAD: Final = 32 * 1024
MAX_BODY: Final = 1024 * 1024
MAX_NESTING: Final = 64
"""Levels of arrays and objects in a body, including the body itself."""
MAX_BATCH: Final = 50
MAX_BATCH_BYTES: Final = 8 * 1024 * 1024
"""Size of a batch response. A call that writes is not run if its response might not fit."""
MAX_FAULTS: Final = 10_000
"""Bounds the response to a hostile request. A request within the other limits can't have as many."""

MAX_OBSERVED: Final = 5_000
"""Transactions that one reconcileTestClock compares."""
MAX_OBSERVED_ID: Final = 120
MAX_TOLERANCE_DAYS: Final = 10
