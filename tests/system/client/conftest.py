"""Both client classes, and a client of a new user."""

from collections.abc import AsyncIterator
from itertools import count

import pytest

from tests.support.program import Program
from tests.system.client.clients import CLIENT_CLASSES, Client, OpenClient, make_opener

_NUMBERS = count()


@pytest.fixture(params=CLIENT_CLASSES, ids=["sync", "async"])
def client_class(request: pytest.FixtureRequest) -> type:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def open_client(client_class: type) -> OpenClient:
    return make_opener(client_class)


@pytest.fixture
def email() -> str:
    """An unused email address. Its plus sign must be escaped in URLs."""
    return f"someone+{next(_NUMBERS)}@example.test"


@pytest.fixture
async def client(open_client: OpenClient, program: Program, email: str) -> AsyncIterator[Client]:
    """A client signed in as a new user."""
    async with open_client(program.url, program.sign_in(email)) as signed_in:
        yield signed_in
