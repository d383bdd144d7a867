"""Imports early what the client imports late. pytester forgets modules of its runs, but httpx2 keeps their classes."""

import httpcore2  # noqa: F401
