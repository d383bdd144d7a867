"""The resources for GET: the console's files, the reference, the scenario gallery and the development mailbox."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct, field, json

import tickover
from tickover.api.limits import RESEND_INTERVAL
from tickover.api.timestamps import Instant
from tickover.server.http1.messages import Header, Response
from tickover.server.sign_in import email_addresses
from tickover.server.web.mailbox import ID, Mailbox
from tickover.server.web.scenario_gallery import ScenarioGallery

_HTML: Final = b"text/html; charset=utf-8"
_JSON: Final = b"application/json"
_ASSETS: Final = {".js": b"text/javascript; charset=utf-8", ".css": b"text/css; charset=utf-8"}
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")
_NO_CACHE: Final = (b"cache-control", b"no-cache")
_IMMUTABLE: Final = (b"cache-control", b"public, max-age=31536000, immutable")

# No foreign or inline scripts and styles, no framing, no assignment of text as markup.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
# The console displays emails in frames.
_CONSOLE_POLICY: Final = _POLICY + b"; frame-src 'self'"
# Emails have style attributes. The sandbox blocks scripts, forms and links, and no resource is loaded.
_EMAIL_POLICY: Final = (
    b"sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; "
    b"form-action 'none'"
)


def _security_headers(policy: bytes) -> list[Header]:
    return [
        (b"content-security-policy", policy),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


class Page:
    """The response to a GET, uncompressed and compressed."""

    def __init__(self, content_type: bytes, body: bytes, policy: bytes, cache_control: Header) -> None:
        headers = [
            (b"content-type", content_type),
            *_security_headers(policy),
            cache_control,
            (b"vary", b"accept-encoding"),
        ]
        self.plain: Response = (200, headers, body)

    @cached_property
    def gzipped(self) -> Response:
        from gzip import compress

        status, headers, body = self.plain
        return status, [*headers, (b"content-encoding", b"gzip")], compress(body, mtime=0)

    def negotiate(self, accept_encoding: bytes) -> Response:
        return self.gzipped if accepts_gzip(accept_encoding) else self.plain


def _without_caching(response: Response) -> Response:
    status, headers, body = response
    return status, [_NO_CACHE if name == _NO_CACHE[0] else (name, value) for name, value in headers], body


class Site(Struct, frozen=True):
    """All resources for GET, except the health checks. Each is read or computed for its first request."""

    describe: Callable[[], bytes]
    """Returns the OpenRPC document."""
    mailbox: Mailbox | None = None
    gallery: ScenarioGallery = field(default_factory=ScenarioGallery)
    resend_seconds: int = int(RESEND_INTERVAL.total_seconds())

    def has(self, path: str) -> bool:
        """Return whether the path is a route. An email with this ID may still be missing."""
        if path in _GENERATED or (self.mailbox is not None and _is_mailbox_path(path)):
            return True
        return _find_page(path) is not None

    async def get(self, path: str, query: bytes, accept_encoding: bytes, now: Instant) -> Response:
        """Return the response to a GET of a path for which `has` returns True."""
        if path == "/site.json":
            return _json_response({"mailbox": self.mailbox is not None, "resendSeconds": self.resend_seconds})
        if path == "/docs":
            description = await asyncio.to_thread(self.describe)
            page = await asyncio.to_thread(reference_page, description, has_mailbox=self.mailbox is not None)
            return page.negotiate(accept_encoding)
        if path == "/openrpc.json":
            return make_page(_JSON, await asyncio.to_thread(self.describe)).negotiate(accept_encoding)
        if path == "/scenarios.json":
            return make_page(_JSON, await self.gallery.to_json(now)).negotiate(accept_encoding)
        if self.mailbox is not None and _is_mailbox_path(path):
            return await _get_from_mailbox(self.mailbox, path, query)
        found = _find_page(path)
        assert found is not None, "the path is a route"
        response = found.negotiate(accept_encoding)
        return response if path in console_pages() else _without_caching(response)


def _find_page(path: str) -> Page | None:
    pages = console_pages()
    if page := pages.get(path):
        return page
    # During an upgrade, a server of another release may have sent the page that loads this file.
    match = _ASSET_PATH.fullmatch(path)
    return pages.get(_assets().path + match[1]) if match else None


@lru_cache(maxsize=1)
def reference_page(description: bytes, *, has_mailbox: bool) -> Page:
    """Return the reference of the methods, made from the OpenRPC document."""
    from tickover.server.web.api_reference import render

    return make_page(_HTML, _assets().link(render(description, has_mailbox=has_mailbox)))


@cache
def console_pages() -> dict[str, Page]:
    """Return the console's files by path."""
    folder, assets = _CONSOLE, _assets()
    return {
        "/": make_page(_HTML, assets.link((folder / "index.html").read_bytes()), _CONSOLE_POLICY),
        "/login": make_page(_HTML, assets.link((folder / "login.html").read_bytes())),
        # Browsers request it for responses that name no icon, such as /openrpc.json.
        "/favicon.ico": make_page(b"image/svg+xml", (folder / "icon.svg").read_bytes()),
        **assets.pages(),
    }


_CONSOLE: Final = Path(tickover.__file__).parent / "console"
_ASSET_PATH: Final = re.compile(r"/assets/[0-9a-f]{12}/(.+)")
_SCRIPT: Final = re.compile(rb'<script type="module" src="assets/([^"]+)">')
_IMPORT: Final = re.compile(rb'^import (?:\{[^}]*\} from )?"([^"]+)";$', re.MULTILINE)


class Assets(Struct, frozen=True):
    """The scripts and stylesheets. Their URLs contain a hash of all of them, so browsers can cache them forever."""

    contents: Mapping[str, bytes]
    path: str

    def pages(self) -> dict[str, Page]:
        return {
            self.path + name: make_page(_ASSETS[Path(name).suffix], body, cache_control=_IMMUTABLE)
            for name, body in self.contents.items()
        }

    def link(self, html: bytes) -> bytes:
        """Complete the URLs of assets, and let the browser load all modules of a script at once."""
        html = _SCRIPT.sub(lambda found: self._preloads(found[1].decode()) + found[0], html)
        return html.replace(b'"assets/', f'"{self.path[1:]}'.encode())

    def _preloads(self, script: str) -> bytes:
        modules = [script]
        for module in modules:
            modules += [name for name in _imports(module, self.contents[module]) if name not in modules]
        return b"".join(b'<link rel="modulepreload" href="assets/%b">\n' % name.encode() for name in modules[1:])


def _imports(module: str, code: bytes) -> Iterator[str]:
    """Yield the names of the modules that a module imports."""
    for imported in _IMPORT.findall(code):
        yield normpath(join(dirname(module), imported.decode()))


def load_assets(folder: Path) -> Assets:
    contents = dict(_read_assets(folder))
    version = sha256(json.encode(contents)).hexdigest()[:12]
    return Assets(contents, f"/assets/{version}/")


def _read_assets(folder: Path, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the scripts and stylesheets with their names, but no tests."""
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.is_dir():
            yield from _read_assets(file, f"{path}{file.name}/")
        elif file.name.endswith((*_ASSETS,)) and not file.name.endswith(".test.js"):
            yield path + file.name, file.read_bytes()


@cache
def _assets() -> Assets:
    return load_assets(_CONSOLE)


@lru_cache(maxsize=256)
def make_page(content_type: bytes, body: bytes, policy: bytes = _POLICY, cache_control: Header = _NO_CACHE) -> Page:
    return Page(content_type, body, policy, cache_control)


_MAX_ACCEPT_ENCODING = 1000


def accepts_gzip(accept_encoding: bytes) -> bool:
    """Return whether Accept-Encoding allows gzip, by name or by `*`."""
    accepted: dict[str, bool] = {}
    for one in accept_encoding[:_MAX_ACCEPT_ENCODING].decode("latin-1").lower().split(","):
        coding, *parameters = (part.strip() for part in one.split(";"))
        accepted[coding] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return accepted.get("gzip", accepted.get("x-gzip", accepted.get("*", False)))


_GENERATED: Final = ("/docs", "/openrpc.json", "/scenarios.json", "/site.json")
_MAILBOX_PATHS: Final = ("/mailbox/latest", "/mailbox/emails.json")
_EMAIL_EXTENSIONS: Final = ("json", "html")
_EMAIL_PATH: Final = re.compile(rf"/mailbox/emails/({ID.pattern})\.({'|'.join(_EMAIL_EXTENSIONS)})")


def _is_mailbox_path(path: str) -> bool:
    return path in _MAILBOX_PATHS or bool(_EMAIL_PATH.fullmatch(path))


async def _get_from_mailbox(mailbox: Mailbox, path: str, query: bytes) -> Response:
    if path == "/mailbox/latest":
        return await _get_latest_email(mailbox, query)
    if path == "/mailbox/emails.json":
        return _json_response({"emails": await mailbox.list_emails()})
    match = _EMAIL_PATH.fullmatch(path)
    assert match is not None, "the path is a mailbox path"
    id, extension = match.groups()
    if extension == "html":
        html = await mailbox.get_html(id)
        return _NO_SUCH_EMAIL if html is None else _email_response(html)
    email = await mailbox.get_email(id)
    return _NO_SUCH_EMAIL if email is None else _json_response(email)


async def _get_latest_email(mailbox: Mailbox, query: bytes) -> Response:
    try:
        [to] = parse_qs(query.decode("latin-1"), max_num_fields=10)["to"]
        address = email_addresses.parse(to)
    except (ValueError, KeyError):
        return 400, [_TEXT], b"Use /mailbox/latest?to=ADDRESS with one email address. Encode + as %2B.\n"
    email = await mailbox.latest_email(address)
    if email is None:
        return 404, [_TEXT], b"No email to this address.\n"
    return _json_response(email)


_NO_SUCH_EMAIL: Final[Response] = (404, [_TEXT], b"No such email.\n")


def _json_response(value: object) -> Response:
    headers = [(b"content-type", _JSON), *_security_headers(_POLICY), (b"cache-control", b"no-store")]
    return 200, headers, json.encode(value)


def _email_response(html: bytes) -> Response:
    """Return an email for the preview, on white paper even if the console is dark."""
    headers = [(b"content-type", _HTML), *_security_headers(_EMAIL_POLICY), (b"cache-control", b"no-store")]
    return 200, headers, html.replace(b'content="light dark"', b'content="light"')
