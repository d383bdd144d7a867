"""The examples in the docs run, and the paths and commands in the docs exist."""

import logging
import re
from pathlib import Path

from scripts.update_transcripts import PAGE, update_page
from tests.support.repository import ROOT
from tickover.server.logs import Log
from tickover.server.settings import PREFIX, read_settings
from tickover.server.sign_in.mail import open_mailer

DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def fences(page: str, kind: str) -> str:
    return "".join(re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))


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


def test_values_in_the_docs_are_accepted(tmp_path: Path) -> None:
    commands = fences(read("docs/start.md"), "sh")
    values = re.findall(rf"({PREFIX}\w+)=('[^']*'|\S*)", commands)
    mail_urls = re.findall(r"`(smtps?://\S+)`", read("docs/start.md"))
    assert len(values) >= 5
    assert len(mail_urls) >= 2
    settings = [read_settings({"TICKOVER_MAIL_URL": "outbox:", name: value.strip("'")}, {}) for name, value in values]
    for url in [*mail_urls, *(chosen.mail_url for chosen in settings)]:
        open_mailer(url, "Tickover <login@example.com>", tmp_path, Log(logging.getLogger("tests")))


async def test_examples_show_the_actual_responses(tmp_path: Path) -> None:
    page = PAGE.read_text("utf-8")
    assert await update_page(page, tmp_path) == page, (
        "run `python -m scripts.update_transcripts` and review the changes"
    )
