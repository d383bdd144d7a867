"""Tests of output: hostile text, JSON, pipes and interruptions."""

import json
import os
import signal
import socket
import unicodedata

import pytest
from rich.text import Text

from tests.support.program import Program
from tests.system.shells import Shell
from tickover.cli.output import Output, to_json

HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J [bold]日本語[/bold] 🎉"


@pytest.fixture
def clock(shell: Shell, program: Program) -> str:
    """A clock whose names contain escape sequences."""
    transactions = [
        {"at": f"2027-0{month}-03T08:00:00Z", "name": HOSTILE, "amount": 1150, "currency": "EUR", "type": "EXPENSE"}
        for month in range(1, 7)
    ]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": transactions}
    id = program.result("createTestClock", params, shell.token)["clock"]["id"]
    shell("clock", "advance", id, "--next")
    return str(id)


def test_output_for_people_is_sanitized(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.write({}, f"message {HOSTILE}\r\u202e", "next")
    output.draw([Text(f"drawn {HOSTILE}\r\u202e"), Text("next")])
    message = capsys.readouterr().out
    assert {sign for sign in message if unicodedata.category(sign) in ("Cc", "Cf")} == {"\n"}
    assert [line.split()[0] for line in message.splitlines()] == ["message", "next", "drawn", "next"]


def test_output_to_a_pipe_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def size(stream: int) -> os.terminal_size:
        if stream != 2:
            raise OSError
        return os.terminal_size((140, 24))

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", size)
    assert Output().width == 140


def test_json_keeps_every_character(shell: Shell, clock: str) -> None:
    assert shell("clock", "show", "--json").json["transactions"][0]["name"] == HOSTILE
    # JSON is always UTF-8.
    assert shell("clock", "show", "--json", PYTHONIOENCODING="ascii").json["transactions"][0]["name"] == HOSTILE


@pytest.mark.parametrize("control", ["\x7f", "\x9b"])
def test_json_escapes_c1_controls(control: str) -> None:
    assert to_json({"name": control}) == f'{{"name":"\\u{ord(control):04x}"}}'
    assert json.loads(to_json({"name": control})) == {"name": control}


@pytest.mark.parametrize("arguments", [["clock", "show"], ["--help"]])
def test_closed_pipe_is_not_an_error(shell: Shell, clock: str, arguments: list[str]) -> None:
    with shell.start(*arguments) as command:
        command.stdout.close()
        assert (command.stderr.read(), command.wait(120)) == ("", 0)


def test_ctrl_c_during_a_request_prints_nothing(shell: Shell, clock: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with shell.start("clock", "show", clock, "--url", url, TICKOVER_TOKEN="tko_some") as asking:
            silent.settimeout(60)
            connection, _ = silent.accept()
            asking.send_signal(signal.SIGINT)
            assert asking.end() == (130, "", "")
        connection.close()
