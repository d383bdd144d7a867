"""The servers that tests of one worker share."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import PostgresServer
from tests.support.program import Program
from tests.system.webhook_receivers import Receiver, run_receiver

CORS_ORIGIN = "https://app.example.test"


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server with the development mailbox. Each test uses its own email addresses.

    A test that stops the server or needs other settings starts its own Program.
    """
    settings = {"TICKOVER_CORS_ORIGINS": CORS_ORIGIN, "TICKOVER_MAX_CLOCKS_PER_USER": "0"}
    with Program(tmp_path_factory.mktemp("program"), **settings) as started:
        yield started


@pytest.fixture(scope="session")
def own_postgres(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A PostgreSQL server of this worker, which tests may stop and configure. They restore it at their end."""
    with postgres.sibling() as started:
        yield started


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with run_receiver() as running:
        yield running
