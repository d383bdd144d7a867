"""The real program in a process of its own, and a plain HTTP client for it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from tests.support.world import HttpResponse

_WAIT_SECONDS = 120.0  # a busy machine takes long to start a program; nobody waits so long on an idle one
LAST_LINE_OF_THE_BANNER = "Press Ctrl-C to stop"


class Program:
    """`tickover serve` on a free port, with its data in `folder`. Usable once entered; ends when left."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        self.folder = folder
        self.data = folder / environment.get("TICKOVER_DATA_DIR", ".tickover")
        self.url = ""
        self.hands_on: tuple[int, ...] = ()
        """Open files that it inherits, and all processes that it starts."""
        self._flags = flags
        self.environment = environment
        self._banners = 0
        self._process: subprocess.Popen[str] | None = None

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
        """All that it has printed so far, over all its starts."""
        return self._log.read_text()

    @property
    def _log(self) -> Path:
        return self.folder / "output.txt"

    @property
    def process(self) -> "subprocess.Popen[str]":
        assert self._process is not None, "the program was not started"
        return self._process

    def start(self) -> None:
        """Start it, and wait for its banner."""
        self.launch()
        self.wait_for_banner()

    def launch(self) -> None:
        """Start it, and wait for nothing."""
        self._banners = self.output.count(LAST_LINE_OF_THE_BANNER) if self._log.exists() else 0
        environment = _environment({"TICKOVER_PORT": "0", "TICKOVER_CLIENT_BURST": "0", **self.environment})
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [*_TICKOVER, "serve", *self._flags],
                cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True,
                pass_fds=self.hands_on,
            )  # fmt: skip

    def wait_for_banner(self) -> None:
        wait_until(
            lambda: self.output.count(LAST_LINE_OF_THE_BANNER) > self._banners or self.process.poll() is not None
        )
        assert self.process.poll() is None, self.output
        self.url = re.findall(r"RPC +(http://\S+)/rpc", self.output)[-1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop, and wait until it has; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(_WAIT_SECONDS)

    def kill(self) -> None:
        """End it as a loss of power would, with nothing finished."""
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
        written = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.request("POST", "/rpc", written, headers)

    def call(self, method: str, params: Any, token: str | None = None) -> Any:
        """The whole JSON-RPC answer."""
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token).json

    def result(self, method: str, params: Any, token: str | None = None) -> Any:
        answer = self.call(method, params, token)
        assert "result" in answer, answer
        return answer["result"]

    def batch(self, method: str, every_params: list[Any], token: str | None = None) -> list[Any]:
        """The answers to many calls of one method, in the order given; at most fifty travel together."""
        answers: list[Any] = []
        for start in range(0, len(every_params), 50):
            calls = [
                {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                for number, params in enumerate(every_params[start : start + 50])
            ]
            answers += self.post(calls, token).json
        return answers

    def send_code(self, email: str = "ana@example.test") -> str:
        """Have a code sent, and read it from the letter in the outbox."""
        self.result("sendLoginCodeEmail", code_params(email))
        return str(_read_letter(max(self._letter_files()))["Subject"]).split()[0]

    def sign_in(self, email: str = "ana@example.test") -> str:
        """A bearer token, by way of the outbox."""
        token: str = self.result("loginByEmailVerification", verify_params(email, self.send_code(email)))["token"]
        return token

    def emails(self) -> list[EmailMessage]:
        """The emails in the outbox, oldest first."""
        return [_read_letter(file) for file in sorted(self._letter_files())]

    def _letter_files(self) -> Iterator[Path]:
        """Their names sort by time."""
        return (self.data / "outbox").glob("*.eml")


def _read_letter(file: Path) -> EmailMessage:
    return message_from_bytes(file.read_bytes(), policy=policy.default)


_TICKOVER = (sys.executable, "-m", "tickover")


def _environment(more: dict[str, str]) -> dict[str, str]:
    """This process's own, without what would be a setting of the program."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")} | more


def run_tickover(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """`tickover` with these arguments, which has to end by itself."""
    return subprocess.run(
        [*_TICKOVER, *arguments],
        cwd=folder, env=_environment(environment), capture_output=True, text=True, timeout=_WAIT_SECONDS, check=False,
    )  # fmt: skip


def code_params(email: str) -> dict[str, str]:
    return {"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}


def link_params(email: str) -> dict[str, str]:
    return {"email": email, "loginCodeType": "LONG_LIVED", "emailType": "WEB_LOGIN_LINK"}


def verify_params(email: str, code: str) -> dict[str, str]:
    return {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}


def wait_until(condition: Callable[[], object], seconds: float = _WAIT_SECONDS) -> None:
    """Wait for something that another process does; fail aloud when it does not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
