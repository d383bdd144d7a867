"""Imports early what the client imports late. pytester forgets modules of its runs, but httpx2 keeps their classes."""

import anyio._backends._asyncio  # noqa: F401
import httpcore2  # noqa: F401
