"""Making, showing, moving and copying clocks: what is done, what is shown, and what a program is told."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shells import Shell
from tests.program import Program

YEAR = datetime.now(UTC).year + 1
PARAMS = {
    "frozenTime": f"{YEAR}-01-01T00:00:00Z",
    "transactions": [
        {"at": f"{YEAR}-01-03T08:00:00Z", "name": "Rent", "amount": 1150, "currency": "EUR", "type": "EXPENSE"},
        {"at": f"{YEAR}-01-25T08:00:00Z", "name": "Salary", "amount": 2800.1, "currency": "EUR", "type": "INCOME"},
    ],
    "goals": [
        {
            "name": "Trip",
            "targetAmount": 3000,
            "initialAmount": 500,
            "contributions": [{"at": f"{YEAR}-01-26T08:00:00Z", "amount": 310}],
        }
    ],
}


@pytest.fixture
def clock(shell: Shell) -> str:
    """A clock with two transactions and a goal, which commands mean when none is named."""
    ran = shell("clock", "create", "--params", "-", "--json", input=json.dumps(PARAMS).encode())
    assert ran.code == 0, ran.err
    return str(ran.json["id"])


def counted(clock: Any) -> tuple[int, int]:
    return len(clock["transactions"]), len(clock["pendingTransactions"])


# Creating


def test_a_clock_from_parameters_is_what_the_server_made_of_them(shell: Shell, clock: str, program: Program) -> None:
    made = program.result("getTestClock", {"id": clock}, shell.token)["clock"]
    assert shell("clock", "show", "--json").json == made
    assert (counted(made), made["frozenTime"]) == ((0, 2), PARAMS["frozenTime"])
    assert made["pendingTransactions"][1]["amount"] == 2800.1


def test_parameters_may_be_in_a_file_and_be_started_elsewhere(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "params.json"
    file.write_text(json.dumps(PARAMS))
    made = shell("clock", "create", "--params", str(file), "--from", f"{YEAR}-01-02", "--json").json
    assert (made["frozenTime"], counted(made)) == (f"{YEAR}-01-02T00:00:00Z", (0, 2))


def test_a_shipped_scenario_becomes_a_clock(shell: Shell) -> None:
    ran = shell("clock", "create", "salary-and-rent", "--from", f"{YEAR}-01-01")
    assert (ran.code, ran.err) == (0, "")
    title, head, *_ = ran.out.splitlines()
    assert title == f"  ✓ Created {shell.clock} from salary-and-rent"
    assert head.startswith(f"  clock_…{shell.clock[-8:]}  READY  now {YEAR}-01-01  ")
    assert ran.out.splitlines()[-2].startswith("  Next: tickover clock advance --next")


@pytest.mark.parametrize("way", [["salary-and-rent"], ["--scenario", "salary-and-rent"]])
def test_without_a_start_a_scenario_starts_today(shell: Shell, way: list[str]) -> None:
    before = datetime.now(UTC).date()
    started = datetime.fromisoformat(shell("clock", "create", *way, "--json").json["frozenTime"])
    assert started.date() in (before, datetime.now(UTC).date())
    assert started.timetz() == datetime(1, 1, 1, tzinfo=UTC).timetz()


def test_a_scenario_may_be_a_file_of_ones_own(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(shell("scenarios", "show", "trip").out)
    theirs = shell("clock", "create", "trip", "--from", f"{YEAR}-01-01", "--json").json
    mine = shell("clock", "create", str(file), "--from", f"{YEAR}-01-01", "--json").json
    assert counted(mine) == counted(theirs)
    assert sum(counted(mine)) > 0


def test_a_clock_of_nothing_starts_now_or_where_it_is_told(shell: Shell) -> None:
    now = datetime.now(UTC)
    made = shell("clock", "create", "--json").json
    assert abs(datetime.fromisoformat(made["frozenTime"]) - now) < timedelta(minutes=1)
    assert counted(made) == (0, 0)
    told = shell("clock", "create", "--from", f"{YEAR}-01-01 09:30", "--json").json
    assert told["frozenTime"] == f"{YEAR}-01-01T09:30:00Z"


@pytest.mark.parametrize(
    ("arguments", "exit", "said"),
    [
        (["salary-and-rant"], 2, 'the nearest is "salary-and-rent"'),
        (["no-such-file.toml"], 2, "there is no scenario and no file of that name"),
        (["salary-and-rent", "--scenario", "trip"], 2, "Give one of SCENARIO, --scenario and --params."),
        (["salary-and-rent", "--params", "-"], 2, "Give one of SCENARIO, --scenario and --params."),
        (["--params", "no-such-file.json"], 2, "No such file or directory"),
        (["--from", "yesterday"], 2, "'yesterday' is no time; write 2027-01-31"),
        (["--from", "2027-02-30"], 2, "'2027-02-30' is no time; write 2027-01-31"),
        (["salary-and-rent", "--from", "0001-01-01"], 2, "the start must lie in the years"),
        (["--from", "1999-01-01"], 4, "  frozenTime "),
    ],
)
def test_what_cannot_be_created_is_said(shell: Shell, arguments: list[str], exit: int, said: str) -> None:
    ran = shell("clock", "create", *arguments)
    assert (ran.code, ran.out) == (exit, "")
    assert said in ran.err


# Showing


def test_a_clock_is_shown_as_it_is(shell: Shell, clock: str) -> None:
    ran = shell("clock", "show")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        f"  clock_…{clock[-8:]}  READY  now {YEAR}-01-01  3 to come  expires in 6 d 23 h"
    )
    assert "  Trip  16.66 %  500.00 of 3 000.00  █████▒▒▒░" in ran.out.replace("16.67", "16.66")
    assert f"  ○ {YEAR}-01-25  Salary  +2 800.10 EUR" in ran.out
    assert "\x1b" not in ran.out


def test_a_look_ahead_does_not_move_the_clock(shell: Shell, clock: str) -> None:
    ran = shell("clock", "show", "--at", f"{YEAR}-02-01")
    assert ran.out.splitlines()[0] == f"  As it would be at {YEAR}-02-01; the clock has not moved."
    assert "tickover clock" not in ran.out
    assert counted(shell("clock", "show", "--at", f"{YEAR}-02-01", "--json").json) == (2, 0)
    assert counted(shell("clock", "show", "--json").json) == (0, 2)
    assert shell("clock", "show", "--at", f"{YEAR - 1}-12-31").code == 4
    assert shell("clock", "show", "--at", f"{YEAR + 11}-01-01").code == 4


@pytest.mark.parametrize("width", [40, 80, 160])
def test_a_picture_is_as_wide_as_the_terminal(shell: Shell, clock: str, width: int) -> None:
    lines = shell("clock", "show", COLUMNS=str(width)).out.splitlines()
    axis = next(line for line in lines if "──" in line)
    assert len(axis) == width
    assert max(map(len, lines)) == width


# Advancing


def test_an_advance_shows_what_it_made_happen(shell: Shell, clock: str) -> None:
    lines = shell("clock", "advance", "--by", "1mo").out.splitlines()
    where = lines.index(f"  ✓ {YEAR}-01-01 → {YEAR}-02-01  2 transactions and 1 contribution")
    assert lines[where + 1 : where + 4] == [
        f"  ● {YEAR}-01-03  Rent    −1 150.00 EUR",
        f"  ● {YEAR}-01-25  Salary  +2 800.10 EUR",
        f"  ● {YEAR}-01-26  Trip      +310.00",
    ]
    assert lines[-1] == "  Nothing is left to happen.  Again from its start: tickover clock fork"


@pytest.mark.parametrize(
    ("way", "to", "happened"),
    [
        (["--to", f"{YEAR}-01-03"], f"{YEAR}-01-03T00:00:00Z", 0),
        (["--to", f"{YEAR}-01-03T08:00:00Z"], f"{YEAR}-01-03T08:00:00Z", 1),
        (["--to", f"{YEAR}-01-03 08:00"], f"{YEAR}-01-03T08:00:00Z", 1),
        (["--to", f"{YEAR}-01-03T09:00:00+01:00"], f"{YEAR}-01-03T08:00:00Z", 1),
        (["--to", f"{YEAR}-01-01"], f"{YEAR}-01-01T00:00:00Z", 0),
        (["--by", "1mo"], f"{YEAR}-02-01T00:00:00Z", 2),
        (["--by", "2 days 8h"], f"{YEAR}-01-03T08:00:00Z", 1),
        (["--next"], f"{YEAR}-01-03T08:00:00Z", 1),
    ],
)
def test_a_clock_moves_as_far_as_it_is_told(shell: Shell, clock: str, way: list[str], to: str, happened: int) -> None:
    moved = shell("clock", "advance", *way, "--json").json
    assert (moved["id"], moved["frozenTime"], len(moved["transactions"])) == (clock, to, happened)
    assert moved["happened"]["before"] == PARAMS["frozenTime"]
    assert moved["happened"]["after"] == to
    assert [one["name"] for one in moved["happened"]["transactions"]] == ["Rent", "Salary"][:happened]


def test_a_program_is_told_what_happened_beside_the_clock(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--next")
    moved = shell("clock", "advance", "--by", "1y", "--json").json
    happened = moved.pop("happened")
    assert moved == shell("clock", "show", "--json").json
    assert [one["name"] for one in happened["transactions"]] == ["Salary"]
    goal = moved["goals"][0]
    assert happened["contributions"] == [{"goalId": goal["id"], "goalName": "Trip", **goal["contributions"][0]}]


def test_a_clock_on_which_nothing_is_left_is_spent(shell: Shell, clock: str) -> None:
    for _ in range(3):
        assert shell("clock", "advance", "--next").code == 0
    ran = shell("clock", "advance", "--next")
    assert (ran.code, ran.out) == (6, "")
    assert ran.err.splitlines() == [
        "tickover: Nothing is left to happen on this clock.",
        "  Start over with a copy of it: tickover clock fork",
    ]
    assert shell("clock", "advance", "--next", "--json").error["reason"] == "NOTHING_LEFT"


def test_a_clock_does_not_move_back(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--by", "1mo")
    ran = shell("clock", "advance", "--to", f"{YEAR}-01-31")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.splitlines() == [
        f"tickover: The clock is already at {YEAR}-02-01, and time only moves forward.",
        "  To go back, make a copy that stands earlier: tickover clock fork --at TIME",
    ]


@pytest.mark.parametrize(
    ("way", "exit", "said"),
    [
        ([], 2, "Say how far: with one of --to, --by and --next."),
        (["--next", "--by", "1d"], 2, "Say how far"),
        (["--to", f"{YEAR}-02-01", "--by", "1d"], 2, "Say how far"),
        (["--by", "0d"], 2, "'0d' would not move the clock."),
        (["--by", "1m"], 2, "'1m' is no span; it must be a duration such as 1mo"),
        (["--by", "soon"], 2, "'soon' is no span; it must be a duration such as 1mo"),
        (["--to", "tomorrow"], 2, "'tomorrow' is no time"),
        (["--by", "10y 1s"], 4, f"The clock can go no further than {YEAR + 10}-01-01."),
        (["--by", "9999y"], 4, "The calendar ends before that."),
    ],
)
def test_a_way_that_leads_nowhere_is_refused(shell: Shell, clock: str, way: list[str], exit: int, said: str) -> None:
    ran = shell("clock", "advance", *way)
    assert (ran.code, ran.out) == (exit, "")
    assert said in ran.err
    assert counted(shell("clock", "show", "--json").json) == (0, 2)


def test_all_that_happened_is_listed_if_asked_for(shell: Shell) -> None:
    def listed(*arguments: str) -> tuple[int, str]:
        lines = shell("clock", *arguments).out.splitlines()
        return sum(line.startswith("  ● 20") for line in lines), "\n".join(lines)

    shell("clock", "create", "salary-and-rent", "--from", f"{YEAR}-01-01")
    few, said = listed("advance", "--by", "2mo")
    assert few == 12
    assert " more  All of it: tickover clock show --all\n" in said
    copy = shell("clock", "fork", "--json").json
    moved = shell("clock", "advance", "--by", "2mo", "--json").json
    happened = len(moved["happened"]["transactions"]) + len(moved["happened"]["contributions"])
    shell("clock", "fork")
    every, said = listed("advance", "--by", "2mo", "--all")
    assert (every, " more" in said) == (happened, False)
    assert every > few
    # What has happened by the start too, and what is still to come.
    every, said = listed("show", "--all")
    assert every == happened + len(copy["transactions"])
    assert sum(line.startswith("  ○ 20") for line in said.splitlines()) == sum(
        (len(moved["pendingTransactions"]), *(len(goal["upcomingContributions"]) for goal in moved["goals"]))
    )


# Copying


def test_a_copy_stands_where_the_clock_started_or_where_it_is_told(shell: Shell, clock: str) -> None:
    shell("clock", "advance", "--by", "1mo")
    ran = shell("clock", "fork", clock)
    assert ran.out.splitlines()[0] == f"  ✓ Created {shell.clock}, a copy"
    assert counted(shell("clock", "show", "--json").json) == (0, 2)
    later = shell("clock", "fork", clock, "--at", f"{YEAR}-01-10", "--json").json
    assert (later["frozenTime"], counted(later)) == (f"{YEAR}-01-10T00:00:00Z", (1, 1))
    assert counted(shell("clock", "show", clock, "--json").json) == (2, 0)
    refused = shell("clock", "fork", clock, "--at", f"{YEAR - 1}-12-31")
    assert (refused.code, refused.err.splitlines()[1].startswith("  at ")) == (4, True)


# Servers


def test_a_server_that_is_away_is_said(shell: Shell, clock: str) -> None:
    for arguments in (["login", "ana@example.test"], ["clock", "show", clock]):
        ran = shell(*arguments, "--url", "http://127.0.0.1:9", TICKOVER_TOKEN="tko_some")
        assert (ran.code, ran.out) == (7, "")
        first, second = ran.err.splitlines()
        assert first.startswith("tickover: Can't connect to http://127.0.0.1:9 ")
        assert second == "  Another server than http://127.0.0.1:9 is named with --url."


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8000", "http://", "http://two words"])
def test_what_is_no_address_is_refused(stranger: Shell, url: str) -> None:
    ran = stranger("login", "ana@example.test", "--url", url)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tickover: ")
    # The address is what is wrong, and not that nobody has signed in there.
    assert stranger("clock", "list", "--url", url).err == ran.err


def test_who_has_not_signed_in_is_told_how_at_that_server(stranger: Shell) -> None:
    told = f"tickover: You are not signed in at {stranger.url}.\n  Sign in with: tickover login EMAIL"
    ran = stranger("clock", "list")
    assert (ran.code, ran.out, ran.err) == (3, "", f"{told}\n")
    assert stranger("clock", "list", "--url", stranger.url).err == f"{told} --url {stranger.url}\n"


def test_a_flag_names_the_server_before_the_environment_does(shell: Shell, clock: str) -> None:
    for arguments in (
        ["--url", shell.url, "clock", "show"],
        ["clock", "--url", shell.url, "show"],
        ["clock", "show", "--url", f"{shell.url}/"],
    ):
        assert shell(*arguments, TICKOVER_URL="http://127.0.0.1:9").code == 0


def test_a_clock_that_cannot_be_remembered_is_made_all_the_same(shell: Shell, tmp_path: Path) -> None:
    token = shell.token
    (tmp_path / "file").touch()
    ran = shell("clock", "create", "--json", TICKOVER_TOKEN=token, XDG_CONFIG_HOME=str(tmp_path / "file"))
    assert (ran.code, ran.json["status"]) == (0, "READY")
    said = shell("clock", "create", TICKOVER_TOKEN=token, XDG_CONFIG_HOME=str(tmp_path / "file"))
    assert (said.code, said.err.startswith("The clock is not remembered: ")) == (0, True)
