"""The real program in its own process, and a plain HTTP client for it."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from tests.support.forked_programs import ForkedProcess, open_dev_null
from tests.support.world import HttpResponse

_WAIT_SECONDS = 120.0  # a busy machine takes long to start a program
LAST_BANNER_LINE = "Press Ctrl-C to stop"
TICKOVER = (sys.executable, "-m", "tickover")
SHORT_TIMEOUTS = Path(__file__).with_name("short_timeouts.py")
"""A script for tests of an outage of PostgreSQL."""
LONG_TIMEOUTS = Path(__file__).with_name("long_timeouts.py")
"""A script for tests in which no call may time out, even on a busy machine."""


class Program:
    """`tickover serve` on a free port, with its data in `folder`. It runs inside the context."""

    is_forked: ClassVar[bool] = False
    """Start from a process that has imported the server, which is faster. Otherwise a new Python starts."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        self.folder = folder
        self.data = folder / environment.get("TICKOVER_DATA_DIR", ".tickover")
        self.url = ""
        self.inherited_files: tuple[int, ...] = ()
        """Open files that the process and its children inherit."""
        self.script: Path | None = None
        """A script that runs `tickover` with other timeouts."""
        self._flags = flags
        self.environment = environment
        self._banners = 0
        self._process: subprocess.Popen[str] | ForkedProcess | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def output(self) -> str:
        """Return all output so far."""
        return self._log.read_text()

    @property
    def _log(self) -> Path:
        return self.folder / "output.txt"

    @property
    def process(self) -> "subprocess.Popen[str] | ForkedProcess":
        assert self._process is not None, "the program was not started"
        return self._process

    def start(self) -> None:
        """Start it, and wait for its banner."""
        self.launch()
        self.wait_for_banner()

    def launch(self) -> None:
        """Start it, and return immediately."""
        self._log.touch()
        self._banners = self.output.count(LAST_BANNER_LINE)
        environment = _environment({"TICKOVER_PORT": "0", "TICKOVER_CLIENT_BURST": "0", **self.environment})
        arguments = ("serve", *self._flags)
        # Python reads its own variables only when it starts.
        if self.is_forked and not any(name.startswith("PYTHON") for name in self.environment):
            with open_dev_null() as dev_null, self._log.open("a") as log:
                self._process = ForkedProcess(
                    arguments, self.folder, environment, (dev_null.fileno(), log.fileno(), log.fileno()),
                    script=self.script, inherited_files=self.inherited_files,
                )  # fmt: skip
            return
        # Without -P, modules of this folder would shadow others.
        command = (sys.executable, "-P", str(self.script)) if self.script else TICKOVER
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*command, *arguments],
                cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True,
                pass_fds=self.inherited_files,
            )  # fmt: skip

    def wait_for_banner(self) -> None:
        wait_until(lambda: self.output.count(LAST_BANNER_LINE) > self._banners or self.process.poll() is not None)
        assert self.process.poll() is None, self.output
        self.url = re.findall(r"(?:RPC|Listens) +(http://\S+?)(?:/rpc)?\n", self.output)[-1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(_WAIT_SECONDS)

    def kill(self) -> None:
        """Kill it, as a power failure would."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(_WAIT_SECONDS)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=_WAIT_SECONDS)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return HttpResponse(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(self, body: bytes | Any, token: str | None = None) -> HttpResponse:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.request("POST", "/rpc", content, headers)

    def call(self, method: str, params: Any, token: str | None = None) -> Any:
        """Return the JSON-RPC response."""
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token).json

    def result(self, method: str, params: Any, token: str | None = None) -> Any:
        response = self.call(method, params, token)
        assert "result" in response, response
        return response["result"]

    def batch(self, method: str, every_params: list[Any], token: str | None = None) -> list[Any]:
        """Return the responses to many calls of one method, in order, in batches of at most fifty."""
        responses: list[Any] = []
        for start in range(0, len(every_params), 50):
            calls = [
                {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                for number, params in enumerate(every_params[start : start + 50])
            ]
            responses += self.post(calls, token).json
        return responses

    def exchange_public_token(self, public_token: str) -> Any:
        """Return Plaid's response to an app that exchanges its token."""
        body = {"client_id": "any", "secret": "any", "public_token": public_token}
        headers = {"Content-Type": "application/json"}
        return self.request("POST", "/plaid/item/public_token/exchange", json.dumps(body).encode(), headers).json

    def send_code(self, email: str = "ana@example.test") -> str:
        """Request a code, and read it from the email in the outbox."""
        self.result("sendLoginCodeEmail", code_params(email))
        return str(self.last_email()["Subject"]).split()[0]

    def sign_in(self, email: str = "ana@example.test") -> str:
        """Sign in with a code from the outbox, and return the token."""
        token: str = self.result("loginByEmailVerification", verify_params(email, self.send_code(email)))["token"]
        return token

    def last_email(self) -> EmailMessage:
        return _read_email(max(self._email_files()))

    def emails(self) -> list[EmailMessage]:
        """The emails in the outbox, oldest first."""
        return [_read_email(file) for file in sorted(self._email_files())]

    @property
    def email_count(self) -> int:
        return sum(1 for _ in self._email_files())

    def _email_files(self) -> Iterator[Path]:
        """Return the files of emails. Their names sort by time."""
        return (self.data / "outbox").glob("*.eml")


def _read_email(file: Path) -> EmailMessage:
    return message_from_bytes(file.read_bytes(), policy=policy.default)


def _environment(more: dict[str, str]) -> dict[str, str]:
    """Return this process's environment without settings of the program."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")} | more


def run_tickover(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `tickover` with these arguments, and wait for its end."""
    command, complete = [*TICKOVER, *arguments], _environment(environment)
    # Python reads its own variables only when it starts.
    if not Program.is_forked or any(name.startswith("PYTHON") for name in environment):
        return subprocess.run(
            command, cwd=folder, env=complete, capture_output=True, text=True, timeout=_WAIT_SECONDS, check=False
        )
    with open_dev_null() as dev_null, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        streams = (dev_null.fileno(), output.fileno(), errors.fileno())
        code = ForkedProcess(arguments, folder, complete, streams).wait(_WAIT_SECONDS)
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, code, output.read(), errors.read())


def code_params(email: str) -> dict[str, str]:
    return {"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}


def link_params(email: str) -> dict[str, str]:
    return {"email": email, "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}


def verify_params(email: str, code: str) -> dict[str, str]:
    return {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}


def wait_until(condition: Callable[[], object], seconds: float = _WAIT_SECONDS) -> None:
    """Wait until the condition is true. Fail after a timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition didn't become true in time"
        time.sleep(0.01)


async def until(condition: Callable[[], Awaitable[object] | object]) -> None:
    """Like `wait_until`, while the event loop runs. The condition may be asynchronous."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        found = condition()
        if await found if isinstance(found, Awaitable) else found:
            return
        assert time.monotonic() < deadline, "it didn't happen in time"
        await asyncio.sleep(0.02)
