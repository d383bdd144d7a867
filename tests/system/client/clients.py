"""Helpers that run the same tests against the sync and the async client."""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tickover.client import AsyncTickover, Tickover

Client = Any
"""A Tickover or an AsyncTickover."""
OpenClient = Callable[..., Any]
"""Opens a client of the tested class as an async context manager."""
CLIENT_CLASSES = [Tickover, AsyncTickover]


def make_opener(client_class: type) -> OpenClient:
    @asynccontextmanager
    async def open_client(*arguments: Any, **options: Any) -> AsyncIterator[Client]:
        client = client_class(*arguments, **options)
        if isinstance(client, AsyncTickover):
            async with client:
                yield client
        else:
            with client:
                yield client

    return open_client


async def resolve(value: Any) -> Any:
    """Return the result of a sync or an async call."""
    return await value if inspect.isawaitable(value) else value


async def collect(values: Any) -> list[Any]:
    """Return all values of a sync or an async iterator."""
    return [value async for value in values] if hasattr(values, "__aiter__") else list(values)


async def catch(errors: type[BaseException] | tuple[type[BaseException], ...], call: Callable[[], Any]) -> Any:
    """Return the exception that the call raises."""
    with pytest.raises(errors) as caught:
        await resolve(call())
    return caught.value
