"""The real program: output, files, stop and settings."""

import asyncio
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.connections import Connection, ConnectionLost, open_connections
from tests.support.program import Program, code_params, link_params, run_tickover, wait_until
from tickover import __version__

_BOTH_SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])


# Output


def test_banner_has_url_data_folder_and_outbox(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        banner = program.output[program.output.index("  Tickover ") :]
        lines = [line.split(maxsplit=1) for line in banner.splitlines() if line]
        assert lines[0] == ["Tickover", __version__]
        assert lines[1] == ["Console", f"{program.url}/"]
        assert lines[2] == ["RPC", f"{program.url}/rpc"]
        assert lines[3] == ["Docs", f"{program.url}/docs"]
        assert lines[4] == ["Data", "sqlite:///.tickover/tickover.db"]
        assert lines[5] == ["Mail", f"{program.url}/#/mailbox (stored in .tickover/outbox, not sent)"]
        assert lines[-1] == ["Press", "Ctrl-C to stop."]
        assert program.request("GET", "/readyz").status == 200


def test_banner_has_no_mail_password(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_MAIL_URL="smtp://ana:open-sesame@127.0.0.1:9") as program:
        assert "sent by SMTP" in program.output
        assert "open-sesame" not in program.output


def test_command_in_the_banner_works(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        line = next(line for line in program.output.splitlines() if line.startswith("  Try"))
        _, name, *arguments = line.split()
        assert name == "tickover"
        ran = run_tickover(tmp_path, *arguments, XDG_CONFIG_HOME=str(tmp_path))
        assert ran.returncode == 0, ran.stderr
        assert "Signed in as you@example.test" in ran.stdout


def test_each_email_is_one_line_on_the_terminal(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        code = program.send_code("ana@example.test")
        link = program.result("sendLoginCodeEmail", link_params("ben@example.test"))["loginUrl"]
        assert link.startswith(f"{program.url}/login#token=")
        after_the_banner = program.output.split("Press Ctrl-C to stop.\n")[1].split("\n")
        assert after_the_banner == [
            "",
            f"  ✉ ana@example.test  code  {code}",
            f"  ✉ ben@example.test  link  {link}",
            "",
        ]


def test_unencodable_character_is_printed_as_a_question_mark(tmp_path: Path) -> None:
    with Program(tmp_path, PYTHONIOENCODING="ascii") as program:
        code = program.send_code("ana@example.test")
        assert f"  ? ana@example.test  code  {code}\n" in program.output


# Files


def test_files_are_private(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in()
        program.result("createTestClock", {}, token)
        modes = {path.relative_to(program.data): _mode(path) for path in [program.data, *program.data.rglob("*")]}
        folders = {path for path in modes if (program.data / path).is_dir()}
        assert folders == {Path(), Path("outbox")}
        assert {modes[folder] for folder in folders} == {0o700}
        files = modes.keys() - folders
        assert {Path("tickover.db"), Path("secret.key")} < files
        assert len([file for file in files if file.suffix == ".eml"]) == 1
        assert {modes[file] for file in files} == {0o600}


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_data_survives_a_restart(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in()
        clock = program.result("createTestClock", {"goals": [{"name": "Bike", "targetAmount": 900}]}, token)["clock"]
        key = (program.data / "secret.key").read_bytes()
        assert program.stop() == 0
        program.start()
        params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert program.result("advanceTestClock", params, token) == {"clock": clock}
        assert (program.data / "secret.key").read_bytes() == key


def test_code_is_valid_after_a_restart(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        code = program.send_code("ana@example.test")
        assert program.stop() == 0
        program.start()
        params = {"email": "ana@example.test", "code": code, "authenticationMethod": "EMAIL_CODE"}
        assert program.result("loginByEmailVerification", params)["token"].startswith("tko_")


# Stop


@_BOTH_SIGNALS
def test_signal_stops_the_server_gracefully(tmp_path: Path, number: int) -> None:
    with Program(tmp_path) as program:
        program.result("createTestClock", {}, program.sign_in())
        assert program.stop(number) == 0
        assert program.output.endswith("Tickover has stopped.\n")
        assert "Traceback" not in program.output
        beside = {path.name for path in program.data.glob("tickover.db*")}
        assert beside == {"tickover.db"}, "the write-ahead log was not brought in"


@_BOTH_SIGNALS
def test_batch_finishes_when_the_server_stops(tmp_path: Path, number: int) -> None:
    # The largest body leaves time for a signal.
    at = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    goal = {**_GOAL, "contributions": [{"at": at, "amount": 1}] * 12}
    calls = [
        {"jsonrpc": "2.0", "id": place, "method": "createTestClock", "params": {"goals": [goal] * 25}}
        for place in range(50)
    ]
    with Program(tmp_path) as program:
        token = program.sign_in()
        with ThreadPoolExecutor() as other_thread:
            answering = other_thread.submit(program.post, calls, token)
            wait_until(lambda: _count_clocks(program) or answering.done())
            assert not answering.done(), "it was over before the signal could be given"
            program.process.send_signal(number)
            answers = answering.result().json
        assert [answer["id"] for answer in answers if "result" in answer] == list(range(50))
        assert program.process.wait(20) == 0
        assert "Traceback" not in program.output


_GOAL = {"name": "Bike", "targetAmount": 900}


@_BOTH_SIGNALS
def test_accepted_calls_finish_when_the_server_stops(tmp_path: Path, number: int) -> None:
    with Program(tmp_path) as program:
        token = program.sign_in()
        answers = asyncio.run(_create_until_stopped(program, token, number))
        assert program.process.wait(20) == 0
        assert "Traceback" not in program.output
        assert program.output.endswith("Tickover has stopped.\n")
        # Clocks and responses must match.
        assert _count_clocks(program) == len(answers)
        assert len({answer["result"]["clock"]["id"] for answer in answers}) == len(answers)


async def _create_until_stopped(program: Program, token: str, number: int) -> list[Any]:
    answers: list[Any] = []

    async def create(connection: Connection) -> None:
        try:
            while True:
                answers.append(await connection.call("createTestClock", {"goals": [_GOAL]}))
                if len(answers) == 200:
                    program.process.send_signal(number)
        except ConnectionLost:
            return

    async with open_connections(program.url, 64, token) as connections:
        await asyncio.gather(*map(create, connections))
    assert len(answers) >= 200
    return answers


def _count_clocks(program: Program) -> int:
    database = apsw.Connection(str(program.data / "tickover.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        [[count]] = database.execute("select count(*) from clocks")
    finally:
        database.close()
    return int(count)


def test_signal_during_the_start_stops_the_server(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("this machine does not show which files a process has open")
    with Program(tmp_path) as program:
        assert program.stop() == 0
        database = apsw.Connection(str(program.data / "tickover.db"))
        database.execute("begin immediate")
        program.launch()
        wait_until(lambda: _has_open(program.process.pid, "tickover.db"))
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(20) == -signal.SIGTERM
        database.close()
        assert program.output.count("Press Ctrl-C to stop") == 1, "it began to serve all the same"
        assert "Traceback" not in program.output


def _has_open(pid: int, name: str) -> bool:
    return any(_link_target(file).name == name for file in Path(f"/proc/{pid}/fd").iterdir())


def _link_target(file: Path) -> Path:
    """The target, or an empty path if the process has closed the file since the folder was listed."""
    try:
        return file.readlink()
    except FileNotFoundError:
        return Path()


# Commands and settings


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_the_serve_command(tmp_path: Path, flag: str) -> None:
    ran = run_tickover(tmp_path, flag)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Usage: ")
    assert "serve" in ran.stdout


def test_version_is_printed(tmp_path: Path) -> None:
    ran = run_tickover(tmp_path, "--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"tickover, version {__version__}\n", "")


def test_module_runs_the_command(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("tickover")
    ran = subprocess.run([command, "serve", "--help"], capture_output=True, text=True, timeout=20, check=True)
    as_module = run_tickover(tmp_path, "serve", "--help").stdout
    assert ran.stdout.removeprefix("Usage: tickover") == as_module.removeprefix("Usage: python -m tickover")


def test_unknown_command_is_rejected(tmp_path: Path) -> None:
    ran = run_tickover(tmp_path, "serf")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "serf" in ran.stderr


def test_flag_overrides_its_variable(tmp_path: Path) -> None:
    with Program(tmp_path, "--data-dir", "by-flag", TICKOVER_DATA_DIR="by-variable"):
        assert (tmp_path / "by-flag" / "tickover.db").exists()
        assert not (tmp_path / "by-variable").exists()


def test_login_links_begin_with_the_public_url(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_PUBLIC_URL="https://clocks.example.com/", TICKOVER_MAIL_URL="outbox:") as program:
        link = program.result("sendLoginCodeEmail", link_params("ana@example.test"))["loginUrl"]
        assert link.startswith("https://clocks.example.com/login#token=")


def test_quota_of_clocks_is_enforced(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_MAX_CLOCKS_PER_USER="1") as program:
        token = program.sign_in()
        program.result("createTestClock", {}, token)
        refused = program.call("createTestClock", {}, token)["error"]["data"]
        assert refused["reason"] == "RATE_LIMITED"


def test_quota_of_bytes_is_enforced(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_MAX_BYTES_PER_USER="300") as program:
        token = program.sign_in()
        program.result("createTestClock", {}, token)
        refused = program.call("createTestClock", {}, token)["error"]
        assert refused["data"]["reason"] == "RATE_LIMITED"
        assert "300 bytes" in refused["message"]


def test_database_may_be_in_another_folder(tmp_path: Path) -> None:
    with Program(tmp_path, TICKOVER_DATABASE_URL=f"sqlite:///{tmp_path}/else/where.db") as program:
        program.sign_in()
        assert _mode(tmp_path / "else" / "where.db") == 0o600
        assert not (program.data / "tickover.db").exists()


def test_server_listens_on_the_configured_address(tmp_path: Path) -> None:
    with Program(tmp_path, "--host", "localhost") as program:
        assert program.url.startswith("http://localhost:")
        assert program.request("GET", "/healthz").status == 200


def test_unreachable_mail_server_returns_an_error(tmp_path: Path) -> None:
    # No server listens on port 9. A second email is not too soon, so it fails in the same way.
    with Program(tmp_path, TICKOVER_MAIL_URL="smtp://ana:open-sesame@127.0.0.1:9") as program:
        for _ in range(2):
            refused = program.call("sendLoginCodeEmail", code_params("ben@example.test"))["error"]["data"]
            assert refused == {"reason": "MAIL_NOT_SENT"}
        assert "open-sesame" not in program.output
        assert "ben@example.test" not in program.output
