"""Support for tests that use a private server: its settings, and a container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickover.testing.container import TickoverContainer

__all__ = ["TickoverContainer"]


def __getattr__(name: str) -> Any:
    """Import the container on first use, because it needs an extra."""
    if name != "TickoverContainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tickover.testing.container import TickoverContainer  # noqa: PLC0415 - it needs an extra

    return TickoverContainer
