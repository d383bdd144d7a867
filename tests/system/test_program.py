"""The real program: output, files, stop and settings."""

import json
import signal
import stat
from pathlib import Path

from tests.support.program import Program, run_tickover, verify_params
from tickover import __version__
from tickover.server.storage.migrations import newest_version

# Output


def test_command_in_the_banner_works(program: Program, tmp_path: Path) -> None:
    line = next(line for line in program.output.splitlines() if line.startswith("  Try"))
    _, name, *arguments = line.split()
    assert name == "tickover"
    ran = run_tickover(tmp_path, *arguments, XDG_CONFIG_HOME=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert "Signed in as you@example.test" in ran.stdout


def test_start_rejected_calls_and_stop_are_logged_in_order(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        program.batch("getTestClock", [{"id": "clock_x"}] * 2)
        assert program.stop() == 0
    lines = [json.loads(line) for line in program.output.splitlines() if line.startswith("{")]
    assert [{name: line[name] for name in line if name != "timestamp"} for line in lines] == [
        {
            "event": "started",
            "level": "info",
            "version": __version__,
            "address": program.url,
            "database": "sqlite:///.tickover/tickover.db",
            "schema_version": newest_version("sqlite"),
        },
        {"event": "stopping", "level": "info"},
        {"event": "calls rejected", "level": "info", "unauthenticated": 2},
        {"event": "stopped", "level": "info"},
    ]


# Files


def test_files_are_private(program: Program) -> None:
    token = program.sign_in("private@example.test")
    program.result("createTestClock", {}, token)
    modes = {path.relative_to(program.data): _mode(path) for path in [program.data, *program.data.rglob("*")]}
    folders = {path for path in modes if (program.data / path).is_dir()}
    assert folders == {Path(), Path("outbox")}
    assert {modes[folder] for folder in folders} == {0o700}
    files = modes.keys() - folders
    assert {Path("tickover.db"), Path("secret.key")} < files
    assert any(file.suffix == ".eml" for file in files)
    assert {modes[file] for file in files} == {0o600}


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_signals_stop_the_server_gracefully_and_data_survives(tmp_path: Path) -> None:
    # Ctrl-C doesn't drain.
    with Program(tmp_path, TICKOVER_DRAIN_SECONDS="600") as program:
        token = program.sign_in()
        clock = program.result("createTestClock", {"goals": [_GOAL]}, token)["clock"]
        code = program.send_code("ben@example.test")
        key = (program.data / "secret.key").read_bytes()
        assert program.stop(signal.SIGINT) == 0
        _assert_stopped(program)

        program.environment["TICKOVER_DRAIN_SECONDS"] = "1"
        program.start()
        # SIGHUP doesn't stop the server.
        program.process.send_signal(signal.SIGHUP)
        params = {"id": clock["id"], "frozenTime": clock["frozenTime"]}
        assert program.result("advanceTestClock", params, token) == {"clock": clock}
        login = program.result("loginByEmailVerification", verify_params("ben@example.test", code))
        assert login["token"].startswith("tko_")
        assert (program.data / "secret.key").read_bytes() == key
        assert program.stop(signal.SIGTERM) == 0
        _assert_stopped(program)


_GOAL = {"name": "Bike", "targetAmount": 900}


def _assert_stopped(program: Program) -> None:
    assert program.output.endswith("Tickover has stopped.\n")
    assert "Traceback" not in program.output
    beside = {path.name for path in program.data.glob("tickover.db*")}
    assert beside == {"tickover.db", "tickover.db.lock"}, "the write-ahead log is still there"
