"""The docs say what is: their examples are the program's answers, and their tables are complete."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import structlog

from tests.support.transcripts import PAGES, ROOT, update_page
from tickover import __version__
from tickover.api import limits
from tickover.api.errors import Reason
from tickover.api.results import ClockPage, Done, Sent, SignedIn, StoredEmail, Summary
from tickover.server.domain.clocks import ContributionEntry, GoalHead, TransactionEntry
from tickover.server.domain.money import Progress
from tickover.server.domain.params import Entry
from tickover.server.jsonrpc.envelope import CODES
from tickover.server.mail import open_mailer
from tickover.server.operations import OPERATIONS
from tickover.server.settings import CLIENT_VARIABLES, PREFIX, SETTINGS, read_settings

DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BOUNDS = {name: value for name, value in vars(limits).items() if name.isupper()}


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(page: str, heading: str) -> str:
    """What stands under a heading, its own headings included."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found, f"there is no heading {heading!r}"
    return found[1]


def rows(text: str, heads: str) -> list[list[str]]:
    """The rows of the table with these heads."""
    _, found, below = text.partition(f"| {heads} |\n")
    assert found, f"there is no table of {heads!r}"
    lines = below.splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


# Commands


def test_commands_in_the_docs_exist() -> None:
    targets = re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE)
    commands = "".join(fences(page.read_text("utf-8"), "sh") for page in DOCS)
    used = re.findall(r"\bmake ([a-z]+)", commands)
    assert {"run", "test"} <= set(used) <= set(targets)


def fences(page: str, kind: str) -> str:
    return "".join(re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


# docs/start.md


def test_the_table_of_settings_is_the_settings() -> None:
    table = rows(read("docs/start.md"), "Variable | Flag | Default | What it is")
    # A default in brackets is none of the setting's own, but is worked out at the start.
    told = [(*quoted(variable), flag, default if default[0] == "`" else "") for variable, flag, default, _ in table]
    assert told == [
        (
            setting.variable,
            f"`--{setting.name.replace('_', '-')}`" if setting.has_flag else "none",
            f"`{setting.default}`" if setting.default else "",
        )
        for setting in SETTINGS
    ]


def test_every_variable_in_the_docs_is_a_setting_or_the_clients() -> None:
    named = {name for page in DOCS for name in re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", page.read_text("utf-8"))}
    assert frozenset({"TICKOVER_URL", "TICKOVER_TOKEN"}) == CLIENT_VARIABLES
    assert named <= {setting.variable for setting in SETTINGS} | CLIENT_VARIABLES


def test_every_value_set_in_the_docs_is_accepted(tmp_path: Path) -> None:
    commands = fences(read("docs/start.md"), "sh")
    values = re.findall(rf"({PREFIX}\w+)=('[^']*'|\S*)", commands)
    mail_urls = re.findall(r"`(smtps?://\S+)`", read("docs/start.md"))
    assert len(values) >= 5
    assert len(mail_urls) >= 2
    settings = [read_settings({"TICKOVER_MAIL_URL": "outbox:", name: value.strip("'")}, {}) for name, value in values]
    for url in [*mail_urls, *(chosen.mail_url for chosen in settings)]:
        open_mailer(url, "Tickover <login@example.com>", tmp_path, structlog.stdlib.get_logger("tests"))


# docs/api.md


@pytest.mark.parametrize("name", PAGES)
async def test_the_examples_are_what_the_program_answers(name: str, tmp_path: Path) -> None:
    page = read(name)
    assert await update_page(page, tmp_path) == page, "run `python -m tests.support.transcripts` and review the changes"


def test_the_table_of_operations_is_the_operations() -> None:
    table = rows(read("docs/api.md"), "Operation | Token | What it does")
    told = {quoted(name)[0]: token == "yes" for name, token, _ in table}
    assert told == {name: operation.needs_token for name, operation in OPERATIONS.items()}


def fields_of(kind: Any) -> Iterator[str]:
    """The names on the wire of a type's fields, those of entries inside it included."""
    for field in msgspec.structs.fields(kind):
        yield field.encode_name
        for inner in _structs_in(field.type):
            yield from fields_of(inner)


def _structs_in(annotation: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Entry):
        yield annotation
    for part in get_args(annotation):
        yield from _structs_in(part)


@pytest.mark.parametrize("method", OPERATIONS)
def test_every_parameter_is_documented_with_its_operation(method: str) -> None:
    told = section(read("docs/api.md"), f"### {method}")
    named = {name for line in told.splitlines() if line.startswith("| `") for name in quoted(line.split("|")[1])}
    assert set(fields_of(OPERATIONS[method].params)) <= named


def test_every_field_of_an_answer_is_documented() -> None:
    told = read("docs/api.md")
    items = (TransactionEntry, ContributionEntry, GoalHead, Progress)
    answers = (Sent, SignedIn, Done, Summary, ClockPage, StoredEmail, *items)
    missing = {name for kind in answers for name in [*fields_of(kind), "source"] if f"`{name}`" not in told}
    assert missing == set()


def test_the_table_of_reasons_is_the_codes() -> None:
    table = reasons_table()
    assert {name: (code, status) for name, (code, status, _) in table.items()} == {
        str(reason): codes for reason, codes in CODES.items()
    }


def reasons_table() -> dict[str, tuple[int, int, set[str]]]:
    table = rows(read("docs/api.md"), "Reason | Code | HTTP | When | Beside `reason` in `data`")
    return {quoted(name)[0]: (int(code), int(http), set(quoted(data))) for name, code, http, _, data in table}


def errors_shown() -> Iterator[Any]:
    """The error objects in the answers on the page."""
    # The one fence that is no JSON is an example of just that.
    for fence in re.findall(r"^```(?:json|http)\n(.*?)^```$", read("docs/api.md"), re.DOTALL | re.MULTILINE):
        body = fence.partition("\n\n")[2] if re.match("[A-Z]", fence) else fence
        if '"error":' in body:
            answer = json.loads(body)
            yield from (one["error"] for one in (answer if isinstance(answer, list) else [answer]) if "error" in one)


def test_every_reason_that_can_be_provoked_is_shown_under_its_name_with_its_data() -> None:
    shown = {error["data"]["reason"]: error for error in errors_shown()}
    assert set(shown) == set(Reason) - {Reason.INTERNAL}
    for name, (code, _, data) in reasons_table().items():
        assert name in section(read("docs/api.md"), f"### {name}") or name == Reason.INTERNAL
        if name in shown:
            assert shown[name]["code"] == code
            assert set(shown[name]["data"]) - {"reason"} == data


def test_every_rule_of_faults_is_in_the_table_and_shown() -> None:
    told = {quoted(rule)[0] for rule, _ in rows(read("docs/api.md"), "Rule | Broken by")}
    shown = {fault["rule"] for error in errors_shown() for fault in error["data"].get("errors", ())}
    # To break these three takes more than a page holds.
    assert told == shown | {"count", "depth", "length"}


def test_the_table_of_limits_is_the_limits() -> None:
    table = rows(read("docs/api.md"), "Limit | Value")
    for (what, told), (name, value) in zip(table, BOUNDS.items(), strict=True):
        assert any(re.match(rf"{form}\b", told) for form in written(value)), f"{what}: {told} is not {name}"


def written(value: int | timedelta) -> list[str]:
    """The ways in which a person would write it."""
    if isinstance(value, int):
        return [f"{value:,}"]
    units = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
    seconds = int(value.total_seconds())
    fitting = {unit: seconds // size for unit, size in units.items() if seconds % size == 0}
    return [f"{count} {unit}{'s' if count > 1 else ''}" for unit, count in fitting.items()]


# docs/architecture.md, docs/decisions.md, CHANGELOG.md


def test_the_tree_names_every_module_and_nothing_else() -> None:
    tree = re.findall(r"^```\n(src/tickover/.*?)^```$", read("docs/architecture.md"), re.DOTALL | re.MULTILINE)[0]
    named = set(paths_in(tree))
    package = ROOT / "src" / "tickover"
    modules = {path.relative_to(ROOT) for path in package.rglob("*.py")}
    # A package's own file is the line of its folder.
    assert {path.parent if path.name == "__init__.py" else path for path in modules} <= named
    assert [path for path in named if not (ROOT / path).exists()] == []


def paths_in(tree: str) -> Iterator[Path]:
    folders: list[str] = []
    for line in tree.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, *described = line.split()
        assert described or depth == 0, f"{name} is not described"
        folders = [*folders[:depth], name]
        yield Path(*folders)


def test_decisions_keep_their_numbers() -> None:
    numbers = [int(number) for number in re.findall(r"^\| ([0-9]+) \|", read("docs/decisions.md"), re.MULTILINE)]
    assert numbers == sorted(set(numbers))
    assert set(numbers) >= set(range(1, 46))


def test_the_changelog_begins_with_this_version() -> None:
    assert re.findall(r"^## \[(.*?)\]", read("CHANGELOG.md"), re.MULTILINE)[0] == __version__
