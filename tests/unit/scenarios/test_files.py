"""Scenario files: TOML and JSON, loaded by name or path, and invalid or hostile content."""

import json
import os
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.transcripts import ROOT
from tests.unit.scenarios.strategies import rent
from tickover.scenarios import ScenarioError, load, names, read
from tickover.scenarios.files import MAX_FILE_BYTES
from tickover.scenarios.readers import START

NEW_YEAR = "2027-01-01T00:00:00Z"
TOML = '[[goals]]\nname = "a"\ntarget = 1\n'
JSON = '{"goals": [{"name": "a", "target": 1}]}'


def error_message(text: str | bytes, format: str = "toml") -> str:
    """Return the first error of reading or planning the scenario."""
    with pytest.raises(ScenarioError) as caught:
        read(text, format, "f").plan(NEW_YEAR)
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


@pytest.mark.parametrize(("name", "text"), [("a.toml", TOML), ("a.json", JSON), ("a.TOML", TOML), ("a.b.Json", JSON)])
@pytest.mark.parametrize("form", [str, Path])
def test_a_file_is_loaded_by_its_path(form: Any, name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
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


@pytest.mark.parametrize("name", names())
def test_toml_and_json_have_the_same_structure(name: str) -> None:
    scenario = load(name)
    source = ROOT / "src" / "tickover" / "scenarios" / "shipped" / f"{name}.toml"
    values = tomllib.loads(source.read_text("utf-8"))
    text = json.dumps(values, default=lambda value: value.isoformat())
    start = None if scenario.start else NEW_YEAR
    assert read(text, "json").plan(start) == scenario.plan(start)


# Load errors


def test_an_unknown_name_suggests_the_closest_and_lists_all() -> None:
    included = f"Included scenarios: {', '.join(names())}"
    assert load_error("studnet") == f'studnet: no scenario or file has this name; did you mean "student"? {included}.'
    assert load_error("no/such/Student.toml").endswith(f'did you mean "student"? {included}.')
    assert load_error("salry").endswith(f'did you mean "salary-and-rent"? {included}.')
    included = included.replace("I", "i", 1)
    assert load_error("qqqqq") == f"qqqqq: no scenario or file has this name; {included}."
    assert load_error("") == f'"": no scenario or file has this name; {included}.'


def test_a_folder_is_rejected(tmp_path: Path) -> None:
    assert load_error(tmp_path) == f"{tmp_path}: can't be read: it is a folder."
    (tmp_path / "a.toml").mkdir()
    assert load_error(tmp_path / "a.toml").endswith("it is a folder.")


def test_other_file_name_extensions_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TOML)
    assert load_error(tmp_path / "a.yaml").endswith(": the file name must end with .toml or .json.")


def test_pipes_and_devices_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.toml")
    assert load_error(tmp_path / "a.toml").endswith(": can't be read: it isn't a regular file.")
    (tmp_path / "b.toml").symlink_to("/dev/zero")
    assert load_error(tmp_path / "b.toml").endswith(": can't be read: it isn't a regular file.")


@pytest.mark.parametrize("name", ["a\0b.toml", "x" * 5000 + ".toml", "\ud800.toml", "a\n.toml"])
def test_an_invalid_file_name_is_rejected(name: str) -> None:
    assert load_error(name)


# Invalid content


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        ("x =", "toml", "f, line 1: invalid TOML: Invalid value at the end of the file."),
        ("a = 1\na = 2", "toml", "f, line 2: invalid TOML: Cannot overwrite a value at the end of the file."),
        ('title = "a"\n\nlength = x', "toml", "f, line 3: invalid TOML: Invalid value at column 10."),
        ('{"goals": 1, "goals": 2}', "json", 'f: invalid JSON: duplicate key "goals".'),
        ('{"length": NaN}', "json", "f: invalid JSON: NaN is not a JSON number."),
        (b"\xff", "toml", "f, line 1: invalid UTF-8 at byte 1; save the file as UTF-8."),
        (b'{"title": "caf\xe9"}', "json", "f, line 1: invalid UTF-8 at byte 15; save the file as UTF-8."),
        ("", "yaml", 'f: the format must be "toml" or "json", not "yaml".'),
        ("a = " + "[" * 100_000, "toml", "f: the values are nested too deeply; a scenario needs three levels."),
        ("[" * 100_000, "json", "f: the values are nested too deeply; a scenario needs three levels."),
        ("#" * (MAX_FILE_BYTES + 1), "toml", "f: the file must have at most 262,144 bytes."),
        (".".join("a" * 100_000) + " = 1", "toml", "f, line 1: invalid TOML: more than 100 dots at column 1."),
        ("a = 1\nb = " + "9" * 100_000, "toml", "f: invalid TOML: a number has too many digits."),
        ("a = 1e99999999999999999999", "toml", "f: invalid TOML: the exponent of a number is out of range."),
        ('{"a": 1e99999999999999999999}', "json", "f: invalid JSON: the exponent of a number is out of range."),
    ],
)  # fmt: skip
def test_invalid_content_is_rejected(text: str | bytes, format: str, message: str) -> None:
    assert error_message(text, format) == message


@pytest.mark.parametrize(
    "amount",
    [
        "nan", "-nan", "inf", "-inf", "1e999999999", "1e-999999999", "-1e999", "0." + "1" * 200_000,
        "0x" + "f" * 200_000, "true", "1979-05-27", "07:32:00", "0.0", "-0.0", "1000000000.0000001",
    ],
)  # fmt: skip
def test_invalid_toml_numbers_are_rejected(amount: str) -> None:
    assert error_message(f'[[goals]]\nname = "a"\ntarget = {amount}').startswith('f, line 3, goal 1 "a": target must ')


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("start = 2027-01-31T09:00:00", "start must have an offset, as in 2027-01-31T09:00:00Z"),
        ("start = 09:00:00", f"start {START.expected}"),
        ("start = 0001-01-01T00:00:00+01:00", f"start {START.expected}"),
        ("title = 2027-01-31", "title must be text of 1 to 120 characters"),
    ],
)
def test_invalid_toml_dates_are_rejected(line: str, problem: str) -> None:
    assert error_message(f"{line}\n{TOML}") == f"f, line 1: {problem}, not {line.partition(' = ')[2]}."


def test_the_largest_scenarios_are_not_expanded() -> None:
    text = json.dumps({"length": "10 years", "transactions": [rent(every="1 day")] * 30})
    assert error_message(text, "json").startswith(
        "f: more than 5,000 transactions from 2027-01-01T00:00:00Z to 2037-01-01T00:00:00Z; "
    )
    goal = {"name": "a", "target": 1, "contributions": [{"amount": 1, "every": "day", "from": "2017-01-01"}] * 20}
    text = json.dumps({"length": "10 years", "goals": [goal] * 25})
    assert error_message(text, "json").startswith('f, line 1, goal 1 "a": more than 1,000 contributions ')


def test_amounts_are_not_converted_to_floats() -> None:
    target = read('[[goals]]\nname = "a"\ntarget = 0.10', "toml").plan(NEW_YEAR).goals[0].target_amount
    assert str(target) == "0.10"
    assert isinstance(target, Decimal)
