"""The house's rules that no other tool holds."""

import ast
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.transcripts import ROOT
from tickover.api.errors import Reason
from tickover.server.jsonrpc.envelope import CODES

PACKAGE = ROOT / "src" / "tickover"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LONGEST_FILE = 350
LONGEST_FUNCTION = 50


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def where(finds: Callable[[ast.AST], bool], paths: list[Path] = SOURCES) -> set[str]:
    """The modules that have such a thing in them, by their names below the package."""
    return {
        path.relative_to(PACKAGE).as_posix() for path in paths if any(finds(node) for node in ast.walk(tree_of(path)))
    }


def texts() -> dict[str, str]:
    """Every text file that is, or would be, part of the repository."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed, so nobody knows which files belong here")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("this is not a git repository, so nobody knows which files belong here")
    found = {}
    for name in filter(None, listed.stdout.split("\0")):
        content = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in content:
            found[name] = content.decode()
    return found


def lines_with(pattern: str, found_in: dict[str, str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in found_in.items()
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(pattern, line)
    ]


# Form


def test_every_module_says_its_job() -> None:
    modules = [*SOURCES, *(ROOT / "tests").rglob("*.py")]
    silent = [path for path in modules if path.stat().st_size and not ast.get_docstring(tree_of(path))]
    assert [name_of(path) for path in silent] == []


def test_a_file_is_read_in_one_sitting() -> None:
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_a_function_fits_on_one_screen() -> None:
    too_long = {
        f"{name_of(path)}: {node.name}"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    }
    assert too_long == set()


def test_a_module_is_named_for_what_it_holds() -> None:
    empty_names = {"utils", "util", "helpers", "services", "base", "common", "manager", "misc"}
    assert [name_of(path) for path in SOURCES if empty_names & {path.stem, path.parent.name}] == []


def test_no_class_of_the_product_looks_like_a_test() -> None:
    assert where(lambda node: isinstance(node, ast.ClassDef) and node.name.startswith("Test")) == set()


def test_nothing_is_left_for_later_in_a_comment() -> None:
    # In quotes the last of them is a currency.
    assert lines_with(r"""\b(?:TO[D]O|FIX[M]E|(?<!["'])X[X]X(?!["']))\b""", texts()) == []


# Time, chance and exceptions


def reads_wall_clock(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and any(alias.name in ("time", "time_ns") for alias in node.names)
    asks = r"(.+\.)?(datetime|date)\.(now|utcnow|today)|time\.time(_ns)?"
    return isinstance(node, ast.Attribute) and bool(re.fullmatch(asks, ast.unparse(node)))


def draws_lots(node: ast.AST) -> bool:
    lots = {"random", "secrets", "uuid"}
    if isinstance(node, ast.Import):
        return any(alias.name in lots for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in lots or (node.module == "os" and any(alias.name == "urandom" for alias in node.names))
    return isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.urandom", "os.getrandom")


def catches_everything(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    return node.type is None or bool({"Exception", "BaseException"} & set(re.findall(r"\w+", ast.unparse(node.type))))


@pytest.mark.parametrize(
    ("finds", "allowed"),
    [
        pytest.param(
            reads_wall_clock,
            {"server/http/handler.py", "cli/session.py"},
            id="the wall clock is read at the door, and once on the command line",
        ),
        pytest.param(
            draws_lots,
            # Then for the secret key, for the prefix of request ids, for idempotency keys, and for addresses that no
            # test has used.
            {
                "server/domain/tokens.py",
                "server/secret_key.py",
                "server/http/handler.py",
                "client/calls.py",
                "pytest_plugin/emails.py",
            },
            id="what must not be guessed comes from the mint",
        ),
        pytest.param(
            catches_everything,
            # The pages, and then those where one job's failure must not end what works for all.
            {
                "server/jsonrpc/dispatch.py",
                "server/http/handler.py",
                "server/background.py",
                "server/storage/sqlite/writer.py",
                "server/storage/postgres/batcher.py",
            },
            id="an exception becomes an answer in one place",
        ),
    ],
)
def test_some_things_are_done_in_few_places(finds: Callable[[ast.AST], bool], allowed: set[str]) -> None:
    assert where(finds) == allowed


@pytest.mark.parametrize(
    ("finds", "source"),
    [
        (reads_wall_clock, "datetime.now(UTC)"),
        (reads_wall_clock, "datetime.datetime.utcnow()"),
        (reads_wall_clock, "date.today()"),
        (reads_wall_clock, "time.time()"),
        (reads_wall_clock, "from time import time"),
        (draws_lots, "import random"),
        (draws_lots, "from secrets import token_hex"),
        (draws_lots, "entropy = os.urandom"),
        (draws_lots, "from uuid import uuid4"),
        (catches_everything, "try: ...\nexcept: ..."),
        (catches_everything, "try: ...\nexcept Exception as error: ..."),
        (catches_everything, "try: ...\nexcept (KeyError, BaseException): ..."),
    ],
)
def test_what_is_done_in_few_places_is_recognised(finds: Callable[[ast.AST], bool], source: str) -> None:
    assert any(finds(node) for node in ast.walk(ast.parse(source)))


@pytest.mark.parametrize(
    ("finds", "source"),
    [
        (reads_wall_clock, "self.now"),
        (reads_wall_clock, "time.monotonic()"),
        (draws_lots, "def uuid7(random): ..."),
        (catches_everything, "try: ...\nexcept (KeyError, SMTPException): ..."),
    ],
)
def test_what_may_be_done_anywhere_is_not_mistaken_for_it(finds: Callable[[ast.AST], bool], source: str) -> None:
    assert not any(finds(node) for node in ast.walk(ast.parse(source)))


def test_sql_never_asks_for_the_time() -> None:
    files = [path for path in (PACKAGE / "server" / "storage").rglob("*") if path.suffix in (".py", ".sql")]
    storage = {name_of(path): path.read_text("utf-8") for path in files}
    asks = r"(?i)\bcurrent_(?:time|date|timestamp)\b|\bnow\(\)|'now'|\b(?:unixepoch|julianday|strftime)\("
    assert lines_with(asks, storage) == []


# Tables


def test_every_reason_has_a_code_and_a_place_in_the_docs() -> None:
    told = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert set(CODES) == set(Reason)
    assert [reason for reason in Reason if f"\n### {reason}\n" not in told] == []


def test_migrations_are_numbered_without_gaps() -> None:
    dialects = [folder for folder in (PACKAGE / "server" / "storage" / "schema").iterdir() if folder.is_dir()]
    assert dialects
    for dialect in dialects:
        names = sorted(file.name for file in dialect.iterdir())
        assert [bool(re.fullmatch(r"[0-9]{4}_[a-z_]+\.sql", name)) for name in names] == [True] * len(names)
        assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


# What is pinned, and what stays here


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=name_of)
def test_every_pin_has_its_hashes_and_tells_no_place(path: Path) -> None:
    text = path.read_text("utf-8")
    pins = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    form = r"[a-z0-9.-]+==[^ ;]+( ;[^#]+?)?( +--hash=sha256:[0-9a-f]{64})+"
    assert pins
    assert [pin[:60] for pin in pins if not re.fullmatch(form, pin.strip())] == []
    assert "://" not in text


def test_no_file_names_a_registry_or_a_place_on_a_machine() -> None:
    registries = r"pypi[.]org|pythonhosted[.]org|npmjs[.]|conda[.]anaconda|(?:extra-|default-)?index-ur[l]"
    places = r"(?<![\w.$})~-])/(?:home|root|Users|work|opt|mnt|private|var/folders)/[\w.]"
    assert lines_with(rf"{registries}|{places}", texts()) == []


# Links


def links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if not target.startswith("https://"):
                yield page, target


def anchors_of(page: Path) -> set[str]:
    """Its headings as GitHub names them."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    assert len(headings) == len(set(headings)), f"two headings of {page.name} are the same"
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page, target in links():
        name, _, anchor = target.partition("#")
        led_to = (page.parent / name).resolve() if name else page
        if not led_to.exists() or (anchor and anchor not in anchors_of(led_to)):
            broken.append(f"{page.name}: {target}")
    assert broken == []
    assert len(list(links())) > 30
