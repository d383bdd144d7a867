"""Starts with wrong settings or an unusable data folder: one error without secrets, and exit code 2."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.log_capture import LogCapture
from tests.support.program import run_tickover
from tickover.server.app import TickoverServer
from tickover.server.settings import SettingError, read_settings

_FOLDER_ADVICE = "Set TICKOVER_DATA_DIR or TICKOVER_DATABASE_URL to a folder that you can write to."
_SECRET = "open-sesame-open"


async def _error(folder: Path, **variables: str) -> str:
    """Return the error of a server that can't be opened."""
    settings = {"TICKOVER_PORT": "0", "TICKOVER_DATA_DIR": str(folder / "data"), **variables}
    with pytest.raises(SettingError) as error:
        await TickoverServer.open(read_settings(settings, {}), LogCapture().log)
    sentence = str(error.value)
    assert sentence.isprintable(), "it is one line"
    assert _SECRET not in sentence
    return sentence


_WRONG_STARTS = [
    ({"TICKOVER_HOST": "no-such-host.invalid", "TICKOVER_MAIL_URL": "outbox:"}, "TICKOVER_HOST"),
    ({"TICKOVER_HOST": f"{'x' * 64}.example", "TICKOVER_MAIL_URL": "outbox:"}, "TICKOVER_HOST"),
    ({"TICKOVER_DATABASE_URL": f"mysql://ana:{_SECRET}@127.0.0.1/t"}, "TICKOVER_DATABASE_URL"),
    ({"TICKOVER_MAIL_URL": f"smtp://ana:{_SECRET}@mail.example.com/path"}, "TICKOVER_MAIL_URL"),
    ({"TICKOVER_SECRET_KEY": _SECRET + "\udcff"}, "TICKOVER_SECRET_KEY"),
]


async def test_invalid_setting_is_one_error(tmp_path: Path) -> None:
    for variables, name in _WRONG_STARTS:
        assert (await _error(tmp_path, **variables)).startswith(f"{name} "), variables
    other_machine = await _error(tmp_path, TICKOVER_HOST="192.0.2.1", TICKOVER_MAIL_URL="outbox:")
    assert other_machine == "TICKOVER_HOST must be an address of this machine, not '192.0.2.1'."
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        used = f"Can't listen on 127.0.0.1:{port}: Address already in use. "
        assert (await _error(tmp_path, TICKOVER_PORT=port)).startswith(used)
        assert (await _error(tmp_path, TICKOVER_METRICS_PORT=port)).endswith("or set another TICKOVER_METRICS_PORT.")
        assert (await _error(tmp_path, TICKOVER_BANK_HTTPS=port)).endswith("or set another TICKOVER_BANK_HTTPS.")


def test_failed_start_prints_one_line(tmp_path: Path) -> None:
    mail_url = f"smtp://ana:{_SECRET}@mail.example.com/path"
    ran = run_tickover(tmp_path, "serve", "--port=0", TICKOVER_MAIL_URL=mail_url)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("tickover: TICKOVER_MAIL_URL ")
    assert ran.stderr.endswith(".\n")
    assert ran.stderr[:-1].isprintable()
    assert _SECRET not in ran.stderr
    # The secret key has no flag, because other users of the machine see flags.
    secret_flag = run_tickover(tmp_path, "serve", "--secret-key", _SECRET)
    assert secret_flag.returncode == 2
    assert _SECRET not in secret_flag.stderr


def _write_garbage(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(bytes(range(256)) * 40)


def _write_newer_schema(path: Path) -> None:
    path.parent.mkdir()
    database = apsw.Connection(str(path))
    database.pragma("user_version", 9999)
    database.close()


_UNUSABLE: dict[str, tuple[Callable[[Any], object], str]] = {
    "the data folder is a file": (lambda data: data.touch(), f"File exists. {_FOLDER_ADVICE}"),
    "the database is a folder": (
        lambda data: (data / "tickover.db").mkdir(parents=True),
        f"unable to open database file. {_FOLDER_ADVICE}",
    ),
    "the database is garbage": (lambda data: _write_garbage(data / "tickover.db"), "not a database"),
    "the database is of a newer program": (lambda data: _write_newer_schema(data / "tickover.db"), "version 9999"),
    "the secret key is garbage": (lambda data: _write_garbage(data / "secret.key"), "secret.key"),
    "the secret key is cut": (lambda data: (data.mkdir(), (data / "secret.key").write_text("short\n")), "damaged"),
    "the outbox is a file": (lambda data: (data.mkdir(), (data / "outbox").touch()), "outbox"),
}


async def test_unusable_data_folder_is_one_error(tmp_path: Path) -> None:
    for number, (kind, (spoil, message)) in enumerate(_UNUSABLE.items()):
        data = tmp_path / f"below{number}" / "data"
        data.parent.mkdir()
        spoil(data)
        assert message in await _error(tmp_path, TICKOVER_DATA_DIR=str(data)), kind
    # A database of a newer version is not changed.
    database = apsw.Connection(str(tmp_path / "below3" / "data" / "tickover.db"))
    assert database.pragma("user_version") == 9999
    assert database.execute("select count(*) from sqlite_schema").fetchall() == [(0,)]
    database.close()


async def test_second_server_on_a_sqlite_file_is_one_error(tmp_path: Path) -> None:
    """Commands of operators may use the file meanwhile. The lock ends with the server."""
    settings = read_settings({"TICKOVER_PORT": "0", "TICKOVER_DATA_DIR": str(tmp_path / "data")}, {})
    first = await TickoverServer.open(settings, LogCapture().log)
    expected = (
        f"Another server uses the database {tmp_path}/data/tickover.db. Stop it, or set another TICKOVER_DATA_DIR or "
        "TICKOVER_DATABASE_URL."
    )
    assert await _error(tmp_path) == expected
    create_token = ("token", "create", "ana@example.test", "--name", "CI")
    assert run_tickover(tmp_path, *create_token, TICKOVER_DATA_DIR=str(tmp_path / "data")).returncode == 0
    await first.close()
    again = await TickoverServer.open(settings, LogCapture().log)
    await again.close()
