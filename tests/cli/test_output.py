"""Where words go and in what form: pipes, terminals, colours, encodings, interruptions."""

import json
import re
import signal
import socket
import unicodedata
from typing import Any

import pytest
from rich.text import Text

from tests.cli.shells import Shell
from tests.client.servers import CLOCK, RESULTS, Handler, scripted_server
from tests.program import Program
from tickover.cli.output import Output, written

NASTY = "\x1b[31mred\x1b]0;title\x07\x9b2J [bold]日本語[/bold] 🎉"


@pytest.fixture
def clock(shell: Shell, program: Program) -> str:
    """A clock whose texts mean harm."""
    transactions = [
        {"at": f"2027-0{month}-03T08:00:00Z", "name": NASTY, "amount": 1150, "currency": "EUR", "type": "EXPENSE"}
        for month in range(1, 7)
    ]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": transactions}
    id = program.result("createTestClock", params, shell.token)["clock"]["id"]
    shell("clock", "advance", id, "--next")
    return str(id)


def test_at_a_terminal_there_are_colours_and_the_width_is_the_terminals(shell: Shell, clock: str) -> None:
    with shell.at_a_terminal("clock", "show", columns=100) as terminal:
        assert terminal.end() == 0
        assert "\x1b[1m" in terminal.raw
        assert "\x1b[33m" in terminal.raw
        assert max(map(len, terminal.text.splitlines())) == 100


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["--no-color"], {}),
        ([], {"NO_COLOR": "1"}),
        ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}),
        ([], {"TERM": "dumb"}),
    ],
)
def test_without_colours_there_are_no_escape_sequences(
    shell: Shell, clock: str, arguments: list[str], variables: dict[str, Any]
) -> None:
    with shell.at_a_terminal("clock", "show", *arguments, **variables) as terminal:
        assert terminal.end() == 0
        assert "clock_…" in terminal.raw
        assert "\x1b" not in terminal.raw


def test_what_others_wrote_does_not_command_the_terminal(shell: Shell, clock: str) -> None:
    for arguments in (["clock", "show"], ["clock", "show", "--json"], ["clock", "advance", "--next"]):
        with shell.at_a_terminal(*arguments, "--no-color", columns=120) as terminal:
            assert terminal.end() == 0
            assert not {"\x1b", "\x07", "\x9b"} & set(terminal.raw)
            assert "[bold]日本語[/bold] 🎉" in terminal.text


@pytest.mark.parametrize("command", ["create", "fork", "show", "advance", "delete", "list"])
def test_an_id_that_means_harm_does_not_command_the_terminal(shell: Shell, command: str) -> None:
    hostile = CLOCK | {"id": f"clock_{NASTY}"}
    answers = {name: {"clock": hostile} for name in RESULTS} | {"listTestClocks": {"clocks": [hostile]}}

    def answer(handler: Handler, call: Any) -> None:
        handler.respond(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": answers[call["method"]]}))

    more = {"advance": ["--by", "1d"], "delete": ["--yes"]}.get(command, [])
    id = [] if command in ("create", "list") else ["clock_01a2d11f-0200-7129-903a-c1d45597fdf1"]
    with scripted_server(answer) as server:
        ran = shell("clock", command, *id, *more, "--url", server.url, TICKOVER_TOKEN="tko_some")
    assert (ran.code, ran.err) == (0, "")
    assert {sign for sign in ran.out if unicodedata.category(sign) == "Cc"} == {"\n"}


def test_whatever_is_said_or_drawn_for_people_is_safe(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.say({}, f"said {NASTY}\r\u202e", "next")
    output.draw([Text(f"drawn {NASTY}\r\u202e"), Text("next")])
    said = capsys.readouterr().out
    assert {sign for sign in said if unicodedata.category(sign) in ("Cc", "Cf")} == {"\n"}
    assert [line.split()[0] for line in said.splitlines()] == ["said", "next", "drawn", "next"]


def test_json_loses_nothing_of_what_others_wrote(shell: Shell, clock: str) -> None:
    assert shell("clock", "show", "--json").json["transactions"][0]["name"] == NASTY
    # JSON is in UTF-8, whatever else the terminal shows.
    assert shell("clock", "show", "--json", PYTHONIOENCODING="ascii").json["transactions"][0]["name"] == NASTY


def test_json_is_one_line_in_a_pipe_and_laid_out_at_a_terminal(shell: Shell, clock: str) -> None:
    assert shell("clock", "show", "--json").out.count("\n") == 1
    with shell.at_a_terminal("clock", "show", "--json") as terminal:
        assert terminal.end() == 0
        assert json.loads(terminal.text)["id"] == clock
        assert terminal.text.startswith('{\n  "id": ')


@pytest.mark.parametrize("control", ["\x7f", "\x80", "\x9b", "\x9f"])
def test_json_escapes_what_terminals_obey(control: str) -> None:
    assert written({"name": control}) == f'{{"name":"\\u{ord(control):04x}"}}'
    assert json.loads(written({"name": control})) == {"name": control}


@pytest.mark.parametrize(
    ("encoding", "variables"),
    [("ascii", {}), ("latin-1", {}), ("utf-8", {"LC_ALL": "C"}), ("utf-8", {"LANG": "POSIX"})],
)
def test_where_drawings_cannot_be_shown_they_are_made_of_ascii(
    shell: Shell, clock: str, encoding: str, variables: dict[str, Any]
) -> None:
    ran = shell("clock", "show", encoding=encoding, **variables)
    assert ran.code == 0
    assert f"  clock_~{clock[-8:]}  READY  now 2027-01-03 08:00 UTC" in ran.out
    drawn = [line for line in ran.out.splitlines() if "red" not in line]
    assert all(line.isascii() for line in drawn)
    assert re.search(r"^  out     \* +o +o", ran.out, re.MULTILINE)
    assert re.search(r"^  EUR    #\|[#*+=:.-]+__*$", ran.out, re.MULTILINE)
    assert "-1 150.00 EUR" in ran.out
    assert "         * happened  o scheduled  | now" in ran.out


def test_a_locale_of_utf_8_is_no_c(shell: Shell, clock: str) -> None:
    assert "clock_…" in shell("clock", "show", LC_ALL="C.UTF-8").out
    assert "clock_…" in shell("clock", "show", LC_ALL="", LC_CTYPE="", LANG="de_DE.UTF-8").out


def test_errors_are_shown_in_ascii_too(stranger: Shell) -> None:
    ran = stranger("login", "ünknown", encoding="ascii")
    assert ran.code == 4
    assert ran.err.isascii()


@pytest.mark.parametrize("arguments", [["clock", "list"], ["clock", "show"], ["clock", "show", "--json"], ["--help"]])
def test_a_reader_who_had_enough_is_nothing_to_talk_about(shell: Shell, clock: str, arguments: list[str]) -> None:
    command = shell.start(*arguments)
    assert command.stdout
    assert command.stderr
    command.stdout.close()
    assert (command.stderr.read(), command.wait(30)) == ("", 0)
    command.stderr.close()


def test_ctrl_c_while_the_server_is_asked_is_no_traceback(shell: Shell, clock: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        asking = shell.start("clock", "show", clock, "--url", url, TICKOVER_TOKEN="tko_some")
        connection, _ = silent.accept()
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=30)
        connection.close()
    assert (asking.returncode, out, err) == (130, "", "")


def test_options_may_stand_before_and_behind_a_command(shell: Shell, clock: str) -> None:
    for arguments in (["--json", "clock", "show"], ["clock", "--json", "show"], ["clock", "show", "--json"]):
        assert shell(*arguments).json["id"] == clock


def test_errors_for_a_program_are_json_on_standard_error(shell: Shell, clock: str) -> None:
    ran = shell("clock", "advance", "--to", "2027-01-01", "--json")
    assert (ran.code, ran.out) == (4, "")
    assert ran.error == {
        "reason": "TIME_BEFORE_CURRENT",
        "exitCode": 4,
        "message": "The clock is already at 2027-01-03 08:00 UTC, and time only moves forward.",
        "hint": "To go back, make a copy that stands earlier: tickover clock fork --at TIME",
    }
