"""Which clock is meant, by its id, by an end of it, or by nothing at all."""

import pytest

from tests.cli.shells import Shell


@pytest.fixture
def clock(shell: Shell) -> str:
    """An empty clock."""
    return str(shell("clock", "create", "--json").json["id"])


def test_an_id_may_be_given_in_full_or_by_its_ends(shell: Shell, clock: str) -> None:
    bare = clock.removeprefix("clock_")
    forms = [
        clock,
        bare[-12:],
        bare[-4:],
        f"clock_…{bare[-8:]}",
        f"clock_~{bare[-8:]}",
        bare[:30],
        f"clock_{bare[:30]}",
        bare,
        bare.upper(),
        f"clock_{bare.upper()}",
        f"clock_…{bare}",
    ]
    shell("clock", "create")
    for form in [*forms, bare[-8:].upper()]:
        assert shell("clock", "show", form, "--json").json["id"] == clock, form
        assert shell.clock == clock


def test_the_clock_that_was_used_last_is_meant_when_none_is_named(shell: Shell, clock: str) -> None:
    other = shell("clock", "create", "--json").json["id"]
    assert shell("clock", "show", "--json").json["id"] == other
    shell("clock", "advance", clock, "--by", "1d")
    assert shell("clock", "show", "--json").json["id"] == clock
    copy = shell("clock", "fork", "--json").json["id"]
    assert shell.clock == copy != clock


@pytest.mark.parametrize(
    ("id", "exit", "said"),
    [
        ("abc", 2, "'abc' is too little of an id"),
        ("clock_…abc", 2, "too little of an id"),
        ("zzzz", 5, "No clock of yours has an id that begins or ends with 'zzzz'."),
        ("clock_01a2d11f-0200-7129-903a-c1d45597fdf1", 5, "You have no clock of this id on this server."),
        ("01a2d11f-0200-7129-903a-c1d45597fdf1", 5, "You have no clock of this id on this server."),
        ("clock_00000000-0200-7129-903a-c1d45597fdf1", 5, "This clock has lived its seven days and is gone."),
        ("clock_01a2d11f-0200-7129-903a-c1d45597fdf1-and-more", 5, "You have no clock of this id on this server."),
    ],
)
def test_a_clock_that_is_not_there_is_said(shell: Shell, clock: str, id: str, exit: int, said: str) -> None:
    for command in (["show"], ["advance", "--next"], ["fork"], ["watch"], ["delete"]):
        ran = shell("clock", command[0], id, *command[1:])
        assert (ran.code, ran.out) == (exit, "")
        assert said in ran.err
    assert shell.clock == clock


def test_an_end_that_fits_several_clocks_is_not_enough(shell: Shell, clock: str) -> None:
    shell("clock", "create")
    # Ids of one day begin alike.
    ran = shell("clock", "show", clock.removeprefix("clock_")[:4])
    assert (ran.code, ran.err) == (2, f"tickover: '{clock[6:10]}' fits 2 clocks; give more of the id.\n")


def test_who_has_used_no_clock_is_told_to_name_one(shell: Shell) -> None:
    ran = shell("clock", "show")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        f"tickover: No clock is in use here at {shell.url}, so name one.",
        "  Make one with: tickover clock create, or see which there are with: tickover clock list",
    ]
