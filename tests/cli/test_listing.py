"""Listing clocks and deleting them."""

import pytest

from tests.cli.shells import Shell
from tests.program import Program


@pytest.fixture
def clocks(shell: Shell) -> list[str]:
    """Three clocks, newest first."""
    return [shell("clock", "create", "--from", f"2027-01-0{n} 09:30", "--json").json["id"] for n in (1, 2, 3)][::-1]


def test_clocks_are_listed_newest_first_with_a_mark_at_the_one_in_use(shell: Shell, clocks: list[str]) -> None:
    shell("clock", "show", clocks[1])
    ran = shell("clock", "list")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "  ID                                          NOW               EXPIRES",
        f"  {clocks[0]}  2027-01-03 09:30  6 d 23 h",
        f"* {clocks[1]}  2027-01-02 09:30  6 d 23 h",
        f"  {clocks[2]}  2027-01-01 09:30  6 d 23 h",
    ]


@pytest.mark.parametrize(
    ("width", "first"),
    [
        (74, "* {id}  2027-01-03 09:30  6 d 23 h"),
        (73, "* clock_…{end}  2027-01-03 09:30  6 d 23 h"),
        (46, "* clock_…{end}  2027-01-03 09:30  6 d 23 h"),
        (45, "* clock_…{end}  2027-01-03  6 d 23 h"),
        (39, "* clock_…{end}  2027-01-03  6 d 23 h"),
    ],
)
def test_where_there_is_no_room_ids_are_shortened(shell: Shell, clocks: list[str], width: int, first: str) -> None:
    lines = shell("clock", "list", COLUMNS=str(width)).out.splitlines()
    assert lines[1] == first.format(id=clocks[0], end=clocks[0][-8:])
    assert max(map(len, lines)) <= width


def test_a_program_is_told_all_that_the_server_tells(shell: Shell, clocks: list[str], program: Program) -> None:
    told = program.result("listTestClocks", {}, shell.token)
    assert shell("clock", "list", "--json").json == {"clocks": told["clocks"], "hasMore": False}


@pytest.mark.parametrize(
    ("arguments", "number", "has_more"),
    [(["--limit", "2"], 2, True), (["--limit", "3"], 3, False), (["--limit", "101"], 3, False), (["--all"], 3, False)],
)
def test_as_many_are_listed_as_were_asked_for(
    shell: Shell, clocks: list[str], arguments: list[str], number: int, has_more: bool
) -> None:
    told = shell("clock", "list", *arguments, "--json").json
    assert ([one["id"] for one in told["clocks"]], told["hasMore"]) == (clocks[:number], has_more)
    shown = shell("clock", "list", *arguments).out
    assert ("… and more: tickover clock list --all" in shown) == has_more


def test_all_means_all_of_many_pages(shell: Shell, program: Program) -> None:
    program.batch("createTestClock", [{}] * 101, shell.token)
    assert len(shell("clock", "list", "--all", "--json").json["clocks"]) == 101
    assert len(shell("clock", "list", "--limit", "101", "--json").json["clocks"]) == 101
    assert len(shell("clock", "list", "--json").json["clocks"]) == 20


def test_who_has_none_is_told_how_to_make_one(shell: Shell) -> None:
    ran = shell("clock", "list")
    assert (ran.code, ran.out) == (0, "You have no clocks. Make one with: tickover clock create salary-and-rent\n")
    assert shell("clock", "list", "--json").json == {"clocks": [], "hasMore": False}


@pytest.mark.parametrize("arguments", [["--limit", "0"], ["--limit", "2", "--all"], ["--limit", "many"]])
def test_a_limit_that_is_none_is_refused(shell: Shell, arguments: list[str]) -> None:
    assert shell("clock", "list", *arguments).code == 2


# Deleting


def left(shell: Shell) -> list[str]:
    return [one["id"] for one in shell("clock", "list", "--json").json["clocks"]]


def test_the_clock_in_use_is_deleted_and_forgotten(shell: Shell, clocks: list[str]) -> None:
    ran = shell("clock", "delete")
    assert (ran.code, ran.out) == (0, f"✓ Deleted {clocks[0]}\n")
    assert (left(shell), shell.clock) == (clocks[1:], "")
    assert shell("clock", "delete").code == 2


def test_several_are_deleted_by_the_ends_of_their_ids(shell: Shell, clocks: list[str]) -> None:
    ran = shell("clock", "delete", clocks[1][-12:], clocks[2], clocks[2], "--json")
    assert ran.json == {"deleted": clocks[1:]}
    assert (left(shell), shell.clock) == (clocks[:1], clocks[0])


def test_a_slip_deletes_nothing(shell: Shell, clocks: list[str]) -> None:
    assert shell("clock", "delete", clocks[0], "zzzz", clocks[1]).code == 5
    assert left(shell) == clocks


def test_what_was_deleted_before_one_could_not_be_is_said(shell: Shell, clocks: list[str]) -> None:
    gone = "clock_01a2d11f-0200-7129-903a-c1d45597fdf1"
    ran = shell("clock", "delete", clocks[0], gone, clocks[1], "--json")
    assert (ran.code, ran.json, ran.error["reason"]) == (5, {"deleted": clocks[:1]}, "CLOCK_NOT_FOUND")
    assert left(shell) == clocks[1:]


@pytest.mark.parametrize(("answer", "exit"), [("y\n", 0), ("n\n", 130), ("\n", 130), ("\x03", 130)])
def test_at_a_terminal_it_is_asked_before(shell: Shell, clocks: list[str], answer: str, exit: int) -> None:
    with shell.at_a_terminal("clock", "delete") as terminal:
        terminal.wait_for(f"Delete clock_…{clocks[0][-8:]} for good? [y/N]: ")
        terminal.type(answer)
        assert terminal.end() == exit
        assert "Traceback" not in terminal.text
    assert left(shell) == (clocks[1:] if exit == 0 else clocks)


def test_yes_is_not_asked(shell: Shell, clocks: list[str]) -> None:
    with shell.at_a_terminal("clock", "delete", "--yes", *clocks[:2]) as terminal:
        assert terminal.end() == 0
        assert "for good?" not in terminal.text
    assert left(shell) == clocks[2:]
