"""`tickover doctor`: each broken part is named, with advice and without secrets."""

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from aiosmtpd.smtp import LoginPassword

from tests.support.mail_servers import mail_server, reply_with
from tests.support.postgres import PostgresServer
from tests.support.program import Program, run_tickover
from tests.system.shells import Result, Shell
from tickover.server.doctor import (
    _check_public_url,
    check_clock,
    check_disk,
    check_mail,
    check_permissions,
    check_proxies,
)
from tickover.server.settings import read_settings

CHECKS = ["settings", "database", "schema", "disk", "mail", "clock", "public URL", "proxies", "permissions"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    """A function that runs the command on data in a folder of its own."""
    shell = Shell(tmp_path / "config", "http://127.0.0.1:9")
    umask = os.umask(0o077)

    def run_doctor(*arguments: str, **variables: Any) -> Result:
        return shell("doctor", *arguments, **{"TICKOVER_DATA_DIR": str(tmp_path / "data"), **variables})

    yield run_doctor
    os.umask(umask)


def statuses(result: Result) -> dict[str, str]:
    return {check["name"]: check["status"] for check in result.json["checks"]}


def test_new_installation_is_healthy(run: Any, tmp_path: Path) -> None:
    result = run("--json")
    assert (result.code, result.json["ok"], result.err) == (0, True, "")
    assert set(statuses(result).values()) == {"ok"}
    assert not (tmp_path / "data").exists(), "it changes nothing"


def test_running_server_is_healthy(run: Any, program: Program) -> None:
    data = {"TICKOVER_DATA_DIR": str(program.data), "TICKOVER_PUBLIC_URL": program.url}
    result = run("--json", **data)
    assert list(statuses(result)) == CHECKS
    assert set(statuses(result).values()) == {"ok"}, result.out
    assert f"{program.url} reaches a Tickover server." in result.out


def test_every_broken_part_is_reported_without_secrets(run: Any) -> None:
    broken = {
        "TICKOVER_DATABASE_URL": "postgresql://ana:sesame@127.0.0.1:9/t",
        "TICKOVER_MAIL_URL": "smtp://ana:sesame@127.0.0.1:9",
        "TICKOVER_PUBLIC_URL": "http://clocks.example.com",
        "TICKOVER_TRUSTED_PROXIES": "0.0.0.0/0",
    }
    result = run("--json", **broken)
    assert (result.code, result.json["ok"]) == (9, False)
    found = statuses(result)
    assert {name: found[name] for name in ("database", "mail", "public URL", "proxies")} == {
        "database": "error", "mail": "error", "public URL": "warning", "proxies": "error",
    }  # fmt: skip
    assert all(check["advice"] for check in result.json["checks"] if check["status"] != "ok")
    assert "sesame" not in result.out


@pytest.mark.parametrize("command", ["doctor", "users list", "migrate"])
def test_mistyped_database_url_is_invalid_and_its_password_is_not_printed(tmp_path: Path, command: str) -> None:
    shell, url = Shell(tmp_path / "config", "http://127.0.0.1:9"), "postgresql://ana:sesame@mail@127.0.0.1/t"
    result = shell(*command.split(), TICKOVER_DATA_DIR=str(tmp_path / "data"), TICKOVER_DATABASE_URL=url)
    assert result.code == (9 if command == "doctor" else 2)
    assert "TICKOVER_DATABASE_URL must " in result.out + result.err
    assert "sesame" not in result.out + result.err
    assert "All settings are valid" not in result.out


@pytest.mark.parametrize(
    ("user", "line", "message", "setting"),
    [
        ("", "250 OK", "accepts the sender tickover@example.test.", ""),
        ("", "553 5.7.1 Not your address.", "can't be used: 553 5.7.1 Not your address.", "TICKOVER_MAIL_FROM"),
        ("ana:wrong@", "250 OK", "can't be used: 535 5.7.8 Authentication credentials invalid.", "TICKOVER_MAIL_URL"),
    ],
)
async def test_mail_server_must_accept_password_and_sender(user: str, line: str, message: str, setting: str) -> None:
    async with mail_server(auth_require_tls=False) as server:
        server.login = LoginPassword(b"ana", b"right")
        server.instead["MAIL"] = reply_with(line)
        variables = {
            "TICKOVER_MAIL_URL": f"smtp://{user}{server.address}",
            "TICKOVER_MAIL_FROM": "tickover@example.test",
        }
        check = await check_mail(read_settings(variables, {}))
    assert message in check.message
    assert setting in check.advice
    assert check.status == ("error" if setting else "ok")


def test_unusable_database_has_advice(run: Any, tmp_path: Path, postgres: PostgresServer) -> None:
    url = postgres.create_database()
    missing = run("--json", TICKOVER_DATABASE_URL=f"{url}_missing")
    assert "Correct the user, password and name in TICKOVER_DATABASE_URL" in missing.out
    assert run_tickover(tmp_path, "migrate", TICKOVER_DATABASE_URL=url).returncode == 0
    postgres.execute(f"alter database {url.rpartition('/')[2]} set default_transaction_read_only = on")
    read_only = run("--json", TICKOVER_DATABASE_URL=url)
    assert "in a read-only transaction." in read_only.out
    assert "Check default_transaction_read_only" in read_only.out


def test_schemas_and_modes_of_an_existing_file(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o777)
    data.chmod(0o777)
    file = apsw.Connection(str(data / "tickover.db"))
    file.pragma("user_version", 1)
    result = run("--json")
    assert (result.code, statuses(result)["schema"]) == (0, "warning")
    assert f"Run: chmod go= {data}" in result.out
    assert file.pragma("user_version") == 1, "it doesn't migrate"
    file.pragma("user_version", 9999)
    file.close()
    assert statuses(run("--json"))["schema"] == "error"


_PRIVATE = ["", "secret.key", "outbox", "tickover.db"]


@pytest.mark.parametrize("open_path", [*_PRIVATE, "mail-url"])
@pytest.mark.parametrize("mode", [0o704, 0o720])
def test_path_that_others_can_use_is_reported(tmp_path: Path, open_path: str, mode: int) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    for name in (*_PRIVATE[1:], "mail-url"):
        (data / name).touch(mode=0o640)
    (data / open_path).chmod(mode)
    settings = read_settings({"TICKOVER_DATA_DIR": str(data)}, {})
    environment = {"TICKOVER_MAIL_URL_FILE": str(data / "mail-url")}
    [found, summary] = check_permissions(settings, environment)
    assert (found.status, found.advice) == ("warning", f"Run: chmod go= {data / open_path}")
    assert f"{data / open_path} (mode {mode:o})" in found.message
    assert (summary.status, summary.message) == ("ok", "Checked 5 files and folders.")


@pytest.mark.parametrize(
    ("unreadable", "unwritable", "message"),
    [("secret.key", "", "can't read {}/secret.key."), ("", "data", "can't write to {}.")],
)
def test_path_that_the_server_cannot_use_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unreadable: str, unwritable: str, message: str
) -> None:
    """Root can use every path, so the answers of the system are replaced."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "secret.key").touch(mode=0o600)
    answers = {os.R_OK: unreadable, os.W_OK: unwritable}
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != answers[mode])
    [found, _] = check_permissions(read_settings({"TICKOVER_DATA_DIR": str(data)}, {}), {})
    assert (found.status, found.message) == ("error", f"This user {message.format(data)}")


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, "ok"),
        ({"TICKOVER_HOST": "0.0.0.0"}, "warning"),
        ({"TICKOVER_TRUSTED_PROXIES": "127.0.0.1"}, "warning"),
        ({"TICKOVER_PUBLIC_URL": "https://clocks.example.com"}, "warning"),
    ],
)
async def test_outbox_of_a_server_that_others_can_reach_is_a_warning(settings: dict[str, str], status: str) -> None:
    check = await check_mail(read_settings({"TICKOVER_MAIL_URL": "outbox:", **settings}, {}))
    assert check.status == status


@pytest.mark.parametrize(
    ("status_line", "body", "status"),
    [
        (b"200 OK", b"alive\n", "ok"),
        (b"200 OK", b"<h1>Welcome</h1>", "warning"),
        (b"404 Not Found", b"alive\n", "warning"),
    ],
)
async def test_public_url_must_reach_a_tickover_server(status_line: bytes, body: bytes, status: str) -> None:
    requested = []

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requested.append((await reader.readuntil(b"\r\n\r\n")).partition(b" HTTP/")[0])
        head = b"HTTP/1.1 %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status_line, len(body))
        writer.write(head + body)
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/below"
        check = await _check_public_url(read_settings({"TICKOVER_PUBLIC_URL": url}, {}))
    assert (check.status, requested) == (status, [b"GET /below/healthz"])


def test_free_space_and_clock_skew_have_limits() -> None:
    free = [100 * 2**20 - 1, 100 * 2**20, 2**30 - 1, 2**30]
    assert [check_disk(each, Path()).status for each in free] == ["error", "warning", "warning", "ok"]
    skews = [None, 0.9, -1.0, 59.9, -60]
    found = [check_clock(datetime(2027, 1, 1, tzinfo=UTC), each).status for each in skews]
    assert found == ["ok", "ok", "warning", "warning", "error"]


@pytest.mark.parametrize(
    ("proxies", "public_url", "status"),
    [
        ("", "", "ok"),
        ("", "https://clocks.example.com", "warning"),
        ("10.0.0.0/8", "https://clocks.example.com", "ok"),
        ("10.0.0.0/7", "", "error"),
        ("fd00::/16", "", "ok"),
        ("::/15", "", "error"),
    ],
)
def test_trusted_proxies_are_not_too_wide(proxies: str, public_url: str, status: str) -> None:
    settings = {"TICKOVER_TRUSTED_PROXIES": proxies, "TICKOVER_PUBLIC_URL": public_url, "TICKOVER_MAIL_URL": "outbox:"}
    assert check_proxies(read_settings(settings, {})).status is status
