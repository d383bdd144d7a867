"""The examples in the docs run, and the tables in the docs are complete."""

import json
import re
from pathlib import Path

import pytest
import structlog

from tests.support.transcripts import PAGES, ROOT, update_page
from tickover import __version__
from tickover.server.metrics.exposition import Facts, render
from tickover.server.metrics.numbers import CAUSES, SharedNumbers
from tickover.server.operations import OPERATIONS
from tickover.server.rpc.reasons import REASONS
from tickover.server.settings import CLIENT_VARIABLES, PREFIX, SETTINGS, read_settings
from tickover.server.sign_in.mail import open_mailer
from tickover.server.storage.admin.statistics import Statistics

DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def rows(text: str, header: str) -> list[list[str]]:
    """Return the rows of the table with this header."""
    _, found, below = text.partition(f"| {header} |\n")
    assert found, f"no table with the header {header!r}"
    lines = below.splitlines()[1:]
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def quoted(cell: str) -> list[str]:
    """Return the texts between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def fences(page: str, kind: str) -> str:
    return "".join(re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


# Commands and paths


def test_paths_in_the_docs_exist() -> None:
    pages = [*DOCS, ROOT / "CONTRIBUTING.md"]
    paths = {path for page in pages for path in re.findall(_PATH, page.read_text("utf-8"))}
    folders = [ROOT, ROOT / "src" / "tickover", ROOT / "src" / "tickover" / "server"]
    assert paths
    assert [path for path in sorted(paths) if not any((folder / path).exists() for folder in folders)] == []


_PATH = re.compile(r"`((?:[a-z0-9_]+/)+(?:[a-z0-9_]+\.(?:py|json|md|sql))?)`")


def test_make_targets_in_the_docs_exist() -> None:
    targets = re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE)
    commands = "".join(fences(page.read_text("utf-8"), "sh") for page in DOCS)
    used = re.findall(r"\bmake ([a-z]+)", commands)
    assert {"run", "test"} <= set(used) <= set(targets)


# docs/start.md


def test_settings_table_lists_every_setting() -> None:
    table = rows(read("docs/start.md"), "Variable | Flag | Default | Meaning")
    # A default in parentheses is computed at startup, so the setting has none.
    documented = [
        (*quoted(variable), flag, default if default[0] == "`" else "") for variable, flag, default, _ in table
    ]
    assert documented == [
        (
            setting.variable,
            f"`--{setting.name.replace('_', '-')}`" if setting.has_flag else "none",
            f"`{setting.default}`" if setting.default else "",
        )
        for setting in SETTINGS
    ]


def test_variables_in_the_docs_exist() -> None:
    named = {name for page in DOCS for name in re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", page.read_text("utf-8"))}
    assert frozenset({"TICKOVER_URL", "TICKOVER_TOKEN", "TICKOVER_WEBHOOK_SECRET"}) == CLIENT_VARIABLES
    variables = {variable for setting in SETTINGS for variable in (setting.variable, setting.file_variable)}
    assert named <= variables | CLIENT_VARIABLES
    assert variables - {""} <= named


def test_values_in_the_docs_are_accepted(tmp_path: Path) -> None:
    commands = fences(read("docs/start.md"), "sh")
    values = re.findall(rf"({PREFIX}\w+)=('[^']*'|\S*)", commands)
    mail_urls = re.findall(r"`(smtps?://\S+)`", read("docs/start.md"))
    assert len(values) >= 5
    assert len(mail_urls) >= 2
    settings = [read_settings({"TICKOVER_MAIL_URL": "outbox:", name: value.strip("'")}, {}) for name, value in values]
    for url in [*mail_urls, *(chosen.mail_url for chosen in settings)]:
        open_mailer(url, "Tickover <login@example.com>", tmp_path, structlog.stdlib.get_logger("tests"))


# docs/metrics.md


def test_table_lists_every_metric() -> None:
    statistics = Statistics(1, 1, {"users": 1}, 0.5)
    rendered = render(SharedNumbers(), Facts({"version": "1"}, True, 1, statistics)).decode()
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", rendered, re.MULTILINE))
    table = rows(read("docs/metrics.md"), "Metric | Type | Labels | Meaning")
    assert {quoted(name)[0]: kind for name, kind, _, _ in table} == kinds
    causes = rows(read("docs/metrics.md"), "Cause | What to do")
    assert {quoted(cause)[0] for cause, _ in causes} == set(CAUSES)


# docs/api.md


@pytest.mark.parametrize("name", PAGES)
async def test_examples_show_the_actual_responses(name: str, tmp_path: Path) -> None:
    page = read(name)
    assert await update_page(page, tmp_path) == page, "run `python -m tests.support.transcripts` and review the changes"


def test_operations_table_lists_every_operation() -> None:
    table = rows(read("docs/api.md"), "Operation | What it does")
    assert {quoted(name)[0] for name, _ in table} == set(OPERATIONS)


def test_reasons_table_has_the_codes_and_statuses() -> None:
    assert {name: (code, status) for name, (code, status, _) in reasons_table().items()} == {
        str(reason): (meaning.code, meaning.http_status) for reason, meaning in REASONS.items()
    }


def reasons_table() -> dict[str, tuple[int, int, set[str]]]:
    table = rows(read("docs/api.md"), "Reason | Code | HTTP | Cause | Other fields in `data`")
    return {quoted(name)[0]: (int(code), int(http), set(quoted(data))) for name, code, http, _, data in table}


def test_reasons_table_names_the_data_of_each_reason() -> None:
    errors = json.loads(read("src/tickover/server/rpc/openrpc/recorded.json"))["errors"]
    documented = {name: data for name, (_, _, data) in reasons_table().items()}
    assert {name: set(error["data"]) - {"reason"} for name, error in errors.items()} == {
        name: data for name, data in documented.items() if name in errors
    }


# CHANGELOG.md


def test_changelog_starts_with_this_version() -> None:
    assert re.findall(r"^## \[(.*?)\]", read("CHANGELOG.md"), re.MULTILINE)[0] == __version__
