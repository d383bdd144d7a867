"""Clients of a real server."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count

import pytest

from tests.support.program import Program
from tickover.client import Tickover
from tickover.client.async_http_pool import AsyncHttpPool
from tickover.client.http_pool import HttpPool

Connect = Callable[..., AbstractAsyncContextManager[HttpPool | AsyncHttpPool]]

_NUMBERS = count()


@pytest.fixture
def email() -> str:
    """An unused email address. Its plus sign must be escaped in URLs."""
    return f"someone+{next(_NUMBERS)}@example.test"


@pytest.fixture
def visitor(program: Program) -> Iterator[Tickover]:
    """A client that isn't signed in."""
    with Tickover(program.url) as client:
        yield client


@pytest.fixture
def client(program: Program, email: str) -> Iterator[Tickover]:
    """A client signed in as a new user."""
    with Tickover(program.url, program.sign_in(email)) as signed_in:
        yield signed_in


@pytest.fixture(params=[HttpPool, AsyncHttpPool])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Opens connections of both kinds."""

    @asynccontextmanager
    async def open_transport(url: str) -> AsyncIterator[HttpPool | AsyncHttpPool]:
        transport = request.param(url)
        if isinstance(transport, AsyncHttpPool):
            transport.reuse()
        try:
            yield transport
        finally:
            await transport.close()

    return open_transport
