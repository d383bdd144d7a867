"""Idempotency keys are not stored or logged, because they may contain private data."""

import asyncio
import base64
import secrets
from collections.abc import Iterator
from pathlib import Path

import apsw

from tests.support.program import Program
from tests.system.test_secrets import Caller, call_of, copied, files_in, request

_KEYS = 8
_FAULTY = {"frozenTime": "soon"}


def _forms(key: str) -> Iterator[bytes]:
    """Return the encodings of a key."""
    yield key.encode()
    yield key.encode().hex().encode()
    yield base64.b64encode(key.encode()).rstrip(b"=")
    yield key[::-1].encode()


def _searched(data: bytes, keys: list[str]) -> list[str]:
    """Return the keys in the data."""
    return [key for key in keys if any(form in data for form in _forms(key))]


async def _use(caller: Caller, key: str, token: str) -> None:
    """Use the keys in all ways, and in wrong places."""
    authorization = f"Authorization: Bearer {token}\r\n"
    header = f"{authorization}Idempotency-Key: {key}\r\n"
    create = call_of("createTestClock", {})
    made = await caller.exchange(request(create, header))
    assert b'"status":"READY"' in made
    assert await caller.exchange(request(create, header)) == made
    for written in (
        request(call_of("createTestClock", {"goals": []}), header),
        request(call_of("createTestClock", _FAULTY), header),
        request(create, f"Idempotency-Key: {key}\r\n"),
        request(create, f"{header}Idempotency-Key: {key}\r\n"),
        request(create, f"{authorization}Idempotency-Key: {key * 10}\r\n"),
        request(b"[%b]" % create, header),
        request(call_of("listTestClocks", {}), header),
        request(call_of("nothing", {}), header),
        request(create[:-1], header),
        request(create, header, host=f"{key}.example.test"),
    ):
        await caller.exchange(written)


async def test_idempotency_keys_are_stored_and_logged_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    keys = [secrets.token_hex(16) for _ in range(_KEYS)]
    responses: list[bytes] = []
    with Program(folder, TICKOVER_LOG_LEVEL="debug") as program:
        token = await asyncio.to_thread(program.sign_in)
        async with Caller(program.url, responses) as caller:
            for key in keys:
                await _use(caller, key, token)
            database = program.data / "tickover.db"
            files = files_in(program.data)
            files["a backup"] = copied(database, tmp_path / "backup.db")
            connection = apsw.Connection(str(database))
            connection.execute("alter table creations rename to elsewhere")
            connection.close()
            # An internal error is logged with its traceback.
            header = f"Authorization: Bearer {token}\r\nIdempotency-Key: {keys[0]}\r\n"
            assert b"INTERNAL" in await caller.exchange(request(call_of("createTestClock", {}), header))
        assert await asyncio.to_thread(program.stop) == 0
        printed = program.output.encode()
        files |= {f"{name} at the end": data for name, data in files_in(program.data).items()}
    assert printed.count(b'"event": "call"') > 8 * _KEYS
    assert printed.count(b"Traceback") == 1
    everything = files | {"the output": printed, "the responses": b"\n".join(responses)}
    assert min(len(everything[name]) for name in ("tickover.db-wal", "a backup", "the responses")) > 20_000
    assert {place: found for place, data in everything.items() if (found := _searched(data, keys))} == {}


def test_search_finds_secrets() -> None:
    keys = [secrets.token_hex(16) for _ in range(2)]
    for form in _forms(keys[1]):
        assert _searched(b"\xff" + form + b"\0", keys) == [keys[1]]
    assert _searched(keys[1][:-1].encode(), keys) == []
