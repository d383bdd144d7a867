"""`tickover serve --check`: it names each part that the server can't use, without secrets."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import LoginPassword

from tests.support.log_capture import LogCapture
from tests.support.mail_servers import mail_server, reply_with
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.program import run_tickover
from tests.system.shells import Result, Shell
from tickover.server.settings import read_settings
from tickover.server.startup_check import find_problems


@pytest.fixture
def check(tmp_path: Path) -> Iterator[Any]:
    """A function that runs the command on data in a folder of its own."""
    shell = Shell(tmp_path / "config", "http://127.0.0.1:9")
    umask = os.umask(0o077)

    def run_check(*arguments: str, **variables: Any) -> Result:
        defaults: dict[str, Any] = {"TICKOVER_DATA_DIR": str(tmp_path / "data"), "TICKOVER_PORT": str(free_port())}
        return shell("serve", "--check", *arguments, **{**defaults, **variables})

    yield run_check
    os.umask(umask)


def test_new_installation_can_start(check: Any) -> None:
    assert check() == (0, "The server can start.\n", "")
    result = check("--json")
    assert (result.code, result.json) == (0, {"ok": True})


def test_every_broken_part_is_named_without_secrets(check: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = check(
            TICKOVER_PORT=str(port),
            TICKOVER_DATABASE_URL="postgresql://ana:sesame@127.0.0.1:9/t",
            TICKOVER_MAIL_URL="smtp://ana:sesame@127.0.0.1:9",
            TICKOVER_BANK_HTTPS=str(free_port()),
            TICKOVER_DATA_DIR="/dev/null",
        )
    assert (result.code, result.out) == (2, "")
    lines = result.err.splitlines()
    starts = [
        f"Can't listen on 127.0.0.1:{port}: Address already in use.",
        "Can't use the bank's certificates in /dev/null/bank: ",
        "Can't use the database ",
        "The mail server 127.0.0.1 can't be used: ",
    ]
    assert len(lines) == len(starts)
    assert all(line.startswith(f"tickover: {start}") for line, start in zip(lines, starts, strict=True))
    assert "sesame" not in result.err


def test_wrong_setting_is_named(check: Any) -> None:
    result = check(TICKOVER_DATABASE_URL="postgresql://ana:sesame@mail@127.0.0.1/t")
    assert (result.code, result.out) == (2, "")
    assert "TICKOVER_DATABASE_URL must " in result.err
    assert "sesame" not in result.err


def test_database_that_accepts_no_writes_is_named(check: Any, tmp_path: Path, postgres: PostgresServer) -> None:
    url = postgres.create_database()
    assert run_tickover(tmp_path, "migrate", TICKOVER_DATABASE_URL=url).returncode == 0
    assert check(TICKOVER_DATABASE_URL=url, TICKOVER_WORKERS="2").code == 0
    postgres.execute(f"alter database {url.rpartition('/')[2]} set default_transaction_read_only = on")
    assert check(TICKOVER_DATABASE_URL=url).code == 2


def test_workers_need_postgres(check: Any) -> None:
    result = check(TICKOVER_WORKERS="2")
    assert result.code == 2
    assert "TICKOVER_WORKERS must be 1 with SQLite" in result.err


@pytest.mark.parametrize(
    ("user", "line", "problem"),
    [
        ("", "250 OK", ""),
        ("", "553 5.7.1 Not your address.", "553 5.7.1 Not your address. Use a TICKOVER_MAIL_FROM"),
        ("ana:wrong@", "250 OK", "535 5.7.8 Authentication credentials invalid. Correct the user and password"),
    ],
)
async def test_mail_server_must_accept_password_and_sender(tmp_path: Path, user: str, line: str, problem: str) -> None:
    async with mail_server(auth_require_tls=False) as server:
        server.login = LoginPassword(b"ana", b"right")
        server.instead["MAIL"] = reply_with(line)
        variables = {
            "TICKOVER_DATA_DIR": str(tmp_path),
            "TICKOVER_PORT": str(free_port()),
            "TICKOVER_MAIL_URL": f"smtp://{user}{server.address}",
            "TICKOVER_MAIL_FROM": "tickover@example.test",
        }
        problems = await find_problems(read_settings(variables, {}), LogCapture().log)
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)
