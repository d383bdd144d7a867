"""Continuous writes during failures, and a check that all confirmed writes are stored."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any, Protocol

from lab.soak.clock_writer import ClockWriter, Json, check_clocks
from lab.soak.raw_connections import ConnectionLost, RawConnection, ResponseTruncated, connect
from lab.soak.sign_ins import SignIns
from tests.support.program import Program, link_params, until, wait_until
from tests.support.world import HttpResponse

PAUSE_SECONDS = 0.03
"""The pause of a caller after an unavailable database. Without it, callers would take all processor time."""
_NUMBERS = count()
_MAX_SIGN_INS = 20


def is_unavailable(response: HttpResponse) -> bool:
    """Return whether the database was unavailable, which is the only expected error of a server."""
    if response.status < 500:
        return False
    assert (response.status, response.json["error"]["data"]["reason"]) == (503, "UNAVAILABLE"), response
    assert int(response.headers["retry-after"]) >= 1
    return True


class LoadTarget(Protocol):
    """Programs with one database."""

    programs: list[Program]

    def ask(self, sql: str) -> list[str]:
        """Return rows as lines with columns separated by |."""

    def stop(self) -> None:
        """Stop all programs gracefully."""


class WriteLoad:
    """Callers that write until they are stopped. If a server is lost, its callers use another one, or wait for one.

    A caller pauses between two calls. Without a pause, callers take all processor time. At the end, the servers are
    stopped, unless `stops_servers` is false.
    """

    def __init__(self, servers: LoadTarget, pause_seconds: float = 0, stops_servers: bool = True) -> None:
        self._servers = servers
        self._pause_seconds = pause_seconds
        self._stops_servers = stops_servers
        first = servers.programs[0]
        name, self._token = _sign_in(first)
        self._sign_ins = SignIns(first.data / "outbox", name)
        self._writers: list[ClockWriter] = []
        self._turns = count()
        self._stopping = False
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()
        self.running = list(servers.programs)
        self.proxy_url = ""
        """The address for calls, if they go through a proxy."""
        self.results = 0
        self.rejections = 0
        self.broken = 0
        """Number of connections lost during a call."""

    @asynccontextmanager
    async def of(self, writers: int, visitors: int) -> AsyncIterator[None]:
        """Run this number of callers, then check the stored data."""
        self._writers = [ClockWriter(self._token) for _ in range(writers)]
        async with asyncio.TaskGroup() as callers:
            for writer in self._writers:
                callers.create_task(self._run(partial(self._write, writer)))
            for _ in range(visitors):
                callers.create_task(self._run(self._sign_ins.visit))
            try:
                yield
            finally:
                self._stopping = True
                self._may_go_on.set()
        await asyncio.to_thread(self._check)

    async def _run(self, step: "Callable[[_Caller], Coroutine[Any, Any, None]]") -> None:
        caller = _Caller(self)
        try:
            while not self._stopping:
                await step(caller)
        finally:
            caller.close()

    async def _write(self, writer: ClockWriter, caller: "_Caller") -> None:
        await writer.step(caller)

    async def next_connection(self) -> RawConnection | None:
        """Connect to the next server, when callers may go on. Return None if the load ends or no server is there."""
        await self._may_go_on.wait()
        if self._stopping or not self.running:
            return None
        try:
            return await connect(self.proxy_url or self.running[next(self._turns) % len(self.running)].url)
        except ConnectionError:
            return None

    async def pause(self) -> None:
        await asyncio.sleep(self._pause_seconds)
        await self._may_go_on.wait()

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Pause all callers."""
        self._may_go_on.clear()
        try:
            yield
        finally:
            self._may_go_on.set()

    async def succeed(self, more: int) -> None:
        """Wait until this number of further calls has succeeded."""
        enough = self.results + more
        await until(lambda: self.results >= enough)

    async def be_rejected(self, more: int) -> None:
        """Wait until this number of further calls was rejected as unavailable."""
        enough = self.rejections + more
        await until(lambda: self.rejections >= enough)

    async def until_readiness_is(self, status: int) -> None:
        """Wait until /readyz of every server returns this status. /healthz must always return 200."""
        for program in self.running:
            await until(partial(_is_alive_and_says, program, status))

    def _check(self) -> None:
        """Check that confirmed writes are stored and unconfirmed ones are complete or missing."""
        program = self._servers.programs[0]
        ids = list(_clock_ids(program, self._token))
        views = (_read(program, ids[start : start + 50], self._token) for start in range(0, len(ids), 50))
        check_clocks(self._writers, (view for some in views for view in some))
        # No response has the number of failures.
        rows = self._servers.ask("select email, count from login_failures where email like '%@%'")
        counted = dict(row.split("|") for row in rows)
        for email, failures in self._sign_ins.failures.items():
            assert int(counted.get(email, 0)) >= failures, f"failures of {email} were forgotten"
        for token in self._sign_ins.live:
            assert "result" in _respond(program, "getCurrentUser", {}, token), "a token was lost"
        for token in self._sign_ins.revoked:
            assert "error" in _respond(program, "getCurrentUser", {}, token), "a logout was lost"
        if self._stops_servers:
            self._servers.stop()


class _Caller:
    """A caller on one connection at a time."""

    def __init__(self, load: WriteLoad) -> None:
        self._load = load
        self._connection: RawConnection | None = None

    async def call(self, method: str, params: Json, token: str | None = None, key: str = "") -> Any | None:
        """Return the response, or None if the server or its database was unavailable."""
        if self._connection is None:
            self._connection = await self._load.next_connection()
        if self._connection is None:
            await asyncio.sleep(0.01)
            return None
        try:
            self._connection.send(method, params, token, key)
            response = await self._connection.receive()
        except (ConnectionLost, ResponseTruncated):
            self._load.broken += 1
            self.close()
            return None
        if is_unavailable(response):
            self._load.rejections += 1
            await asyncio.sleep(PAUSE_SECONDS)
            return None
        self._load.results += 1
        await self._load.pause()
        return response.json

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _sign_in(program: Program) -> tuple[str, str]:
    """Return the name and the token of a new user. With short timeouts, a busy machine may need several users."""
    for _ in range(_MAX_SIGN_INS):
        name = f"load{next(_NUMBERS)}"
        sent = program.call("sendLoginCodeEmail", link_params(f"{name}@example.test"))
        if "result" in sent:
            opened = program.call("loginByEmailLink", {"token": sent["result"]["loginUrl"].partition("#token=")[2]})
            if "result" in opened:
                return name, opened["result"]["token"]
    raise AssertionError(f"nobody can sign in: {program.output}")


def _clock_ids(program: Program, token: str) -> Iterator[str]:
    page: Json = {"limit": 100}
    while page:
        found = _respond(program, "listTestClocks", page, token)["result"]
        yield from (clock["id"] for clock in found["clocks"])
        page = {**page, "cursor": found["nextCursor"]} if "nextCursor" in found else {}


def _read(program: Program, ids: list[str], token: str) -> list[Json]:
    responses: list[Any] = []

    def is_read() -> bool:
        responses[:] = program.batch("getTestClock", [{"id": id} for id in ids], token)
        return not any(map(_is_unavailable, responses))

    wait_until(is_read)
    return [response["result"]["clock"] for response in responses]


def _respond(program: Program, method: str, params: Json, token: str) -> Any:
    """Return a response. With short timeouts, a busy machine may need several tries."""
    responses: list[Any] = []

    def has_responded() -> bool:
        responses[:] = [program.call(method, params, token)]
        return not _is_unavailable(responses[0])

    wait_until(has_responded)
    return responses[0]


def _is_unavailable(response: Any) -> bool:
    return "error" in response and response["error"]["data"]["reason"] == "UNAVAILABLE"


async def _is_alive_and_says(program: Program, status: int) -> bool:
    assert (await asyncio.to_thread(program.request, "GET", "/healthz")).status == 200
    return (await asyncio.to_thread(program.request, "GET", "/readyz")).status == status
