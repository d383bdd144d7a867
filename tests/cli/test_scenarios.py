"""The scenarios that come with Tickover, as the command line shows them."""

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from tests.cli.shells import Shell
from tickover.scenarios import load, names


@pytest.fixture
def nobody(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


def test_all_are_listed_with_their_titles(nobody: Shell) -> None:
    ran = nobody("scenarios")
    assert (ran.code, ran.err) == (0, "")
    *listed, empty, hint = ran.out.splitlines()
    assert [line.split()[0] for line in listed] == names()
    assert [line.split(maxsplit=1)[1] for line in listed] == [load(name).title for name in names()]
    assert (empty, hint) == ("", f"  Next: tickover clock create {names()[0]}")
    told = nobody("scenarios", "--json").json["scenarios"]
    assert told == [{"name": name, "title": load(name).title, "about": load(name).about} for name in names()]


@pytest.mark.parametrize("name", names())
def test_a_file_is_printed_as_it_is(nobody: Shell, name: str) -> None:
    ran = nobody("scenarios", "show", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (files("tickover.scenarios") / "shipped" / f"{name}.toml").read_text("utf-8")


@pytest.mark.parametrize("name", names())
def test_what_it_comes_to_can_be_given_to_a_clock(shell: Shell, name: str) -> None:
    start = datetime(datetime.now(UTC).year + 1, 1, 1, tzinfo=UTC)
    params = shell("scenarios", "show", name, "--from", f"{start:%Y-%m-%d}", "--json")
    assert params.json["frozenTime"] == f"{start:%Y-%m-%d}T00:00:00Z"
    made = shell("clock", "create", "--params", "-", "--json", input=params.out.encode()).json
    same = shell("clock", "create", name, "--from", f"{start:%Y-%m-%d}", "--json").json
    assert [one["name"] for one in made["pendingTransactions"]] == [one["name"] for one in same["pendingTransactions"]]
    assert len(made["goals"]) == len(same["goals"])


def test_a_file_of_ones_own_is_checked(nobody: Shell, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(nobody("scenarios", "show", "trip").out)
    assert nobody("scenarios", "show", str(file)).out == file.read_text()
    file.write_text("nonsense")
    ran = nobody("scenarios", "show", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tickover: ")
    assert ran.err.count("\n") == 1


def test_a_name_that_is_none_is_said(nobody: Shell) -> None:
    ran = nobody("scenarios", "show", "salary-and-rant")
    assert (ran.code, ran.out) == (2, "")
    assert '"salary-and-rent"' in ran.err
    unknown = nobody("scenarios", "shew")
    assert (unknown.code, unknown.out) == (2, "")
