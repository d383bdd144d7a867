"""Secrets of the real program are stored, logged and returned only where they belong.

A code or a link is only in its email, a bearer token only in the response to its sign-in, and an idempotency key, which
may contain private data, nowhere. The test searches the database, its write-ahead log, the secret key's file, the log
at the debug level and all other responses, including responses to requests with secrets in wrong places.
"""

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import apsw
from aiosmtpd.smtp import SMTP

from tests.support.mail_servers import MailServer, mail_server
from tests.support.program import Program, code_params, link_params, verify_params
from tests.support.raw import Client, call, port_of, post, request


class Visit:
    """The calls of users to one program, with their secrets and all responses, except the token of a sign-in."""

    def __init__(self, program: Program, mail: MailServer) -> None:
        self.responses: list[str] = []
        self.codes: list[str] = []
        self.links: list[str] = []
        self.tokens: list[str] = []
        self.idempotency_key = token_hex(16)
        self._program = program
        self._mail = mail

    async def exchange(self, written: bytes) -> Any:
        async with Client.connect(port_of(self._program)) as client:
            response = await client.request(written)
        # Remove the token from the result of a sign-in. A token in any other place stays.
        body = re.sub(rb'("result":\{"token":")tko_[\w-]{43}"', rb'\1"', response.body, count=1)
        self.responses.append(f"{response.headers} {body.decode()}")
        return json.loads(response.body) if response.body.startswith(b"{") else None

    async def send_code(self, email: str) -> dict[str, str]:
        """Request a code. Return the parameters that sign in with it."""
        assert (await self.exchange(call("sendLoginCodeEmail", code_params(email))))["result"] == {"message": "ok"}
        self.codes.append(self._mail.emails[-1].code)
        return verify_params(email, self.codes[-1])

    async def send_link(self, email: str) -> dict[str, str]:
        assert (await self.exchange(call("sendLoginCodeEmail", link_params(email))))["result"] == {"message": "ok"}
        found = re.search(r"#token=([A-Za-z0-9_-]{43})\s", self._mail.emails[-1].text())
        assert found
        self.links.append(found[1])
        return {"token": found[1]}

    async def sign_in(self, method: str, params: dict[str, str]) -> None:
        self.tokens.append((await self.exchange(call(method, params)))["result"]["token"])

    async def sign_in_both_ways(self) -> None:
        await self.sign_in("loginByEmailVerification", await self.send_code("code@example.test"))
        await self.sign_in("loginByEmailLink", await self.send_link("link@example.test"))

    async def misplace_secrets(self) -> None:
        """Send used and unused secrets in wrong places."""
        await self.send_code("unused-code@example.test")
        await self.send_link("unused-link@example.test")
        for secret in (*self.codes, *self.links, *self.tokens):
            for written in (*misplaced_in_params(secret), *misplaced_in_http(secret)):
                await self.exchange(written)
        token = self.tokens[0]
        for reason in (None, "UNAUTHENTICATED"):
            logout = await self.exchange(call("logout", {}, f"Authorization: Bearer {token}"))
            assert logout.get("error", {"data": {"reason": None}})["data"]["reason"] == reason

    async def use_the_idempotency_key(self) -> None:
        key, token = f"Idempotency-Key: {self.idempotency_key}", f"Authorization: Bearer {self.tokens[1]}"
        made = [await self.exchange(call("createTestClock", {}, token, key)) for _ in range(2)]
        assert made[0]["result"] == made[1]["result"]
        for params, headers in (
            ({"goals": []}, [token, key]),
            ({"frozenTime": "soon"}, [token, key]),
            ({}, [key]),
            ({}, [token, key, key]),
            ({}, [token, key + self.idempotency_key * 10]),
        ):
            await self.exchange(call("createTestClock", params, *headers))

    async def have_an_email_rejected(self) -> None:
        async def repeat_the_email(server: SMTP) -> None:
            text = self._mail.emails[-1].text().replace("\n", " ")
            await server.push(f"554 no {self._mail.emails[-1].message['Subject']} {text}")

        self._mail.instead[MailServer.END_OF_DATA] = repeat_the_email
        response = await self.exchange(call("sendLoginCodeEmail", code_params("refused@example.test")))
        assert response["error"]["data"]["reason"] == "MAIL_NOT_SENT"
        self.codes.append(self._mail.emails[-1].code)
        self._mail.instead.clear()

    async def break_the_program(self, database: Path) -> None:
        """Drop a table, so that sign-in fails with a logged traceback."""
        by_code = await self.send_code("late-code@example.test")
        by_link = await self.send_link("late-link@example.test")
        connection = apsw.Connection(str(database))
        connection.execute("alter table tokens rename to elsewhere")
        connection.close()
        headers = (f"Authorization: Bearer {self.tokens[1]}", f"Idempotency-Key: {self.idempotency_key}")
        calls = [call("loginByEmailVerification", by_code), call("loginByEmailLink", by_link)]
        for written in (*calls, call("createTestClock", {}, *headers)):
            assert (await self.exchange(written))["error"]["data"]["reason"] == "INTERNAL"


def misplaced_in_params(secret: str) -> Iterator[bytes]:
    email = "other@example.test"
    for body in (
        {"jsonrpc": "2.0", "id": 1, "method": secret},
        {"jsonrpc": secret, "id": 1, "method": "logout"},
        {"jsonrpc": "2.0", "id": 1, "method": "logout", "params": secret},
        secret,
    ):
        written = json.dumps(body).encode()
        yield post(f"Content-Length: {len(written)}") + written
    yield call("loginByEmailVerification", [secret])
    yield call("loginByEmailVerification", verify_params(email, secret + "x"))
    yield call("loginByEmailVerification", {"email": email, "code": [secret]})
    yield call("loginByEmailLink", {"token": {"token": secret}})
    yield call("loginByEmailLink", {"token": secret + "x"})
    yield call("createTestClock", {"token": secret})
    not_json = json.dumps({"token": secret}).encode()[:-1]
    yield post(f"Content-Length: {len(not_json)}") + not_json


def misplaced_in_http(secret: str) -> Iterator[bytes]:
    for value in (secret, f"Basic {secret}", f"Bearer {secret}, {secret}", f"Bearer {secret}="):
        yield call("createTestClock", {}, f"Authorization: {value}")
    yield call("createTestClock", {}, *[f"Authorization: Bearer {secret}"] * 2)
    yield call("createTestClock", {}, f"Authorization Bearer {secret}")
    yield call("createTestClock", {}, f"X-{secret}: {secret}", host=f"{secret}.example.test")
    yield call("createTestClock", {}, f"Origin: https://{secret}", f"X-Forwarded-For: {secret}", f"Cookie: t={secret}")
    yield call("createTestClock", {}, f"Idempotency-Key: {secret}")
    for path in (f"mailbox/latest?to={secret}@example.test", f"login?token={secret}", secret):
        yield request("GET", f"/{path}")
    yield call("logout", {}).replace(b"HTTP/1.1", b"HTTP/1.1 " + secret.encode(), 1)


# Times and ids: some have six digits in a row, and none of those is a code.
NOT_CODES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z|(?:req|user|clock)_[0-9a-f-]+")


def codes_in(data: bytes) -> set[bytes]:
    """Return what may be a code. Random bytes match one of the codes once in ten thousand runs of this test."""
    return set(re.findall(rb"(?<![0-9])[0-9]{6}(?![0-9])", NOT_CODES.sub(b" ", data)))


def forms_of(secret: str) -> list[bytes]:
    """Return a link or a token as text, as bytes and in hexadecimal."""
    text = secret.removeprefix("tko_")
    raw = base64.urlsafe_b64decode(text + "=")
    return [text.encode(), raw, raw.hex().encode()]


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_secrets_are_stored_and_logged_nowhere(tmp_path: Path) -> None:
    async with mail_server() as mail:
        settings = {"MAIL_URL": f"smtp://{mail.address}", "LOG_LEVEL": "debug", "CLIENT_BURST": "0"}
        with Program(tmp_path, **{f"TICKOVER_{name}": value for name, value in settings.items()}) as program:
            visit = Visit(program, mail)
            await visit.sign_in_both_ways()
            await visit.misplace_secrets()
            await visit.use_the_idempotency_key()
            await visit.have_an_email_rejected()
            places = files_in(program.data)
            await visit.break_the_program(program.data / "tickover.db")
            assert await asyncio.to_thread(program.stop) == 0
            printed = program.output.encode()
            # Files after the stop, when the write-ahead log was moved to the database.
            places |= {f"{name} at the end": data for name, data in files_in(program.data).items()}
    assert {"tickover.db", "tickover.db-wal", "secret.key", "tickover.db at the end"} <= places.keys()
    assert (printed.count(b"Traceback"), printed.count(b"rejected an email")) == (3, 1)
    assert printed.count(b'"event": "call"') > 50
    secret_key = places["secret.key"].strip()
    places |= {"the output": printed, "the responses": "\n".join(visit.responses).encode()}

    codes = {code.encode() for code in visit.codes}
    assert {place: found for place, data in places.items() if (found := codes_in(data) & codes)} == {}
    forms = [form for secret in (*visit.links, *visit.tokens) for form in forms_of(secret)]
    forms += [visit.idempotency_key.encode(), bytes.fromhex(visit.idempotency_key)]
    assert [place for place, data in places.items() if any(form in data.lower() + data for form in forms)] == []
    assert [place for place, data in places.items() if secret_key in data and "secret.key" not in place] == []
