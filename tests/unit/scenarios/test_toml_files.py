"""Scenario files, loaded by name or path, and invalid or hostile content."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tickover.scenarios import ScenarioError, load, names, read
from tickover.scenarios.readers import START

NEW_YEAR = "2027-01-01T00:00:00Z"
TOML = '[[goals]]\nname = "a"\ntarget = 1\n'


def error_message(text: str | bytes) -> str:
    """Return the first error of reading or planning the scenario."""
    with pytest.raises(ScenarioError) as caught:
        read(text, "f").plan(NEW_YEAR)
    message = str(caught.value.errors[0])
    assert message.isprintable()
    assert len(message) < 700
    return message


def load_error(name: str | Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        load(name)
    assert str(caught.value).isprintable()
    return str(caught.value)


# Load


@pytest.mark.parametrize("name", ["a.toml", "a.b.TOML"])
@pytest.mark.parametrize("form", [str, Path])
def test_a_file_is_loaded_by_its_path(form: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(TOML)
    scenario = load(form(path))
    assert scenario.title == path.stem
    assert [goal.name for goal in scenario.plan(NEW_YEAR).goals] == ["a"]


def test_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.replace("\n", "\r\n").encode())
    assert load(path).plan(NEW_YEAR).goals[0].name == "a"


def test_an_included_scenario_overrides_a_file_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "student").write_text("nonsense")
    (tmp_path / "student.toml").write_text(TOML)
    assert load("student").title == "Student"
    assert load("student.toml").title == "student"


# Load errors


def test_error_about_an_unknown_name_lists_all() -> None:
    included = f"included scenarios: {', '.join(names())}"
    assert load_error("studnet") == f"studnet: no scenario or file has this name; {included}."
    assert load_error("") == f'"": no scenario or file has this name; {included}.'


@pytest.mark.parametrize(
    ("name", "create", "problem"),
    [
        ("a", Path.mkdir, "can't be read: it isn't a regular file."),
        ("a.toml", Path.mkdir, "can't be read: it isn't a regular file."),
        ("a.json", Path.touch, "the file name must end with .toml."),
        ("a.toml", os.mkfifo, "can't be read: it isn't a regular file."),
        ("a.toml", lambda path: path.symlink_to("/dev/zero"), "can't be read: it isn't a regular file."),
    ],
)
def test_other_files_are_rejected(tmp_path: Path, name: str, create: Callable[[Path], object], problem: str) -> None:
    create(tmp_path / name)
    assert load_error(tmp_path / name) == f"{tmp_path / name}: {problem}"


# Invalid content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x =", "f, line 1: invalid TOML: Invalid value at the end of the file."),
        ('title = "a"\n\nlength = x', "f, line 3: invalid TOML: Invalid value at column 10."),
        (b"\xff", "f, line 1: invalid UTF-8 at byte 1; save the file as UTF-8."),
        ("a = 1\nb = " + "9" * 100_000, "f: invalid TOML: a number has too many digits."),
        ("a = 1e99999999999999999999", "f: invalid TOML: the exponent of a number is out of range."),
    ],
)  # fmt: skip
def test_invalid_content_is_rejected(text: str | bytes, message: str) -> None:
    assert error_message(text) == message


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("start = 2027-01-31T09:00:00", "start must have an offset, as in 2027-01-31T09:00:00Z"),
        ("start = 09:00:00", f"start {START.expected}"),
    ],
)
def test_invalid_toml_dates_are_rejected(line: str, problem: str) -> None:
    assert error_message(f"{line}\n{TOML}") == f"f, line 1: {problem}, not {line.partition(' = ')[2]}."
