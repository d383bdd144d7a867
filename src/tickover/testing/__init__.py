"""Support for tests that use a private server: its settings, and a container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tickover.testing.container import TickoverContainer

__all__ = ["TickoverContainer"]

LIMITS: Final = {
    "TICKOVER_RESEND_SECONDS": "1",
    "TICKOVER_SENDS_PER_HOUR": "0",
    "TICKOVER_SENDS_PER_HOUR_PER_NETWORK": "0",
    "TICKOVER_MAX_CLOCKS_PER_USER": "0",
    "TICKOVER_CLIENT_BURST": "0",
    "TICKOVER_CLIENT_REFILL": "0",
}
"""Settings without the limits that protect a public server, because tests exceed them."""

SETTINGS: Final = {
    "TICKOVER_HOST": "127.0.0.1",
    "TICKOVER_PORT": "0",
    "TICKOVER_DATA_DIR": "data",
    "TICKOVER_MAIL_URL": "outbox:",
    "TICKOVER_LOG_LEVEL": "warning",
    **LIMITS,
}
"""Settings of a private server: a free port, stored emails, and no limits."""


def __getattr__(name: str) -> Any:
    """Import the container on first use, because it needs an extra."""
    if name != "TickoverContainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tickover.testing.container import TickoverContainer  # noqa: PLC0415 - it needs an extra

    return TickoverContainer
