"""A real server for all tests of a worker, and a person at a shell for each."""

import asyncio
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.shells import Shell
from tests.mail.servers import MailServer, mail_server
from tests.program import Program, wait_until

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server with the development mailbox. Nothing that a test does there is seen by another person."""
    with Program(tmp_path_factory.mktemp("server"), TICKOVER_RESEND_SECONDS="60") as server:
        yield server


@pytest.fixture
def email() -> str:
    return f"person{next(_NUMBERS)}@example.test"


@pytest.fixture
def stranger(program: Program, tmp_path: Path) -> Shell:
    """Somebody who has not signed in."""
    return Shell(tmp_path / "config", program.url)


@pytest.fixture
def shell(stranger: Shell, email: str) -> Shell:
    """Somebody who has."""
    assert stranger("login", email).code == 0
    return stranger


class RealMail(NamedTuple):
    """A server that sends its mail, and the mail server that gets it."""

    program: Program
    mail: MailServer

    def code(self, email: str) -> str:
        """The code of the newest letter to an address."""
        return [letter.code for letter in self.mail.letters if letter.message["To"] == email][-1]

    def link(self, email: str) -> str:
        """The link of the newest letter to an address."""
        letters = [letter.message for letter in self.mail.letters if letter.message["To"] == email]
        text = letters[-1].get_body(("plain",))
        assert text is not None
        return str(next(word for word in text.get_content().split() if "#token=" in word))


@pytest.fixture(scope="session")
def real_mail(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealMail]:
    servers: list[MailServer] = []
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with mail_server() as server:
            servers.append(server)
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=[serve()])
    thread.start()
    try:
        wait_until(lambda: servers)
        with Program(tmp_path_factory.mktemp("post"), TICKOVER_MAIL_URL=f"smtp://{servers[0].address}") as server:
            yield RealMail(server, servers[0])
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
