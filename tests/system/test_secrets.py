"""Dozens of secrets of the real program are stored, logged and returned only where they belong.

A code or a link is only in its email, and a bearer token only in the response to its sign-in. The test searches the
database, its write-ahead log, a backup, the secret key's file, the log at the debug level and all other responses,
including responses to requests with secrets in wrong places.
"""

import asyncio
import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import apsw
from aiosmtpd.smtp import SMTP

from tests.support.mail_servers import MailServer, mail_server
from tests.support.program import Program, code_params, link_params, verify_params

# Enough for every code path to run several times.
BY_CODE = 5
BY_LINK = 5
CALLERS = 4
ODD = 2
"""Users of each group whose secrets are sent in wrong places."""


# Mail server


def secrets_in(mail: MailServer) -> tuple[dict[str, str], dict[str, str]]:
    """Return the codes and the links by address."""
    codes, links = {}, {}
    for email in mail.emails:
        if link := re.search(r"#token=([A-Za-z0-9_-]{43})\s", email.text()):
            links[str(email.message["To"])] = link[1]
        else:
            codes[str(email.message["To"])] = email.code
    return codes, links


# Callers


class Caller:
    """One connection. It records all responses, except the token of a sign-in."""

    def __init__(self, url: str, responses: list[bytes]) -> None:
        self._parts = urlsplit(url)
        self._responses = responses
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def call(self, method: str, params: Any, token: str | None = None) -> Any:
        """Return the JSON-RPC response."""
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        return json.loads(await self.exchange(request(call_of(method, params), authorization)))

    async def exchange(self, written: bytes) -> bytes:
        """Send a raw request. Return the body of the response; the server may close the connection."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        reader, writer = self._streams
        writer.write(written)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\ncontent-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        self._responses.append(without_token_handed_out(head + body))
        if re.search(rb"(?i)\nconnection: close", head):
            await self._close()
        return body

    async def _close(self) -> None:
        if self._streams:
            self._streams[1].close()
            await self._streams[1].wait_closed()
            self._streams = None


def call_of(method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def request(body: bytes, more: str = "", first: str = "POST /rpc HTTP/1.1", host: str = "127.0.0.1") -> bytes:
    head = f"{first}\r\nHost: {host}\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def without_token_handed_out(response: bytes) -> bytes:
    """Remove the token from the result of a sign-in. A token in any other place stays."""
    return re.sub(rb'("result":\{"token":")tko_[\w-]{43}"', rb'\1"', response, count=1)


class Visit:
    """The calls of many users to one program, with their tokens and responses."""

    def __init__(self, program: Program, mail: MailServer) -> None:
        self.responses: list[bytes] = []
        self.tokens: dict[str, str] = {}
        self._program = program
        self._mail = mail

    def caller(self) -> Caller:
        return Caller(self._program.url, self.responses)

    async def sign_everybody_in(self) -> None:
        by_code = [f"code-{number}@example.test" for number in range(BY_CODE)]
        by_link = [f"link-{number}@example.test" for number in range(BY_LINK)]
        emails = iter(by_code + by_link)

        async def take_turns() -> None:
            async with self.caller() as caller:
                for email in emails:
                    await self._sign_in(caller, email)

        async with asyncio.TaskGroup() as turns:
            for _ in range(CALLERS):
                turns.create_task(take_turns())

    async def _sign_in(self, caller: Caller, email: str) -> None:
        params = await self._have_sent(caller, email)
        method = "loginByEmailLink" if "token" in params else "loginByEmailVerification"
        self.tokens[email] = (await caller.call(method, params))["result"]["token"]

    async def _have_sent(self, caller: Caller, email: str) -> dict[str, str]:
        """Request an email. Return the parameters that sign in with its secret."""
        if email.startswith("link"):
            assert (await caller.call("sendLoginCodeEmail", link_params(email)))["result"] == {"message": "ok"}
            return {"token": secrets_in(self._mail)[1][email]}
        assert (await caller.call("sendLoginCodeEmail", code_params(email)))["result"] == {"message": "ok"}
        return verify_params(email, secrets_in(self._mail)[0][email])

    async def misplace_secrets(self) -> None:
        """Send used and unused secrets in wrong places."""
        async with self.caller() as caller:
            for number in range(ODD):
                by_code, by_link = f"code-{number}@example.test", f"link-{number}@example.test"
                if number % 2:
                    by_code, by_link = f"code-unspent-{number}@example.test", f"link-unspent-{number}@example.test"
                    await self._have_sent(caller, by_code)
                    await self._have_sent(caller, by_link)
                token = self.tokens[f"code-{number}@example.test"]
                codes, links = secrets_in(self._mail)
                code, link = codes[by_code], links[by_link]
                for written in [
                    *misplaced_in_params(by_code, code, link, token),
                    *misplaced_in_http(code, link, token),
                ]:
                    await caller.exchange(written)
                assert (await caller.call("createTestClock", {}, token))["result"]["clock"]["status"] == "READY"
                assert (await caller.call("logout", {}, token))["result"] == {"message": "ok"}
                assert (await caller.call("logout", {}, token))["error"]["data"]["reason"] == "UNAUTHENTICATED"

    async def have_emails_rejected(self) -> None:
        async def repeat_the_email(server: SMTP) -> None:
            [email] = self._mail.emails[-1:]
            text = email.text().replace("\n", " ")
            await server.push(f"554 no {email.message['Subject']} {text}")

        self._mail.instead[MailServer.END_OF_DATA] = repeat_the_email
        async with self.caller() as caller:
            for number in range(ODD):
                email = f"refused-{number}@example.test"
                params = link_params(email) if number % 2 else code_params(email)
                response = await caller.call("sendLoginCodeEmail", params)
                assert response["error"]["data"]["reason"] == "MAIL_NOT_SENT"
        self._mail.instead.clear()

    async def break_the_program(self, database: Path) -> None:
        """Drop a table, so that sign-in fails with a logged traceback."""
        async with self.caller() as caller:
            emails = [f"{kind}-late-{number}@example.test" for kind in ("code", "link") for number in range(ODD)]
            prepared = [await self._have_sent(caller, email) for email in emails]
            connection = apsw.Connection(str(database))
            connection.execute("alter table tokens rename to elsewhere")
            connection.close()
            for params in prepared:
                method = "loginByEmailLink" if "token" in params else "loginByEmailVerification"
                assert (await caller.call(method, params))["error"]["data"]["reason"] == "INTERNAL"
            for token in list(self.tokens.values())[:ODD]:
                assert (await caller.call("createTestClock", {}, token))["error"]["data"]["reason"] == "INTERNAL"


def misplaced_in_params(email: str, code: str, link: str, token: str) -> Iterator[bytes]:
    for secret in (code, link, token):
        yield request(call_of(secret, {}))
        yield request(json.dumps({"jsonrpc": secret, "id": 1, "method": "logout"}).encode())
        yield request(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "logout", "params": secret}).encode())
        yield request(json.dumps(secret).encode())
        yield request(call_of("loginByEmailVerification", [secret]))
        yield request(call_of("loginByEmailVerification", verify_params(email, secret + "x")))
        yield request(call_of("loginByEmailVerification", {"email": email, "code": [secret]}))
        yield request(call_of("loginByEmailVerification", {"token": secret}))
        yield request(call_of("sendLoginCodeEmail", {"email": email, "token": secret}))
        yield request(call_of("loginByEmailLink", {"token": [secret]}))
        yield request(call_of("loginByEmailLink", {"token": {"token": secret}}))
        yield request(call_of("loginByEmailLink", {"token": secret + "x"}))
        yield request(call_of("loginByEmailLink", {"token": secret, "code": secret}))
        yield request(call_of("createTestClock", {"token": secret}))
        yield request(call_of("loginByEmailLink", {"token": secret})[:-2])
        yield request(call_of("loginByEmailLink", {"token": secret}).replace(b'"}}', b'\xff"}}'))
    yield request(call_of("loginByEmailVerification", verify_params(email, link)))
    yield request(call_of("loginByEmailVerification", {**verify_params(email, code), "code": int(code)}))
    yield request(call_of("loginByEmailLink", {"token": code}))
    yield request(call_of("loginByEmailLink", {"token": token}))


def misplaced_in_http(code: str, link: str, token: str) -> Iterator[bytes]:
    body = call_of("createTestClock", {})
    for secret in (code, link, token):
        for value in (secret, f"Bearer{secret}", f"Basic {secret}", f"Bearer {secret}, {secret}", f"Bearer {secret}="):
            yield request(body, f"Authorization: {value}\r\n")
        yield request(body, f"Authorization: Bearer {secret}\r\n" * 2)
        yield request(body, f"Authorization Bearer {secret}\r\n")
        yield request(
            body, f"Authorization: Bearer {secret}\r\nX-{secret}: {secret}\r\n", host=f"{secret}.example.test"
        )
        yield request(body, f"Origin: https://{secret}\r\nX-Forwarded-For: {secret}\r\nCookie: token={secret}\r\n")
        yield request(body, f"Authorization: Bearer {token}x\r\nIdempotency-Key: {secret}\r\n")
        yield request(b"", first=f"GET /mailbox/latest?to={secret}@example.test HTTP/1.1")
        yield request(b"", first=f"GET /login?token={secret} HTTP/1.1")
        yield request(b"", first=f"GET /{secret} HTTP/1.1")
        yield request(b"", first=f"GET /rpc?token={secret} HTTP/1.1")
        yield request(body, first=f"POST /rpc HTTP/1.1 {secret}")
        yield request(secret.encode(), first="PUT /rpc HTTP/1.1")


# Search

CODE_SHAPE = re.compile(rb"(?<![0-9])[0-9]{6}(?![0-9])")
TIMES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z")
"""A clock's row holds its expiry as text, with six digits of a second."""
NOT_CODES = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z|(?:req|user|clock)_[0-9a-f-]+|tko_[\w-]{43}")
"""Times, ids and tokens: some have six digits in a row, and none of those is a code."""
BASE64_TO_URL = bytes.maketrans(b"+/", b"-_")


class Secrets:
    """The secrets of a visit, prepared for a search in megabytes."""

    def __init__(self, codes: Iterable[str], links: Iterable[str], tokens: Iterable[str]) -> None:
        self.codes = {code.encode() for code in codes}
        self.texts = {text.removeprefix("tko_").encode() for text in (*links, *tokens)}
        raws = [base64.urlsafe_b64decode(text + b"=") for text in self.texts]
        self._hex = {raw.hex().encode() for raw in raws}
        # One of these parts is aligned to eight bytes, wherever the secret begins.
        self._eights = {eight for raw in raws for start in range(8) for eight in eights(raw[start:])[:1]}

    def texts_in(self, data: bytes) -> set[bytes]:
        """Return the links and tokens in the data, as base64 or hexadecimal text."""
        found = windows(data.translate(BASE64_TO_URL), re.compile(rb"[A-Za-z0-9_-]{43,}"), 43) & self.texts
        return found | windows(data.lower(), re.compile(rb"[0-9a-f]{64,}"), 64) & self._hex

    def raw_in(self, data: bytes) -> set[int]:
        """Return parts of the links and tokens in the data, as decoded bytes."""
        return self._eights.intersection(eights(data))

    def codes_in(self, data: bytes) -> set[bytes]:
        """Return the codes in the data. Random bytes match once in ten thousand runs of this test."""
        return set(CODE_SHAPE.findall(TIMES.sub(b" ", data))) & self.codes

    def codes_in_text(self, data: bytes) -> set[bytes]:
        return self.codes_in(NOT_CODES.sub(b"", data))


def eights(data: bytes) -> Sequence[int]:
    """Split the data into blocks of eight bytes."""
    return memoryview(data[: len(data) // 8 * 8]).cast("Q")


def windows(data: bytes, shape: re.Pattern[bytes], length: int) -> set[bytes]:
    """Return all substrings of this length in runs of matching characters."""
    return {run[start : start + length] for run in shape.findall(data) for start in range(len(run) - length + 1)}


def leaks_in_columns(connection: apsw.Connection, codes: dict[str, str]) -> list[tuple[Any, ...]]:
    """Return the rows of an address that contain its code, as text or number."""
    leaks: list[tuple[Any, ...]] = []
    tables: list[Any] = connection.execute("select name from sqlite_schema where type = 'table'").fetchall()
    for (table,) in tables:
        columns: list[Any] = connection.execute("select name from pragma_table_info(?)", (table,)).fetchall()
        if ("email",) in columns:
            rows: Iterable[Any] = connection.execute(f"select email, * from {table}")
            leaks += [row for row in rows if row[0] in codes and holds(row, codes[row[0]])]
    return leaks


def holds(row: tuple[Any, ...], code: str) -> bool:
    for value in row:
        if isinstance(value, bytes):
            held = code.encode() in value
        elif isinstance(value, str):
            held = code in value
        else:
            # Small counts are not codes.
            held = value >= 100 and value == int(code)
        if held:
            return True
    return False


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copied(source: Path, target: Path) -> bytes:
    """Make a backup while the program runs."""
    running, backup = apsw.Connection(str(source), apsw.SQLITE_OPEN_READONLY), apsw.Connection(str(target))
    with backup.backup("main", running, "main") as copying:
        copying.step()
        assert copying.done
    running.close()
    backup.close()
    return target.read_bytes()


async def test_secrets_are_stored_and_logged_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    async with mail_server() as mail:
        settings = {"MAIL_URL": f"smtp://{mail.address}", "LOG_LEVEL": "debug", "CLIENT_BURST": "0"}
        with Program(folder, **{f"TICKOVER_{name}": value for name, value in settings.items()}) as program:
            visit = Visit(program, mail)
            await visit.sign_everybody_in()
            await visit.misplace_secrets()
            await visit.have_emails_rejected()
            database = program.data / "tickover.db"
            files = files_in(program.data)
            files["a backup"] = copied(database, tmp_path / "backup.db")
            await visit.break_the_program(database)
            assert await asyncio.to_thread(program.stop) == 0
            printed = program.output.encode()
            # Files after the stop, when the WAL was checkpointed.
            files |= {f"{name} at the end": data for name, data in files_in(program.data).items()}

    codes, links = secrets_in(mail)
    assert len(codes) >= BY_CODE
    secrets = Secrets(codes.values(), links.values(), visit.tokens.values())
    assert len(secrets.texts) >= BY_CODE + 2 * BY_LINK
    secret_key = files["secret.key"].strip()
    texts = {"the output": printed, "the responses": b"\n".join(visit.responses)}
    assert_worth_searching(files, printed, visit.responses)

    everything = files | texts
    assert {place: found for place, data in everything.items() if (found := secrets.texts_in(data))} == {}
    assert [place for place, data in files.items() if secrets.raw_in(data)] == []
    assert {place: found for place, data in files.items() if (found := secrets.codes_in(data))} == {}
    assert {place: found for place, data in texts.items() if (found := secrets.codes_in_text(data))} == {}
    assert [place for place, data in everything.items() if secret_key in data and "secret.key" not in place] == []
    connection = apsw.Connection(str(tmp_path / "backup.db"))
    assert leaks_in_columns(connection, codes) == []
    connection.close()


def assert_worth_searching(files: dict[str, bytes], printed: bytes, responses: list[bytes]) -> None:
    """Check that all searched files exist and are not empty."""
    assert {"tickover.db", "tickover.db-wal", "a backup", "secret.key", "tickover.db at the end"} <= files.keys()
    assert min(len(files["tickover.db-wal"]), len(files["a backup"])) > 50_000
    assert min(len(responses), printed.count(b'"event": "call"')) > 2 * (BY_CODE + BY_LINK)
    assert printed.count(b"Traceback") == 3 * ODD
    assert printed.count(b"rejected an email") == ODD


def test_search_finds_secrets() -> None:
    raw = bytes(range(100, 132))
    text = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    secrets = Secrets(["012345"], [text], ["tko_" + text.swapcase()])
    assert secrets.texts_in(b"x" * 50 + text.encode() + b"-" * 50) == {text.encode()}
    assert secrets.texts_in(b"Bearer tko_" + text.swapcase().encode()) == {text.swapcase().encode()}
    assert secrets.texts_in(b"x/" + base64.b64encode(raw)) == {text.encode()}
    assert secrets.texts_in(b"x'" + raw.hex().upper().encode()) == {raw.hex().encode()}
    assert all(secrets.raw_in(b"x" * place + raw + b"x") for place in range(20))
    assert secrets.raw_in(b"x" * 8 + raw[:7] + raw[8:15] + b"x" * 8) == set()
    assert secrets.codes_in(b"\xff012345x") == {b"012345"}
    assert secrets.codes_in(b"2027-01-01T00:00:00.012345Z") == set()
    assert secrets.codes_in(b"2027-01-01T00:00:00Z012345") == {b"012345"}
    assert secrets.codes_in_text(b'{"got":"x012345","at":"2027-01-01T00:00:00.012345Z"}') == {b"012345"}
    assert secrets.codes_in_text(b"1012345 0123456 req_ab012345 2027-01-01T00:00:00.012345Z") == set()
