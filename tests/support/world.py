"""The server in one process, with a wall clock that the test sets and predictable IDs."""

import asyncio
import json
import logging
import random
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from msgspec.structs import replace

from tests.support.sqlite_files import create_database
from tests.support.stores import open_checked_store
from tickover.api.limits import MAX_BODY
from tickover.server.bank.routes import BankRoutes
from tickover.server.gate import Gate
from tickover.server.http1.http_messages import Request, merge
from tickover.server.isolated_process import IsolatedProcess
from tickover.server.logs import Log
from tickover.server.metrics.numbers import SharedNumbers
from tickover.server.operations.services import Services
from tickover.server.rpc.dispatch import Dispatcher
from tickover.server.rpc.openrpc import describe
from tickover.server.settings import Settings, read_settings
from tickover.server.sign_in.mail.composer import Composer
from tickover.server.sign_in.mail.mailer import Mailer
from tickover.server.sign_in.mail.outbox import Mailbox, Outbox
from tickover.server.sign_in.tokens import Mint
from tickover.server.storage.store import Store
from tickover.server.web.handler import Handler
from tickover.server.web.pages import Site

NOW = datetime(2027, 1, 1, 12, 0, tzinfo=UTC)
ANA = "ana@example.test"

_LOGGER = logging.getLogger("tests")
_PYTHON = sys.executable

# All worlds share these, because creating them takes longer than most tests.
COMPOSER = Composer("Tickover <tickover@example.test>")
# Time doesn't pass in a test, so a client's rate limit would never reset. Tests of it set one.
SETTINGS = read_settings(
    {},
    {
        "host": "0.0.0.0",
        "mail_url": "smtp://mail.example.test",
        "public_url": "https://tickover.example.test",
        "client_burst": "0",
    },
)


class HttpResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def send_request(handler: Handler, request: Request) -> HttpResponse:
    """Send a request without a connection. Too large bodies are handled as a connection does."""
    size = int(request.fields.get(b"content-length", 0))
    is_too_large = request.body is None or max(size, len(request.body)) > MAX_BODY
    if is_too_large:
        request.body = None
    response = handler.handle(request)
    status, headers, body = response if isinstance(response, tuple) else await response
    all_headers = [*headers, *([(b"connection", b"close")] if is_too_large else [])]
    names = [name for name, _ in all_headers if name != b"vary"]
    assert len(names) == len(set(names)), "a header is repeated"
    return HttpResponse(status, {name.decode(): value.decode() for name, value in all_headers}, body)


_idle_processes: dict[asyncio.AbstractEventLoop, Process] = {}
"""Processes of closed worlds. Starting another takes longer than most tests."""


async def close_idle_processes() -> None:
    for process in _idle_processes.values():
        process.kill()
        await process.communicate()
    _idle_processes.clear()


class _ReusedProcess(IsolatedProcess):
    async def _start(self) -> Process:
        # A test may replace the program.
        if self._process is None and sys.executable == _PYTHON:
            self._process = _idle_processes.pop(asyncio.get_running_loop(), None)
        return await super()._start()

    async def kill(self) -> None:
        """Kill the process, which must be running, as an operating system without memory does."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def release(self) -> None:
        """Let the next world use the process."""
        loop = asyncio.get_running_loop()
        if self._process and self._process.returncode is None and loop not in _idle_processes:
            _idle_processes[loop] = self._process
        else:
            await self.close()


class World:
    """A server and a client. The test can set `now` and read emails."""

    def __init__(
        self, store: Store, mailer: Mailer, outbox: Path, settings: Settings = SETTINGS, seed: int = 1
    ) -> None:
        self.now = NOW
        self.token = ""
        self.client = "203.0.113.7"
        self.store = store
        self.outbox = outbox
        self._numbers = count(1)
        self.random = random.Random(seed)
        mint = Mint(b"a key for tests alone", self.random.randbytes)
        log = Log(_LOGGER)
        openrpc = partial(describe, settings.public_url)
        self.isolated_process = _ReusedProcess()
        self.services = Services(store, mailer, mint, settings.with_address(""), self.isolated_process, openrpc)
        self.numbers = SharedNumbers()
        self.gate = Gate(log, settings.max_in_flight, self.numbers.recorder().record_call)
        self.rpc = Dispatcher(self.services, self.gate)
        self.site = Site(openrpc, Mailbox(outbox), settings.resend_seconds)
        self._bank = BankRoutes(self.services, self.gate)
        self.handler = self.new_handler(settings, log)

    def new_handler(self, settings: Settings, log: Log, ping: Callable[[], Awaitable[None]] | None = None) -> Handler:
        """Return a handler with these settings and this log, and otherwise the parts of this world."""
        ping = ping or self.store.ping
        return Handler(settings, self.gate, self.rpc, self._bank, self.site, ping, log=log, now=lambda: self.now)

    def pass_time(self, **amount: float) -> None:
        self.now += timedelta(**amount)

    async def request(
        self, method: str, path: str, body: bytes | None = b"", headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Send one HTTP request."""
        fields = [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
        path, _, query = path.partition("?")
        return await send_request(self.handler, Request(method, path, query.encode(), merge(fields), self.client, body))

    async def post(self, body: bytes | Any, token: str | None = None, **headers: str) -> HttpResponse:
        """POST to /rpc: bytes unchanged, anything else as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {"Content-Type": "application/json", **headers}
        if token is not None:
            all_headers["Authorization"] = f"Bearer {token}"
        return await self.request("POST", "/rpc", content, all_headers)

    async def call(self, method: str, params: Any = None, token: str | None = None) -> HttpResponse:
        envelope = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method}
        return await self.post(envelope if params is None else {**envelope, "params": params}, token)

    async def result(self, method: str, params: Any = None, token: str | None = None) -> Any:
        """Return the result of a call that must succeed."""
        response = (await self.call(method, params, token)).json
        assert "result" in response, response
        return response["result"]

    async def error(self, method: str, params: Any = None, token: str | None = None) -> Any:
        """Return the error of a call that must fail."""
        response = (await self.call(method, params, token)).json
        assert "error" in response, response
        return response["error"]

    async def faults(self, method: str, params: Any = None, token: str | None = None) -> dict[str, str]:
        """Return the paths of an INVALID_PARAMS error, each with its rule."""
        error = await self.error(method, params, token)
        assert error["data"]["reason"] == "INVALID_PARAMS", error
        return {fault["path"]: fault["rule"] for fault in error["data"]["errors"]}

    async def create(self, token: str, **params: Any) -> Any:
        return (await self.result("createTestClock", params, token))["clock"]

    async def advance(self, token: str, clock_id: str, frozen_time: str) -> Any:
        return (await self.result("advanceTestClock", {"id": clock_id, "frozenTime": frozen_time}, token))["clock"]

    async def send_code(self, email: str = ANA) -> str:
        """Request a code, and read it from the email."""
        params = {"email": email, "loginCodeType": "SHORT_LIVED", "emailType": "LOGIN_CODE"}
        assert await self.result("sendLoginCodeEmail", params) == {"message": "ok"}
        newest = max(self.outbox.glob("*.eml"))
        subject = next(line for line in newest.read_text().splitlines() if line.startswith("Subject: "))
        return subject.split()[1]

    async def sign_in(self, email: str = ANA) -> str:
        """Sign in with a new code, and return the token. A minute passes, so that the next email is allowed."""
        code = await self.send_code(email)
        params = {"email": email, "code": code, "authenticationMethod": "EMAIL_CODE"}
        token: str = (await self.result("loginByEmailVerification", params))["token"]
        self.pass_time(minutes=1)
        return token

    @contextmanager
    def logging_calls(self) -> Iterator[None]:
        """Log every call, as with TICKOVER_LOG_LEVEL=debug."""
        before = _LOGGER.level
        _LOGGER.setLevel(logging.DEBUG)
        yield
        _LOGGER.setLevel(before)

    def emails(self) -> list[EmailMessage]:
        """The emails in the outbox, oldest first."""
        files = sorted(self.outbox.glob("*.eml"))
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]


@asynccontextmanager
async def open_world(folder: Path, database_url: str = "", **settings: Any) -> AsyncIterator[World]:
    """Open a server with its outbox, and an SQLite file unless there is a URL, in this folder."""
    store = await open_checked_store(database_url or create_database(folder))
    outbox = Outbox(folder / "outbox", COMPOSER)
    try:
        world = World(store, outbox, folder / "outbox", replace(SETTINGS, **settings))
        try:
            yield world
        finally:
            await world.isolated_process.release()
    finally:
        await store.close()


class _SignedIn(NamedTuple):
    """A world on SQLite after Ana signed in."""

    files: dict[str, bytes]
    random_state: tuple[Any, ...]
    token: str


_signed_in: list[_SignedIn] = []
"""Empty, or the one that all tests of this process copy."""


def _read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def _sign_in_once() -> _SignedIn:
    if not _signed_in:
        with TemporaryDirectory() as folder:
            async with open_world(Path(folder)) as world:
                token = await world.sign_in()
            _signed_in.append(_SignedIn(_read_files(Path(folder)), world.random.getstate(), token))
    return _signed_in[0]


@asynccontextmanager
async def open_signed_in_world(folder: Path) -> AsyncIterator[World]:
    """Open a copy of a world in which Ana has signed in, which is faster than signing in."""
    signed_in = await _sign_in_once()
    (folder / "outbox").mkdir(mode=0o700)
    for name, content in signed_in.files.items():
        (folder / name).write_bytes(content)
    async with open_world(folder) as world:
        world.random.setstate(signed_in.random_state)
        world.token = signed_in.token
        world.pass_time(minutes=1)
        yield world


async def run_concurrently(count: int, act: Any) -> list[Any]:
    """Call `act` with each number below `count`, all concurrently."""
    return await asyncio.gather(*(act(number) for number in range(count)))
