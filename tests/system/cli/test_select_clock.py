"""Tests of clock selection: by full ID, by partial ID, and by default."""

import pytest

from tests.system.shells import Shell


@pytest.fixture
def clock(shell: Shell) -> str:
    """An empty clock."""
    return str(shell("clock", "create", "--json").json["id"])


def test_full_and_partial_ids_select_a_clock(shell: Shell, clock: str) -> None:
    bare = clock.removeprefix("clock_")
    forms = [
        clock,
        bare[-4:],
        f"clock_…{bare[-8:]}",
        f"clock_~{bare[-8:]}",
        f"clock_{bare[:30]}",
        bare.upper(),
        f"clock_…{bare}",
    ]
    shell("clock", "create")
    for form in forms:
        assert shell("clock", "show", form, "--json").json["id"] == clock, form
        assert shell.clock == clock


def test_last_used_clock_is_the_default(shell: Shell, clock: str) -> None:
    newer = shell("clock", "create", "--json").json["id"]
    assert shell("clock", "show", "--json").json["id"] == newer
    shell("clock", "advance", clock, "--by", "1d")
    assert shell("clock", "show", "--json").json["id"] == clock
    copy = shell("clock", "fork", "--json").json["id"]
    assert shell.clock == copy != clock


@pytest.mark.parametrize(
    ("id", "exit", "message"),
    [
        ("abc", 5, "'abc' isn't the name of one of your clocks, or at least 4 characters of an ID."),
        ("zzzz", 5, "'zzzz' isn't the name of one of your clocks"),
        ("clock_01a2d11f-0200-7129-903a-c1d45597fdf1", 5, "You have no clock with this ID."),
        ("clock_00000000-0200-7129-903a-c1d45597fdf1", 5, "This clock has expired; clocks live for seven days."),
    ],
)
def test_unknown_clock_is_reported(shell: Shell, clock: str, id: str, exit: int, message: str) -> None:
    for command in (["show"], ["advance", "--next"]):
        result = shell("clock", command[0], id, *command[1:])
        assert (result.code, result.out) == (exit, "")
        assert message in result.err
    assert shell.clock == clock


def test_ambiguous_partial_id_is_rejected(shell: Shell, clock: str) -> None:
    shell("clock", "create")
    # IDs of one day start with the same characters.
    result = shell("clock", "show", clock.removeprefix("clock_")[:4])
    assert result.code == 2
    first, hint = result.err.splitlines()
    assert first == f"tickover: '{clock[6:10]}' matches 2 clocks."
    assert hint.startswith("  Use more of an ID: clock_…")


def test_name_selects_a_clock_unless_several_have_it(shell: Shell, clock: str) -> None:
    for name in ("Rent check", "x", "n" * 200, clock[-4:]):
        named = shell("clock", "create", "--name", name, "--json").json["id"]
        shell("clock", "show", clock)
        assert shell("clock", "show", name, "--json").json["id"] == named
    copy = shell("clock", "fork", "Rent check", "--json").json["id"]
    several = shell("clock", "delete", "Rent check", "--yes")
    assert (several.code, several.err.splitlines()[0]) == (2, "tickover: 'Rent check' matches 2 clocks.")
    assert f"clock_…{copy[-8:]}" in several.err
    assert shell("clock", "show", "rent check").code == 5
