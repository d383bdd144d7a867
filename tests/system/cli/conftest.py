"""Fixtures: a user with a shell per test, and a server that sends real mail."""

import asyncio
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.mail_servers import MailServer, mail_server
from tests.support.program import Program, wait_until
from tests.system.shells import Shell

_USER_NUMBERS = count(1)


@pytest.fixture
def email() -> str:
    return f"user{next(_USER_NUMBERS)}@example.test"


@pytest.fixture
def signed_out_shell(program: Program, tmp_path: Path) -> Shell:
    """The shell of a user who isn't signed in."""
    return Shell(tmp_path / "config", program.url)


@pytest.fixture
def shell(signed_out_shell: Shell, email: str) -> Shell:
    """The shell of a signed-in user."""
    assert signed_out_shell("login", email).code == 0
    return signed_out_shell


@pytest.fixture
def offline_shell(tmp_path: Path) -> Shell:
    """A shell without a server."""
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


class SmtpServer(NamedTuple):
    """A Tickover server that sends real mail, and the SMTP server that receives it."""

    program: Program
    mail: MailServer

    def code(self, email: str) -> str:
        """Return the code of the newest email to an address."""
        return [message.code for message in self.mail.emails if message.message["To"] == email][-1]

    def link(self, email: str) -> str:
        """Return the login link of the newest email to an address."""
        emails = [message.message for message in self.mail.emails if message.message["To"] == email]
        text = emails[-1].get_body(("plain",))
        assert text is not None
        return str(next(word for word in text.get_content().split() if "#token=" in word))


@pytest.fixture(scope="session")
def smtp_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmtpServer]:
    started: list[MailServer] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with mail_server() as server:
            started.append(server)
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=[serve()])
    thread.start()
    try:
        wait_until(lambda: started)
        with Program(tmp_path_factory.mktemp("smtp"), TICKOVER_MAIL_URL=f"smtp://{started[0].address}") as server:
            yield SmtpServer(server, started[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture
def smtp_shell(smtp_server: SmtpServer, tmp_path: Path) -> Shell:
    """The shell of a user who isn't signed in at the server that sends real mail."""
    return Shell(tmp_path / "config", smtp_server.program.url)
