"""Tests of `tickover clock list` and `tickover clock delete`."""

import pytest

from tests.system.shells import Shell


@pytest.fixture
def clocks(shell: Shell) -> list[str]:
    """Three clocks, newest first."""
    return [shell("clock", "create", "--from", f"2027-01-0{n} 09:30", "--json").json["id"] for n in (1, 2, 3)][::-1]


@pytest.mark.parametrize(
    ("arguments", "number", "has_more"),
    [(["--limit", "2"], 2, True), (["--limit", "3"], 3, False), (["--all"], 3, False)],
)
def test_list_respects_the_limit(
    shell: Shell, clocks: list[str], arguments: list[str], number: int, has_more: bool
) -> None:
    listed = shell("clock", "list", *arguments, "--json").json
    assert ([one["id"] for one in listed["clocks"]], listed["hasMore"]) == (clocks[:number], has_more)
    shown = shell("clock", "list", *arguments).out
    assert ("… and more. List all: tickover clock list --all" in shown) == has_more


# Deleting


def remaining(shell: Shell) -> list[str]:
    return [one["id"] for one in shell("clock", "list", "--json").json["clocks"]]


def test_delete_without_id_deletes_the_last_used_clock(shell: Shell, clocks: list[str]) -> None:
    result = shell("clock", "delete", "--yes")
    assert (result.code, result.out) == (0, f"✓ Deleted {clocks[0]}\n")
    assert (remaining(shell), shell.clock) == (clocks[1:], "")
    assert shell("clock", "delete", "--yes").code == 2


@pytest.mark.parametrize("options", [[], ["--all"], ["--all", "--yes", "903ac1d4"]])
def test_script_must_name_the_clocks_or_confirm(shell: Shell, clocks: list[str], options: list[str]) -> None:
    assert shell("clock", "delete", *options).code == 2
    assert remaining(shell) == clocks


def test_delete_accepts_several_partial_ids(shell: Shell, clocks: list[str]) -> None:
    result = shell("clock", "delete", clocks[1][-12:], clocks[2], clocks[2], "--json")
    assert result.json == {"deleted": clocks[1:]}
    assert (remaining(shell), shell.clock) == (clocks[:1], clocks[0])


def test_delete_with_one_unknown_id_deletes_nothing(shell: Shell, clocks: list[str]) -> None:
    assert shell("clock", "delete", clocks[0], "zzzz", clocks[1]).code == 5
    assert remaining(shell) == clocks


def test_delete_reports_clocks_deleted_before_a_failure(shell: Shell, clocks: list[str]) -> None:
    gone = "clock_01a2d11f-0200-7129-903a-c1d45597fdf1"
    result = shell("clock", "delete", clocks[0], gone, clocks[1], "--json")
    assert (result.code, result.json, result.error["reason"]) == (5, {"deleted": clocks[:1]}, "CLOCK_NOT_FOUND")
    assert remaining(shell) == clocks[1:]


@pytest.mark.parametrize(("answer", "exit"), [("y\n", 0), ("Ctrl-C", 130)])
def test_delete_at_a_terminal_asks_for_confirmation(shell: Shell, clocks: list[str], answer: str, exit: int) -> None:
    with shell.open_terminal("clock", "delete") as terminal:
        terminal.wait_for(f"Delete clock_…{clocks[0][-8:]} permanently? [y/N]: ")
        if answer == "Ctrl-C":
            assert terminal.interrupt() == exit
        else:
            terminal.type(answer)
            assert terminal.end() == exit
        assert "Traceback" not in terminal.text
    assert remaining(shell) == (clocks[1:] if exit == 0 else clocks)


# Names and labels


def test_names_are_listed_and_changed(shell: Shell) -> None:
    created = shell("clock", "create", "--name", "Rent check", "--label", "ci=1", "--label", "app=web", "--json").json
    assert (created["name"], created["labels"]) == ("Rent check", {"ci": "1", "app": "web"})
    short, now = f"clock_…{created['id'][-8:]}", created["frozenTime"][:16].replace("T", " ")
    assert shell("clock", "list").out.splitlines() == [
        "  ID               NOW               EXPIRES    HOLDS  NAME",
        f"* {short}  {now}  6 d 23 h          Rent check",
    ]
    assert shell("clock", "show").out.splitlines()[0].startswith(f"  {short}  Rent check  READY  ")
    assert shell("clock", "rename", "Other").out == f"✓ Renamed {created['id']} to Other\n"
    assert shell("clock", "list", "--json").json["clocks"][0]["name"] == "Other"
    shell("clock", "rename", "", created["id"])
    assert "name" not in shell("clock", "show", "--json").json


def test_labels_select_the_clocks_to_list_and_delete(shell: Shell, clocks: list[str]) -> None:
    labelled = [shell("clock", "create", "--label", "ci=1", "--json").json["id"] for _ in range(2)][::-1]
    listed = shell("clock", "list", "--label", "ci=1", "--json").json["clocks"]
    assert [one["id"] for one in listed] == labelled
    assert shell("clock", "list", "--label", "ci=2").out.startswith("You have no clocks with these labels.")
    assert shell("clock", "delete", "--label", "ci=1", "--yes").code == 2
    assert shell("clock", "delete", "--all", "--label", "ci", "--yes").code == 2
    assert shell("clock", "delete", "--all", "--label", "ci=1", "--yes", "--json").json == {"deleted": labelled}
    assert remaining(shell) == clocks
