"""A real server for all tests of one process, and both kinds of client."""

from collections.abc import AsyncIterator, Iterator
from itertools import count

import pytest

from tests.client.driving import KINDS, Client, Opener, opener
from tests.program import Program

_NUMBERS = count()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with Program(tmp_path_factory.mktemp("program")) as started:
        yield started


@pytest.fixture(params=KINDS, ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> type:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def opened(kind: type) -> Opener:
    return opener(kind)


@pytest.fixture
def email() -> str:
    """An address of which nobody has heard yet, with a sign that urls write in another way."""
    return f"someone+{next(_NUMBERS)}@example.test"


@pytest.fixture
async def client(opened: Opener, program: Program, email: str) -> AsyncIterator[Client]:
    """Somebody new is signed in."""
    async with opened(program.url, program.sign_in(email)) as signed_in:
        yield signed_in
