"""Sign-ins of many users: an email is sent once, its secret signs in once, and failures are counted."""

import random
import re
import time
from itertools import count
from pathlib import Path
from typing import Any

from lab.soak.clock_writer import Caller
from tests.support.program import code_params, link_params, verify_params

_MAX_TRIES = 5
_RESEND_SECONDS = 50
"""Less than the resend interval."""
_RECIPIENT = re.compile(rb"^To: (\S+)", re.MULTILINE)
_CODE = re.compile(rb"^Subject: (\d+) ", re.MULTILINE)


class SignIns:
    """`outbox` is the folder of the emails of all servers. The addresses of the visitors contain `name`."""

    def __init__(self, outbox: Path, name: str) -> None:
        self._outbox = outbox
        self._name = name
        self._chances = random.Random(7)
        self._numbers = count()
        self._codes: dict[str, str] = {}
        self.live: set[str] = set()
        """Tokens that must work."""
        self.revoked: set[str] = set()
        self.failures: dict[str, int] = {}
        """The confirmed failures of the addresses that don't sign in."""

    async def visit(self, caller: Caller) -> None:
        """Request an email twice, try wrong codes, sign in twice, and sign out. All but once must fail."""
        number = next(self._numbers)
        email, by_link = f"{self._name}visitor{number}@example.test", number % 3 == 0
        params = link_params(email) if by_link else code_params(email)
        began = time.monotonic()
        response = await caller.call("sendLoginCodeEmail", params)
        if response is None:
            return
        assert response["result"]["message"] == "ok", response
        secret = response["result"]["loginUrl"].partition("#token=")[2] if by_link else self._code_for(email)
        again = await caller.call("sendLoginCodeEmail", params)
        if again is not None and time.monotonic() - began < _RESEND_SECONDS:
            assert _reason(again) == "RESEND_TOO_SOON", again
        tries, failures = (0, 0) if by_link else await self._guess(caller, email, secret)
        if self._chances.random() < 0.3:
            self.failures[email] = failures
            return
        token = await self._sign_in(caller, email, secret, by_link, tries, failures)
        if not token:
            return
        if self._chances.random() < 0.5:
            self.live.add(token)
        elif (response := await caller.call("logout", {}, token)) is not None:
            assert "result" in response, response
            self.revoked.add(token)

    async def _guess(self, caller: Caller, email: str, code: str) -> tuple[int, int]:
        """Return the number of wrong tries, and of those that were refused for sure."""
        tries, failures = self._chances.randint(0, _MAX_TRIES), 0
        for distance in range(1, tries + 1):
            wrong = verify_params(email, f"{(int(code) + distance) % 1_000_000:06}")
            response = await caller.call("loginByEmailVerification", wrong)
            if response is not None:
                assert _reason(response) == "LOGIN_REFUSED", response
                failures += 1
        return tries, failures

    async def _sign_in(self, caller: Caller, email: str, secret: str, by_link: bool, tries: int, failures: int) -> str:
        """Sign in twice: a caller without a response retries, and a second use must fail. Return the token."""
        method = "loginByEmailLink" if by_link else "loginByEmailVerification"
        params = {"token": secret} if by_link else verify_params(email, secret)
        token, may_be_used = "", False
        for _ in range(2):
            tries += 1
            response = await caller.call(method, params)
            if response is None:
                may_be_used = True
            elif "result" in response:
                assert not token, "it signed in twice"
                assert failures < _MAX_TRIES, "a failure was forgotten"
                token = response["result"]["token"]
            else:
                assert _reason(response) == "LOGIN_REFUSED", response
                assert token or may_be_used or (tries > _MAX_TRIES and not by_link), "the right secret was refused"
        return token

    def _code_for(self, email: str) -> str:
        """Delete emails after reading, because searching thousands is slow."""
        for file in self._outbox.glob("*.eml"):
            content = file.read_bytes()
            if found := _CODE.search(content):
                self._codes[_RECIPIENT.findall(content)[0].decode()] = found[1].decode()
            file.unlink()
        return self._codes.pop(email)


def _reason(response: Any) -> str:
    return str(response["error"]["data"]["reason"]) if "error" in response else "ok"
