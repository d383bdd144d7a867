"""Rules of the code base that no linter checks."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.repository import ROOT, text_files

PACKAGE = ROOT / "src" / "tickover"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


def modules_with(matches: Callable[[ast.AST], bool], paths: list[Path] = SOURCES) -> set[str]:
    """Return the modules with a node for which `matches` is true, as paths below the package."""
    return {path.relative_to(PACKAGE).as_posix() for path in paths if any(matches(node) for node in nodes_of(path))}


def lines_with(pattern: str, found_in: dict[str, str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in found_in.items()
        if re.search(pattern, text)
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


def reads_wall_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and any(alias.name in ("time", "time_ns") for alias in node.names)
    if not isinstance(node, ast.Attribute) or node.attr not in ("now", "utcnow", "today", "time", "time_ns"):
        return False
    return bool(re.fullmatch(r"(.+\.)?(datetime|date)\.(now|utcnow|today)|time\.time(_ns)?", ast.unparse(node)))


def reads_randomness(node: ast.AST) -> bool:
    modules = {"random", "secrets", "uuid"}
    if isinstance(node, ast.Import):
        return any(alias.name in modules for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in modules or (node.module == "os" and any(alias.name == "urandom" for alias in node.names))
    is_random = isinstance(node, ast.Attribute) and node.attr in ("urandom", "getrandom")
    return is_random and ast.unparse(node).startswith("os.")


def catches_all_exceptions(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    return node.type is None or bool({"Exception", "BaseException"} & set(re.findall(r"\w+", ast.unparse(node.type))))


@pytest.mark.parametrize(
    ("matches", "allowed"),
    [
        pytest.param(
            reads_wall_clock, {"server/web/handler.py", "cli/cli_run.py", "client/webhooks.py"}, id="wall clock"
        ),
        pytest.param(
            reads_randomness,
            {
                "server/sign_in/tokens.py",
                "server/secret_key.py",
                "server/web/handler.py",  # the prefix of request ids
                "client/calls.py",  # idempotency keys
                "client/webhooks.py",  # signing secrets
                "pytest_plugin/server_fixture.py",  # unused email addresses
                "testing/container.py",  # unused email addresses
            },
            id="randomness",
        ),
        pytest.param(
            catches_all_exceptions,
            {
                "server/gate.py",
                "server/web/handler.py",
                "server/background.py",
                "server/webhook_sender.py",
                "server/storage/sqlite/writer.py",
                "server/storage/postgres/batcher.py",
                "server/tracing.py",  # marks the span and raises the exception again
                "client/http_pool.py",  # closes the connection and raises the exception again
            },
            id="exceptions",
        ),
    ],
)
def test_only_listed_modules_use(matches: Callable[[ast.AST], bool], allowed: set[str]) -> None:
    assert modules_with(matches) == allowed


def test_sql_never_reads_the_clock() -> None:
    files = [path for path in (PACKAGE / "server" / "storage").rglob("*") if path.suffix in (".py", ".sql")]
    storage = {name_of(path): path.read_text("utf-8") for path in files}
    clock = r"(?i)\bcurrent_(?:time|date|timestamp)\b|\bnow\(\)|'now'|\b(?:unixepoch|julianday|strftime)\("
    assert lines_with(clock, storage) == []


def test_no_file_installs_tickover_by_name() -> None:
    """Until its first release, a package with this name in a registry belongs to somebody else."""
    pattern = r"(?:pip|npm|pnpm|yarn|uv|pipx)3? (?:install|add|i) [^`]*?(?<![\w/.-])tickover(?![\w.-]*[.](?:whl|tgz))"
    assert lines_with(pattern, text_files()) == []
    assert lines_with(pattern, {"page.md": "pip " + "install 'tickover[server]' pytest"})


def test_no_file_names_a_registry_or_a_local_path() -> None:
    registries = r"pypi[.]org|pythonhosted[.]org|npmjs[.]|conda[.]anaconda|(?:extra-|default-)?index-ur[l]"
    paths = r"(?<![\w.$})~-])/(?:home|root|Users|work|opt|mnt|private|var/folders)/[\w.]"
    assert lines_with(rf"{registries}|{paths}", text_files()) == []


def links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if not target.startswith("https://"):
                yield page, target


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    assert len(headings) == len(set(headings)), f"{page.name} has two equal headings"
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_has_a_target() -> None:
    broken = []
    for page, target in links():
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        if not linked.exists() or (anchor and anchor not in anchors_of(linked)):
            broken.append(f"{page.name}: {target}")
    assert broken == []
    assert len(list(links())) > 30
