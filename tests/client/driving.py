"""Both kinds of client, driven by the same tests: what one returns, the other has awaited."""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tickover.client import AsyncTickover, Tickover

Client = Any
"""A Tickover or an AsyncTickover."""
Opener = Callable[..., Any]
"""Opens a client of the kind that is under test, for as long as `async with` lasts."""
KINDS = [Tickover, AsyncTickover]


def opener(kind: type) -> Opener:
    @asynccontextmanager
    async def opened(*arguments: Any, **options: Any) -> AsyncIterator[Client]:
        client = kind(*arguments, **options)
        if isinstance(client, AsyncTickover):
            async with client:
                yield client
        else:
            with client:
                yield client

    return opened


async def done(value: Any) -> Any:
    """What a call comes to."""
    return await value if inspect.isawaitable(value) else value


async def every(values: Any) -> list[Any]:
    """All that an iterator gives, of either kind."""
    return [value async for value in values] if hasattr(values, "__aiter__") else list(values)


async def raised(kinds: type[BaseException] | tuple[type[BaseException], ...], ask: Callable[[], Any]) -> Any:
    """The exception, of one of these kinds, that a call ends with."""
    with pytest.raises(kinds) as caught:
        await done(ask())
    return caught.value
