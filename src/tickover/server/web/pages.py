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

from msgspec import Raw, Struct, json

import tickover
from tickover.api import plans
from tickover.api.limits import RESEND_INTERVAL
from tickover.api.timestamps import Instant, first_of_month
from tickover.server.http1.messages import Header, Response
from tickover.server.sign_in import email_addresses
from tickover.server.web.mailbox import ID, Mailbox

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


class Site(Struct, frozen=True):
    """All resources for GET, except the health checks. Each is read or computed for its first request."""

    describe: Callable[[], bytes]
    """Returns the OpenRPC document."""
    mailbox: Mailbox | None = None
    resend_seconds: int = int(RESEND_INTERVAL.total_seconds())

    def has(self, path: str) -> bool:
        """Return whether the path is a route. An email with this ID may still be missing."""
        return path in _GENERATED or path == "/site.json" or self._is_in_mailbox(path) or _find_page(path) is not None

    async def get(self, path: str, query: bytes, accept_encoding: bytes, now: Instant) -> Response:
        """Return the response to a GET of a path for which `has` returns True."""
        if path == "/site.json":
            return _json_response({"mailbox": self.mailbox is not None, "resendSeconds": self.resend_seconds})
        if self.mailbox is not None and self._is_in_mailbox(path):
            return await asyncio.to_thread(_get_from_mailbox, self.mailbox, path, query)
        page = await asyncio.to_thread(self._generate, path, now) if path in _GENERATED else _find_page(path)
        assert page is not None, "the path is a route"
        return page.negotiate(accept_encoding)

    def _is_in_mailbox(self, path: str) -> bool:
        return self.mailbox is not None and (path in _MAILBOX_PATHS or bool(_EMAIL_PATH.fullmatch(path)))

    def _generate(self, path: str, now: Instant) -> Page:
        """Return a page that takes long to compute for its first request."""
        if path == "/docs":
            return reference_page(self.describe(), has_mailbox=self.mailbox is not None)
        return make_page(_JSON, self.describe() if path == "/openrpc.json" else _encode_gallery(first_of_month(now)))


def _find_page(path: str) -> Page | None:
    if page := console_pages().get(path):
        return page
    # During an upgrade, a server of another release may have sent the page that loads this file.
    match = _ASSET_PATH.fullmatch(path)
    if match and (body := _assets().contents.get(match[1])):
        return make_page(_ASSETS[Path(path).suffix], body)
    return None


@lru_cache(maxsize=1)
def reference_page(description: bytes, *, has_mailbox: bool) -> Page:
    """Return the reference of the methods, made from the OpenRPC document."""
    from tickover.server.web.api_reference import render

    return make_page(_HTML, _assets().link(render(description, has_mailbox=has_mailbox)))


@lru_cache(maxsize=1)
def _encode_gallery(month: Instant) -> bytes:
    """Return the included scenarios as JSON, each with the parameters of createTestClock for a start in this month."""
    from tickover import scenarios

    loaded = {name: scenarios.load(name) for name in scenarios.names()}
    return json.encode(
        [
            {
                "name": name,
                "title": scenario.title,
                "about": scenario.about,
                "text": scenario.text,
                "params": Raw(plans.encode_json(scenario.plan(scenario.start or month))),
            }
            for name, scenario in loaded.items()
        ]
    )


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
    """Read the scripts and stylesheets, but no tests."""
    files = [file for file in sorted(folder.rglob("*.*")) if file.suffix in _ASSETS]
    contents = {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in files if not file.name.endswith(".test.js")
    }
    version = sha256(json.encode(contents)).hexdigest()[:12]
    return Assets(contents, f"/assets/{version}/")


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


_GENERATED: Final = ("/docs", "/openrpc.json", "/scenarios.json")
_MAILBOX_PATHS: Final = ("/mailbox/latest", "/mailbox/emails.json")
_EMAIL_EXTENSIONS: Final = ("json", "html")
_EMAIL_PATH: Final = re.compile(rf"/mailbox/emails/({ID.pattern})\.({'|'.join(_EMAIL_EXTENSIONS)})")


def _get_from_mailbox(mailbox: Mailbox, path: str, query: bytes) -> Response:
    if path == "/mailbox/latest":
        return _get_latest_email(mailbox, query)
    if path == "/mailbox/emails.json":
        return _json_response({"emails": mailbox.list_emails()})
    match = _EMAIL_PATH.fullmatch(path)
    assert match is not None, "the path is a mailbox path"
    id, extension = match.groups()
    if extension == "html":
        html = mailbox.get_html(id)
        return _NO_SUCH_EMAIL if html is None else _email_response(html)
    email = mailbox.get_email(id)
    return _NO_SUCH_EMAIL if email is None else _json_response(email)


def _get_latest_email(mailbox: Mailbox, query: bytes) -> Response:
    try:
        [to] = parse_qs(query.decode("latin-1"), max_num_fields=10)["to"]
        address = email_addresses.parse(to)
    except (ValueError, KeyError):
        return 400, [_TEXT], b"Use /mailbox/latest?to=ADDRESS with one email address. Encode + as %2B.\n"
    email = mailbox.latest_email(address)
    return (404, [_TEXT], b"No email to this address.\n") if email is None else _json_response(email)


_NO_SUCH_EMAIL: Final[Response] = (404, [_TEXT], b"No such email.\n")


def _json_response(value: object) -> Response:
    headers = [(b"content-type", _JSON), *_security_headers(_POLICY), (b"cache-control", b"no-store")]
    return 200, headers, json.encode(value)


def _email_response(html: str) -> Response:
    """Return an email for the preview, on white paper even if the console is dark."""
    headers = [(b"content-type", _HTML), *_security_headers(_EMAIL_POLICY), (b"cache-control", b"no-store")]
    return 200, headers, html.replace('content="light dark"', 'content="light"').encode()
