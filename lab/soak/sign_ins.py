"""Records sign-ins of many users, and compares them with the database.

Every address gets one email. Its secret signs in at most once. Confirmed failures are counted. A token works until it
is revoked.
"""

import asyncio
import random
import re
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from lab.soak.clock_writer import PAUSE_SECONDS, is_unavailable
from lab.soak.connections import Connection
from tests.support.program import code_params, link_params, verify_params
from tests.support.world import HttpResponse
from tickover.server.sign_in import tokens

# A code allows five attempts. Two are for the right code, because callers without a response retry.
_MAX_WRONG_TRIES = 3
_RECIPIENT = re.compile(rb"^To: (\S+)", re.MULTILINE)
_CODE = re.compile(rb"^Subject: (\d+) ", re.MULTILINE)


class Rows(NamedTuple):
    """The rows of the addresses in the database."""

    sends: Counter[str]
    failures: Counter[str]
    sessions: dict[str, list[bytes]]
    """Digests of the tokens."""


class Visit:
    """One address, with the events that its owner knows."""

    def __init__(self, email: str) -> None:
        self.email = email
        self.email_confirmed = False
        self.failures_confirmed = 0
        self.tries_unconfirmed = 0
        self.redemptions = 0
        self.token = ""
        self.logout_begun = False
        self.logout_confirmed = False

    def check(self, rows: Rows) -> None:
        assert rows.sends[self.email] == 1 or not (self.email_confirmed or rows.sends[self.email]), self.email
        sessions = rows.sessions.get(self.email, [])
        if self.token:
            expected = [[tokens.digest(self.token)]]
            if self.logout_begun:
                expected = [[]] if self.logout_confirmed else [[], *expected]
            assert sessions in expected, self.email
        else:
            assert len(sessions) <= min(1, self.redemptions), self.email
        failures = rows.failures[self.email]
        if self.token or sessions:
            assert failures == 0, self.email
        else:
            assert self.failures_confirmed <= failures, self.email
            assert failures <= self.failures_confirmed + self.tries_unconfirmed + self.redemptions, self.email


class Visits:
    """`outbox` is the folder of the emails of all servers. The addresses of the visitors contain `name`."""

    def __init__(self, outbox: Path, name: str = "") -> None:
        self._outbox = outbox
        self._name = name
        self._chances = random.Random(7)
        self._numbers = count()
        self._codes: dict[str, str] = {}
        self.every: list[Visit] = []

    async def visit(self, connection: Connection) -> None:
        """Request an email, try a few wrong codes, and usually sign in. Stop if the request gets no response."""
        number = next(self._numbers)
        visit = Visit(f"{self._name}visitor{number}@example.test")
        self.every.append(visit)
        by_link = number % 3 == 0
        secret = await self._ask_for_email(connection, visit, by_link)
        if secret is None:
            return
        if not by_link:
            await self._guess(connection, visit, secret)
        if self._chances.random() < 0.7:
            await self._redeem(connection, visit, secret, by_link)
        if visit.token and self._chances.random() < 0.5:
            await self._log_out(connection, visit)

    async def _ask_for_email(self, connection: Connection, visit: Visit, by_link: bool) -> str | None:
        params = link_params(visit.email) if by_link else code_params(visit.email)
        response = await _call(connection, "sendLoginCodeEmail", params)
        if response is None:
            return None
        assert response["result"]["message"] == "ok", response
        visit.email_confirmed = True
        return str(response["result"]["loginUrl"].partition("#token=")[2]) if by_link else self._code_for(visit.email)

    async def _guess(self, connection: Connection, visit: Visit, code: str) -> None:
        for distance in range(1, self._chances.randint(0, _MAX_WRONG_TRIES) + 1):
            wrong = verify_params(visit.email, f"{(int(code) + distance) % 1_000_000:06}")
            visit.tries_unconfirmed += 1
            response = await _call(connection, "loginByEmailVerification", wrong)
            if response is not None:
                assert response["error"]["data"]["reason"] == "LOGIN_REFUSED", response
                visit.tries_unconfirmed -= 1
                visit.failures_confirmed += 1

    async def _redeem(self, connection: Connection, visit: Visit, secret: str, by_link: bool) -> None:
        """Sign in twice: a caller without a response retries, and a second use must fail."""
        method = "loginByEmailLink" if by_link else "loginByEmailVerification"
        params = {"token": secret} if by_link else verify_params(visit.email, secret)
        for _ in range(2):
            visit.redemptions += 1
            response = await _call(connection, method, params)
            if response is not None and "result" in response:
                assert not visit.token, "it signed in twice"
                visit.token = response["result"]["token"]
            elif response is not None:
                assert visit.redemptions > 1, response
                assert response["error"]["data"]["reason"] == "LOGIN_REFUSED", response

    async def _log_out(self, connection: Connection, visit: Visit) -> None:
        visit.logout_begun = True
        response = await _call(connection, "logout", {}, visit.token)
        if response is not None:
            assert "result" in response, response
            visit.logout_confirmed = True

    def _code_for(self, email: str) -> str:
        """Delete emails after reading, because searching thousands is slow."""
        for file in self._outbox.glob("*.eml"):
            content = file.read_bytes()
            if found := _CODE.search(content):
                self._codes[_RECIPIENT.findall(content)[0].decode()] = found[1].decode()
            file.unlink()
        return self._codes.pop(email)


async def _call(connection: Connection, method: str, params: Any, token: str | None = None) -> Any:
    """Return the response, or None if the database was unavailable."""
    connection.send(method, params, token)
    response: HttpResponse = await connection.receive()
    if is_unavailable(response):
        await asyncio.sleep(PAUSE_SECONDS)
        return None
    return response.json
