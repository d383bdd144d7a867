"""Tests of `tickover clock watch`: in a pipe, at a terminal, and during an outage."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cases import each_case
from tests.support.ports import reusable_port
from tests.support.program import Program, wait_until
from tests.support.shells import Pipes, Shell, Terminal

START = "2027-01-01T00:00:00Z"
PARAMS = {
    "frozenTime": START,
    "transactions": [
        {"at": "2027-01-03T08:00:00Z", "name": "Rent", "amount": 1150, "currency": "EUR", "type": "EXPENSE"},
        {"at": "2027-01-25T08:00:00Z", "name": "Salary", "amount": 2800, "currency": "EUR", "type": "INCOME"},
    ],
}


@pytest.fixture
def clock(shell: Shell) -> str:
    return str(shell("clock", "create", "--params", "-", "--json", input=json.dumps(PARAMS).encode()).json["id"])


@pytest.fixture
def move(shell: Shell, clock: str, program: Program) -> Callable[[str], None]:
    """Move the clock from outside."""

    def move(to: str) -> None:
        program.result("advanceTestClock", {"id": clock, "frozenTime": to}, shell.token)

    return move


def test_pipe_gets_one_line_per_change(shell: Shell, clock: str, move: Callable[[str], None], program: Program) -> None:
    with shell.start("clock", "watch", "--every", "0.1") as watching:
        assert watching.stdout.readline() == "2027-01-01  2 to come\n"
        move("2027-01-02T00:00:00Z")
        assert watching.stdout.readline() == "2027-01-02  nothing happened  2 to come\n"
        move("2027-02-01T09:30:00Z")
        assert watching.stdout.readline() == "2027-02-01 09:30 UTC  2 transactions  nothing to come\n"
        program.result("deleteTestClock", {"id": clock}, shell.token)
        code, out, err = watching.end()
    assert (code, out) == (5, "")
    assert err.splitlines() == [
        "tickover: The clock has been deleted.",
        "  List your clocks: tickover clock list. Create one: tickover clock create salary-and-rent",
    ]


@pytest.mark.parametrize(
    ("command", "seconds"),
    [
        (["clock", "watch"], 1),
        (["clock", "watch", "--every", "7"], 7),
        (["clock", "events", "--follow"], 1),
        (["listen", "--forward-to", "localhost:9"], 1),
        (["listen", "--forward-to", "localhost:9", "--every", "7"], 7),
    ],
)
def test_interval_between_requests(
    shell: Shell, clock: str, monkeypatch: pytest.MonkeyPatch, command: list[str], seconds: float
) -> None:
    slept: list[float] = []

    def stop_at_the_third(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", stop_at_the_third)
    assert shell(*command).code == 130
    assert slept == [seconds] * 3


def test_json_gets_one_line_per_change(shell: Shell, clock: str, move: Callable[[str], None], program: Program) -> None:
    with shell.start("clock", "watch", clock, "--every", "0.1", "--json") as watching:
        first = json.loads(watching.stdout.readline())
        assert first == shell("clock", "show", "--json").json
        move("2027-01-03T08:00:00Z")
        second = json.loads(watching.stdout.readline())
        assert [one["name"] for one in second["transactions"]] == ["Rent"]
        program.result("deleteTestClock", {"id": clock}, shell.token)
        ended = watching.end()
    assert (ended.code, ended.out, ended.error["reason"]) == (5, "", "CLOCK_NOT_FOUND")


def test_terminal_is_redrawn_and_restored_after_ctrl_c(shell: Shell, clock: str, move: Callable[[str], None]) -> None:
    with shell.open_terminal("clock", "watch", "--every", "0.1") as terminal:
        terminal.wait_for("Watching. Press Ctrl-C to stop.")
        assert "now 2027-01-01" in terminal.text
        move("2027-01-04T00:00:00Z")
        terminal.wait_for("✓ 2027-01-01 → 2027-01-04  1 transaction")
        terminal.wait_for("● 2027-01-03")
        assert terminal.interrupt() == 130
        assert "Traceback" not in terminal.text
        # The alternate screen is left and the cursor is shown again at the end.
        assert terminal.raw.index("\x1b[?1049h") < terminal.raw.rindex("\x1b[?1049l")
        assert terminal.raw.rindex("\x1b[?25l") < terminal.raw.rindex("\x1b[?25h")


@each_case("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminal_is_restored_after_a_signal(shell: Shell, clock: str, number: signal.Signals) -> None:
    with shell.open_terminal("clock", "watch") as terminal:
        terminal.wait_for("Watching.")
        terminal.signal(number)
        assert terminal.end() == 128 + number
        assert terminal.raw.index("\x1b[?1049h") < terminal.raw.rindex("\x1b[?1049l")
        assert terminal.raw.rindex("\x1b[?25l") < terminal.raw.rindex("\x1b[?25h")


def test_deleted_clock_ends_the_watch_at_a_terminal(shell: Shell, clock: str, program: Program) -> None:
    with shell.open_terminal("clock", "watch", "--every", "0.1") as terminal:
        terminal.wait_for("Watching.")
        program.result("deleteTestClock", {"id": clock}, shell.token)
        assert terminal.end() == 5
        last = terminal.raw[terminal.raw.rindex("\x1b[?1049l") :]
        assert "tickover: The clock has been deleted." in last


def test_small_terminal_gets_the_first_lines(shell: Shell, clock: str) -> None:
    with shell.open_terminal("clock", "watch", columns=40, rows=10) as terminal:
        terminal.wait_for("Watching. Press Ctrl-C to stop.")
        drawn = terminal.raw[terminal.raw.index("\x1b[?1049h") : terminal.raw.index("Watching.")]
        assert drawn.count("\n") <= 10


def test_dumb_terminal_gets_lines(shell: Shell, clock: str, move: Callable[[str], None]) -> None:
    with shell.open_terminal("clock", "watch", "--every", "0.1", TERM="dumb") as terminal:
        terminal.wait_for("2027-01-01  2 to come\n")
        move("2027-01-04T00:00:00Z")
        terminal.wait_for("2027-01-04  1 transaction  1 to come\n")
        assert "\x1b" not in terminal.raw
        assert terminal.interrupt() == 130


def test_watch_retries_until_the_server_is_back(tmp_path: Path, email: str) -> None:
    """In a pipe, as JSON, and at a terminal."""
    folder = tmp_path / "restartable"
    folder.mkdir()
    with Program(folder, TICKOVER_PORT=str(reusable_port())) as program:
        shell = Shell(tmp_path / "config", program.url)
        assert shell("login", email).code == 0
        assert shell("clock", "create", "--params", "-", input=json.dumps(PARAMS).encode()).code == 0
        watch = ("clock", "watch", "--every", "0.1")
        with (
            shell.start(*watch) as pipe,
            shell.start(*watch, "--json") as as_json,
            shell.open_terminal(*watch) as terminal,
        ):
            _watch_an_outage(program, shell, pipe, as_json, terminal)


def _watch_an_outage(program: Program, shell: Shell, pipe: Pipes, as_json: Pipes, terminal: Terminal) -> None:
    assert pipe.stdout.readline() == "2027-01-01  2 to come\n"
    as_json.stdout.readline()
    terminal.wait_for("Watching.")

    program.kill()
    # "Can't connect to …" or, during a request, "… closed the connection".
    assert f" {shell.url} " in pipe.stderr.readline()
    assert pipe.stderr.readline() == "  Retrying until it responds. Press Ctrl-C to stop.\n"
    error = json.loads(as_json.stderr.readline())["error"]
    assert (error["reason"], error["hint"]) == ("UNREACHABLE", "Retrying until it responds. Press Ctrl-C to stop.")
    # The clock stays on the screen.
    terminal.wait_for(shell.url)
    outage = terminal.text.rindex(shell.url)

    program.start()
    assert pipe.stderr.readline() == "The server is back.\n"
    wait_until(lambda: "Watching." in terminal.text[outage:])
    shell("clock", "advance", "--next")
    assert pipe.stdout.readline() == "2027-01-03 08:00 UTC  1 transaction  1 to come\n"

    pipe.send_signal(signal.SIGINT)
    assert pipe.end() == (130, "", "")
    as_json.send_signal(signal.SIGINT)
    assert as_json.end().code == 130
    assert terminal.interrupt() == 130


@each_case("every", ["0", "-1", "often"])
def test_invalid_interval_is_rejected(shell: Shell, clock: str, every: str) -> None:
    result = shell("clock", "watch", "--every", every)
    assert (result.code, result.out) == (2, "")
    assert "--every" in result.err


def test_watch_fails_without_clock_or_server(shell: Shell, clock: str) -> None:
    assert shell("clock", "watch", "clock_01a2d11f-0200-7129-903a-c1d45597fdf1").code == 5
    assert shell("clock", "watch", clock, "--url", "http://127.0.0.1:9", TICKOVER_TOKEN="tko_some").code == 7
