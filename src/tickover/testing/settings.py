"""Settings of private servers for tests."""

from collections.abc import Mapping
from typing import Final

LIMITS: Final[Mapping[str, str]] = {
    "TICKOVER_RESEND_SECONDS": "1",
    "TICKOVER_SENDS_PER_HOUR": "0",
    "TICKOVER_SENDS_PER_HOUR_PER_NETWORK": "0",
    "TICKOVER_MAX_CLOCKS_PER_USER": "0",
    "TICKOVER_CLIENT_BURST": "0",
    "TICKOVER_CLIENT_REFILL": "0",
}
"""Settings without the limits that protect a public server, because tests exceed them."""

SETTINGS: Final[Mapping[str, str]] = {
    "TICKOVER_HOST": "127.0.0.1",
    "TICKOVER_PORT": "0",
    "TICKOVER_DATA_DIR": "data",
    "TICKOVER_MAIL_URL": "outbox:",
    "TICKOVER_LOG_LEVEL": "warning",
    **LIMITS,
}
"""Settings of a private server: a free port, stored emails, and no limits."""
