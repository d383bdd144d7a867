"""The real program in a process of its own, and a plain HTTP client for it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from tests.world import Answer

_WAIT_SECONDS = 20.0


class Program:
    """`tickover serve` on a free port, with its data in `folder`. Usable once entered; ends when left."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        self.folder = folder
        self.url = ""
        self._flags = flags
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
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
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TICKOVER_")}
        environment |= {"TICKOVER_PORT": "0", **self._environment}
        already = self.output.count("Ctrl-C stops it") if self._log.exists() else 0
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tickover", "serve", *self._flags],
                cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        wait_until(lambda: self.output.count("Ctrl-C stops it") > already or self.process.poll() is not None)
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
    ) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=_WAIT_SECONDS)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(self, body: bytes | Any, token: str | None = None) -> Answer:
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

    def sign_in(self, email: str = "ana@example.test") -> str:
        """A bearer token, by way of the outbox in the data folder."""
        send = {"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
        self.result("sendLoginCodeEmail", send)
        newest = max((self.folder / ".tickover" / "outbox").glob("*.eml"))
        code = message_from_bytes(newest.read_bytes(), policy=policy.default)["Subject"].split()[0]
        verify = {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}
        token: str = self.result("loginByEmailVerification", verify)["token"]
        return token


def wait_until(condition: Any, seconds: float = _WAIT_SECONDS) -> None:
    """Wait for something that another process does; fail aloud when it does not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
