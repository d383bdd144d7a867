"""Single calls to a server: sign-ins and checks of responses."""

import http.client
import json
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab.bench.load import Clocks
from tests.support.program import code_params, verify_params

_TIMEOUT_SECONDS = 60.0
_GOLDEN_RATIO = (5**0.5 - 1) / 2

ReadCode = Callable[[str], str]
"""Returns the code in the newest email to an address."""


class Caller:
    """Sends calls on one connection."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)

    def call(self, method: str, params: Any, token: str = "") -> tuple[int, bytes]:
        """Return the status and the body of the response."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        body = json.dumps({"jsonrpc": "2.0", "id": 1000, "method": method, "params": params})
        return self.send("POST", "/rpc", body, headers)

    def send(self, method: str, path: str, body: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        self._connection.request(method, path, body.encode(), headers)
        response = self._connection.getresponse()
        return response.status, response.read()

    def close(self) -> None:
        self._connection.close()


def post(url: str, method: str, params: Any, token: str = "") -> bytes:
    """Return the body of the response."""
    with closing(Caller(url)) as caller:
        return caller.call(method, params, token)[1]


def result(url: str, method: str, params: Any, token: str = "") -> Any:
    response = json.loads(post(url, method, params, token))
    assert "result" in response, f"The response to {method} is {response}"
    return response["result"]


def is_ready(url: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def sign_in(url: str, read_code: ReadCode, email: str) -> str:
    """Sign in with a code, and return the token."""
    result(url, "sendLoginCodeEmail", code_params(email))
    return str(result(url, "loginByEmailVerification", verify_params(email, read_code(email)))["token"])


def read_outbox(data: Path) -> ReadCode:
    """Return a function that reads codes from the outbox. File names sort by time."""

    def read(email: str) -> str:
        message = max((data / "outbox").glob("*.eml")).read_text("utf-8", "replace")
        assert email in message, f"The newest email is not to {email}"
        found = re.search(r"^Subject: ([0-9]{6})", message, re.MULTILINE)
        assert found, message
        return found[1]

    return read


def clocks_of(created: list[tuple[str, int]], tokens: list[str], params: Any) -> Clocks:
    """Return the clocks that were created with these parameters, with the recorded IDs.

    They are not sorted by age: any sequence of them is spread over all clocks.
    """
    spread = sorted(range(len(created)), key=lambda index: index * _GOLDEN_RATIO % 1)
    ids, owners = zip(*(created[index] for index in spread), strict=True)
    return Clocks(ids, owners, tokens, int(datetime.fromisoformat(params["frozenTime"]).timestamp()))
