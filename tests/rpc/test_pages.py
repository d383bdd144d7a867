"""The pages and console files: exact headers, only own resources, nothing inline."""

import gzip
import re
import shutil
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath
from urllib.parse import urldefrag, urljoin

import pytest

import tickover
from tests.support.openrpc_document import PUBLIC_URL
from tests.support.world import World
from tickover.server.rpc.openrpc import describe
from tickover.server.web.pages import accepts_gzip, console_pages, load_assets, reference_page

CONSOLE = Path(tickover.__file__).parent / "console"
ASSETS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
ASSETS_PATH = load_assets(CONSOLE).path
FILES = [
    path.relative_to(CONSOLE).as_posix()
    for path in sorted(CONSOLE.rglob("*.*"))
    if path.suffix in ASSETS and not path.name.endswith(".test.js")
]
CONTENT_TYPES = {
    "/": "text/html; charset=utf-8",
    "/login": "text/html; charset=utf-8",
    "/favicon.ico": "image/svg+xml",
    **{f"{ASSETS_PATH}{name}": ASSETS[PurePosixPath(name).suffix] for name in FILES},
    "/openrpc.json": "application/json",
    "/docs": "text/html; charset=utf-8",
}
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
POLICIES = {path: POLICY | ({"frame-src": "'self'"} if path == "/" else {}) for path in CONTENT_TYPES}
ASSET_PATHS = [path for path in CONTENT_TYPES if path.startswith(ASSETS_PATH)]
IMMUTABLE = "public, max-age=31536000, immutable"
DESCRIPTION = describe(PUBLIC_URL)
PAGES = {**console_pages(), "/docs": reference_page(DESCRIPTION, has_mailbox=True)}
TEXTS = {"/openrpc.json": DESCRIPTION.decode(), **{path: page[2].decode() for path, page in PAGES.items()}}
DOCUMENTS = [path for path, kind in CONTENT_TYPES.items() if kind.startswith("text/html")]
SCRIPT_PATHS = [path for path in CONTENT_TYPES if path.endswith(".js")]

every_document = pytest.mark.parametrize("path", DOCUMENTS)


def policy_of(header: str) -> dict[str, str]:
    """Parse a Content-Security-Policy. Each directive occurs once."""
    pairs = [part.strip().partition(" ")[::2] for part in header.split(";")]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


# Headers


async def test_pages_have_exactly_these_headers(world: World) -> None:
    for path, content_type in CONTENT_TYPES.items():
        response = await world.request("GET", path)
        headers = dict(response.headers)
        assert (path, response.status) == (path, 200)
        assert re.fullmatch(r"req_[0-9a-f]+", headers.pop("x-request-id"))
        assert headers.pop("date").endswith(" GMT")
        assert policy_of(headers.pop("content-security-policy")) == POLICIES[path], path
        assert headers == {
            "content-type": content_type,
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": IMMUTABLE if path in ASSET_PATHS else "no-cache",
            "vary": "accept-encoding",
        }
        assert response.body.decode() == TEXTS[path], path


@pytest.mark.parametrize("file", ["app.js", "lib/dom.js", "css/base.css"])
def test_url_of_every_asset_changes_with_each_file(tmp_path: Path, file: str) -> None:
    console = shutil.copytree(CONSOLE, tmp_path / "console")
    assert load_assets(console).path == ASSETS_PATH
    with (console / file).open("a") as opened:
        opened.write(";\n")
    assert load_assets(console).path != ASSETS_PATH


async def test_assets_of_another_release_are_served_but_not_cached(world: World) -> None:
    current = await world.request("GET", f"{ASSETS_PATH}lib/dom.js")
    other = await world.request("GET", "/assets/0123456789ab/lib/dom.js")
    assert (other.status, other.body) == (200, current.body)
    assert other.headers["cache-control"] == "no-cache"
    assert (await world.request("GET", "/assets/0123456789ab/lib/missing.js")).status == 404


async def test_compressed_page_has_the_same_content(world: World) -> None:
    for path in CONTENT_TYPES:
        plain = await world.request("GET", path)
        compressed = await world.request("GET", path, headers={"Accept-Encoding": "gzip, deflate, br"})
        assert gzip.decompress(compressed.body) == plain.body, path
        assert len(compressed.body) < len(plain.body), path
        compression_headers = {"content-encoding": "gzip"}
        assert compression_headers.items() <= compressed.headers.items()
        changing = {"x-request-id", "date"}
        assert {
            name: value for name, value in compressed.headers.items() if name not in {*changing, *compression_headers}
        } == {name: value for name, value in plain.headers.items() if name not in changing}


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("br, GZip", True),
        ("gzip ; q = 0.001", True),
        ("identity, *;q=0.1", True),
        ("identity", False),
        ("gzip; q=0.000", False),
        ("gzip;q=0, *", False),
        ("gzipped", False),
        pytest.param("," * 1000 + "gzip", False, id="too long"),
        ("\xff\xfe", False),
    ],
)
def test_page_is_compressed_only_if_accepted(accepted: str, is_compressed: bool) -> None:
    assert accepts_gzip(accepted.encode("latin-1")) == is_compressed


async def test_pages_allow_only_get_and_head(world: World) -> None:
    for path in CONTENT_TYPES:
        for method in ("POST", "OPTIONS"):
            response = await world.request(method, path, b"{}")
            assert (path, method, response.status, response.headers["allow"]) == (path, method, 405, "GET, HEAD")


UNKNOWN_PATHS = (
    "/index.html",
    "/login/",
    "/assets/",
    "/assets/lib/dom.js",
    f"{ASSETS_PATH}lib/",
    f"{ASSETS_PATH}lib/../../../login",
    "/assets/../settings.py",
    "//login",
    f"{ASSETS_PATH}css/base.css\x00",
)


async def test_other_paths_are_not_found(world: World) -> None:
    statuses = {path: (await world.request("GET", path)).status for path in UNKNOWN_PATHS}
    assert statuses == dict.fromkeys(UNKNOWN_PATHS, 404)


# Contents


@every_document
def test_pages_load_only_own_resources(path: str) -> None:
    references = set(re.findall(r'\b(?:src|href|action|data|poster|srcset|ping)="([^"]*)"', TEXTS[path]))
    # An empty icon prevents a request for one.
    loaded = {value for value in references if not value.startswith("#")} - {"data:,"}
    assert f"{ASSETS_PATH[1:]}css/base.css" in loaded
    # A proxy can serve the console below a path.
    assert {value for value in loaded if value.startswith("/")} == set()
    assert {urldefrag(urljoin(path, value)).url for value in loaded} <= set(CONTENT_TYPES)


# Files


def loaded_by(path: str) -> set[str]:
    return {path} | {f"/{name}" for name in re.findall(r"""(?:src|href)="(assets/[^"]+)""", TEXTS[path])}


@cache
def imports() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    pattern = re.compile(r'^(?:import|export) (?:[^"]* from )?"([^"]+)"', re.MULTILINE)
    return {path: {urljoin(path, name) for name in pattern.findall(TEXTS[path])} for path in SCRIPT_PATHS}


def test_modules_import_without_circles() -> None:
    folders = ["lib", "clock", "chart", "forms", "pages", ""]
    ranks = {path: folders.index(path.removeprefix(ASSETS_PATH).rpartition("/")[0]) for path in SCRIPT_PATHS}
    upward = [(path, name) for path, names in imports().items() for name in names if ranks[name] > ranks[path]]
    assert upward == []
    TopologicalSorter(imports()).prepare()


@every_document
def test_all_modules_are_preloaded(path: str) -> None:
    # Otherwise the browser requests each module only after the one that imports it.
    loaded = {name for name in loaded_by(path) if name in SCRIPT_PATHS}
    assert set().union(*(imports()[name] for name in loaded)) <= loaded


def test_tests_are_not_served(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("dom.js", "dom.test.js", "notes.txt"):
        (tmp_path / "lib" / name).write_text("")
    assert list(load_assets(tmp_path).contents) == ["lib/dom.js"]
