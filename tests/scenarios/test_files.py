"""Scenario files: both kinds, found by name or path, and what is no scenario at all, however hostile."""

import json
import os
import time
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenarios.drawing import rent
from tickover.scenarios import ScenarioError, load, names, read
from tickover.scenarios.files import LARGEST, MOST_DOTS
from tickover.scenarios.timings import EXPECTED_DAY

NEW_YEAR = "2027-01-01T00:00:00Z"
TOML = '[[goals]]\nname = "a"\ntarget = 1\n'
JSON = '{"goals": [{"name": "a", "target": 1}]}'


def refusal(text: str | bytes, kind: str = "toml") -> str:
    """What reading says, or if it says nothing, planning; at once, whatever it is."""
    begun = time.monotonic()
    with pytest.raises(ScenarioError) as refused:
        read(text, kind, "f").plan(NEW_YEAR)
    assert time.monotonic() - begun < 20
    message = str(refused.value)
    assert message.isprintable()
    assert len(message) < 700
    return message


def load_refusal(name: str | Path) -> str:
    with pytest.raises(ScenarioError) as refused:
        load(name)
    assert str(refused.value).isprintable()
    return str(refused.value)


# Found


@pytest.mark.parametrize(("name", "text"), [("a.toml", TOML), ("a.json", JSON), ("a.TOML", TOML), ("a.b.Json", JSON)])
@pytest.mark.parametrize("form", [str, Path])
def test_a_file_is_loaded_by_its_path(form: Any, name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    scenario = load(form(path))
    assert scenario.title == path.stem
    assert [goal.name for goal in scenario.plan(NEW_YEAR).goals] == ["a"]


def test_a_file_may_begin_with_a_byte_order_mark_and_have_the_other_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.replace("\n", "\r\n").encode())
    assert load(path).plan(NEW_YEAR).goals[0].name == "a"


def test_a_name_that_comes_with_tickover_wins_over_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "student").write_text("nonsense")
    (tmp_path / "student.toml").write_text(TOML)
    assert load("student").title == "Student"
    assert load("student.toml").title == "student"


@pytest.mark.parametrize("kind", ["toml", "json"])
def test_text_and_bytes_are_read_alike(kind: str) -> None:
    text = {"toml": TOML, "json": JSON}[kind]
    assert read(text, kind) == read(text.encode(), kind)
    assert read(text, kind, title="x").title == "x"


@pytest.mark.parametrize("name", names())
def test_toml_and_json_have_the_same_structure(name: str) -> None:
    shipped = load(name)
    source = Path(__file__).parents[2] / "src" / "tickover" / "scenarios" / "shipped" / f"{name}.toml"
    values = tomllib.loads(source.read_text("utf-8"))
    written = json.dumps(values, default=lambda moment: moment.isoformat())
    start = None if shipped.start else NEW_YEAR
    assert read(written, "json").plan(start) == shipped.plan(start)


# Not found


def test_a_missing_scenario_is_answered_with_the_nearest_and_all() -> None:
    every = ", ".join(names())
    known = f"those that come with Tickover are {every}"
    assert load_refusal("studnet") == (
        f'studnet: there is no scenario and no file of that name; the nearest is "student", and {known}.'
    )
    assert load_refusal("no/such/Student.toml").endswith(f'the nearest is "student", and {known}.')
    assert load_refusal("qqqqq") == f"qqqqq: there is no scenario and no file of that name; {known}."
    assert load_refusal("") == f'"": there is no scenario and no file of that name; {known}.'


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    assert load_refusal(tmp_path) == f"{tmp_path}: it cannot be read: it is a folder; name a file in it."
    (tmp_path / "a.toml").mkdir()
    assert load_refusal(tmp_path / "a.toml").endswith("it is a folder; name a file in it.")


def test_a_file_says_by_its_ending_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TOML)
    assert load_refusal(tmp_path / "a.yaml").endswith(": the name of a scenario's file must end with .toml or .json.")


def test_what_may_never_end_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.toml")
    assert load_refusal(tmp_path / "a.toml").endswith(": it cannot be read: it is no ordinary file.")
    (tmp_path / "b.toml").symlink_to("/dev/zero")
    assert load_refusal(tmp_path / "b.toml").endswith(": it cannot be read: it is no ordinary file.")


@pytest.mark.parametrize("name", ["a\0b.toml", "x" * 5000 + ".toml", "\ud800.toml", "a\n.toml"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    assert load_refusal(name)


def test_a_file_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").symlink_to(tmp_path / "a.toml")
    assert load_refusal(tmp_path / "a.toml")


# No scenario


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("x =", "toml", "f: it must be TOML, and is not: Invalid value (at end of document)."),
        ("[[goals]", "toml", None),
        ("a = 1\na = 2", "toml", "f: it must be TOML, and is not: Cannot overwrite a value (at end of document)."),
        ("", "json", "f: it must be JSON, and is not: Expecting value: line 1 column 1 (char 0)."),
        ('{"a": 1,}', "json", None),
        ('{"goals": 1, "goals": 2}', "json", 'f: it must be JSON, and is not: the key "goals" is there twice.'),
        ('{"length": NaN}', "json", "f: it must be JSON, and is not: NaN is no number in JSON."),
        ('{"length": -Infinity}', "json", "f: it must be JSON, and is not: -Infinity is no number in JSON."),
        (b"\xff", "toml", "f: it must be text in UTF-8, and is not from byte 1 on."),
        (b'{"title": "caf\xe9"}', "json", "f: it must be text in UTF-8, and is not from byte 15 on."),
        ("", "yaml", 'f: the kind of a scenario must be "toml" or "json", not "yaml".'),
        ("a = " + "[" * 100_000, "toml", "f: it must not be nested so deeply."),
        ("[" * 100_000, "json", "f: it must not be nested so deeply."),
        ('{"goals":' * 20_000, "json", "f: it must not be nested so deeply."),
        ("#" * (LARGEST + 1), "toml", "f: it must have at most 262,144 bytes."),
        (" " * (LARGEST + 1), "json", "f: it must have at most 262,144 bytes."),
        (".".join("a" * 100_000) + " = 1", "toml", "f: it must be TOML, and is not: line 1 has more than 100 dots."),
        ("a = " + "9" * 100_000, "toml", None),
        ("a = 0x" + "f" * 100_000, "toml", None),
        ("a = 1e99999999999999999999", "toml", "f: it must be TOML, and is not: a number has too long an exponent."),
        ('{"a": 1e99999999999999999999}', "json", "f: it must be JSON, and is not: a number has too long an exponent."),
        ("a\0", "toml", None),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_is_no_scenario_is_refused_at_once(text: str | bytes, kind: str, message: str | None) -> None:
    assert refusal(text, kind) == (message or refusal(text, kind))


@pytest.mark.parametrize(
    "amount",
    [
        "nan", "-nan", "inf", "-inf", "1e999999999", "1e-999999999", "-1e999", "0." + "1" * 200_000,
        "0x" + "f" * 200_000, "true", "1979-05-27", "07:32:00", "0.0", "-0.0", "1000000000.0000001",
    ],
    ids=lambda amount: amount[:20],
)  # fmt: skip
def test_no_number_is_too_odd_to_be_refused(amount: str) -> None:
    assert refusal(f'[[goals]]\nname = "a"\ntarget = {amount}').startswith('f, goal 1 "a": target must ')


@pytest.mark.parametrize("amount", ["9" * 5000, "1e400", "-1", "1E-400"], ids=lambda amount: amount[:20])
def test_no_number_of_json_is_too_odd_to_be_refused(amount: str) -> None:
    written = f'{{"goals": [{{"name": "a", "target": {amount}}}]}}'
    assert refusal(written, "json").startswith('f, goal 1 "a": target must ')


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("start = 2027-01-31T09:00:00", "start must say its offset, as 2027-01-31T09:00:00Z does with its Z"),
        ("start = 09:00:00", f"start {EXPECTED_DAY}"),
        ("start = 0001-01-01T00:00:00+01:00", f"start {EXPECTED_DAY}"),
        ("title = 2027-01-31", "title must be text of 1 to 120 characters"),
    ],
)
def test_dates_of_toml_are_refused_where_they_say_too_little(line: str, problem: str) -> None:
    assert refusal(f"{line}\n{TOML}") == f"f: {problem}, not {line.partition(' = ')[2]}."


def test_as_much_as_possible_every_day_for_ten_years_is_counted_at_once() -> None:
    written = json.dumps({"length": "10 years", "transactions": [rent(every="1 day")] * 30})
    assert refusal(written, "json").startswith(
        "f: 109,590 transactions from 2027-01-01T00:00:00Z to 2037-01-01T00:00:00Z "
    )
    goal = {"name": "a", "target": 1, "contributions": [{"amount": 1, "every": "day", "from": "2017-01-01"}] * 20}
    written = json.dumps({"length": "10 years", "goals": [goal] * 25})
    assert refusal(written, "json").startswith('f, goal 1 "a": 73,060 contributions ')


def test_a_line_may_have_many_dots() -> None:
    assert read(f'about = "{"." * MOST_DOTS}"\n{TOML}', "toml").about == "." * MOST_DOTS


_keys = st.sampled_from(
    ["title", "about", "currency", "start", "length", "transactions", "goals", "name", "amount", "type", "category",
     "every", "from", "until", "times", "at", "time", "target", "initial", "contributions"]
) | st.text(max_size=5)  # fmt: skip
_leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["day", "EUR", "income"])
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.dictionaries(_keys, _json, max_size=6))
def test_whatever_is_in_a_file_there_is_a_plan_or_a_sentence(values: dict[str, Any]) -> None:
    try:
        read(json.dumps(values), "json", "f").plan(NEW_YEAR)
    except ScenarioError as refused:
        assert str(refused).startswith("f")  # noqa: PT017 - it may also be taken
        assert str(refused).isprintable()  # noqa: PT017


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text() | st.text("[]{}=.\"'\n#a1:-+ "), st.sampled_from(["toml", "json"]))
def test_whatever_the_text_is_it_is_read_or_refused(text: str, kind: str) -> None:
    with pytest.raises(ScenarioError, match=r"^f"):
        read(text, kind, "f")


def test_amounts_never_pass_through_floats() -> None:
    target = read('[[goals]]\nname = "a"\ntarget = 0.10', "toml").plan(NEW_YEAR).goals[0].target_amount
    assert str(target) == "0.10"
    assert isinstance(target, Decimal)
