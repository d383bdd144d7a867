"""The resources for GET: the console's files, the reference, the scenario gallery and the development mailbox."""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final
from urllib.parse import parse_qs

from msgspec import Raw, Struct, json

import tickover
from tickover.api import plans
from tickover.api.timestamps import Instant, first_of_month
from tickover.server.http1.http_messages import Header, Response, text_response
from tickover.server.sign_in.email_addresses import EmailAddress
from tickover.server.sign_in.mail.outbox import ID, Mailbox

_HTML: Final = b"text/html; charset=utf-8"
_JSON: Final = b"application/json"
_ASSETS: Final = {".js": b"text/javascript; charset=utf-8", ".css": b"text/css; charset=utf-8"}
_NO_CACHE: Final = (b"cache-control", b"no-cache")
_NO_STORE: Final = (b"cache-control", b"no-store")
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
_MAX_ACCEPT_ENCODING: Final = 1000
_GENERATED: Final = ("/docs", "/openrpc.json", "/scenarios.json", "/site.json")
_MAILBOX_PATHS: Final = ("/mailbox/latest", "/mailbox/emails.json")
_EMAIL_EXTENSIONS: Final = ("json", "html")
_EMAIL_PATH: Final = re.compile(rf"/mailbox/emails/({ID.pattern})\.({'|'.join(_EMAIL_EXTENSIONS)})")


class Site(Struct, frozen=True):
    """All resources for GET, except the health checks. Each is read or computed for its first request."""

    describe: Callable[[], bytes]
    """Returns the OpenRPC document."""
    mailbox: Mailbox | None
    resend_seconds: int

    def has(self, path: str) -> bool:
        """Return whether the path is a route. An email with this ID may still be missing."""
        if path in _MAILBOX_PATHS or _EMAIL_PATH.fullmatch(path):
            return self.mailbox is not None
        return path in _GENERATED or _find_file(path) is not None

    def get(self, path: str, query: bytes, accept_encoding: bytes, now: Instant) -> Response:
        """Return the response to a GET of a path for which `has` returns True. The first one can take long."""
        if self.mailbox is not None and path.startswith("/mailbox/"):
            return _get_from_mailbox(self.mailbox, path, query)
        page: Response | None
        match path:
            case "/site.json":
                return _json_response({"mailbox": self.mailbox is not None, "resendSeconds": self.resend_seconds})
            case "/docs":
                page = reference_page(self.describe(), has_mailbox=self.mailbox is not None)
            case "/openrpc.json":
                page = _make_page(_JSON, self.describe())
            case "/scenarios.json":
                page = _make_page(_JSON, _encode_gallery(first_of_month(now)))
            case _:
                page = _find_file(path)
        assert page is not None, "the path is a route"
        return compress(page) if accepts_gzip(accept_encoding) else page


def accepts_gzip(accept_encoding: bytes) -> bool:
    """Return whether Accept-Encoding allows gzip, by name or by `*`."""
    accepted: dict[str, bool] = {}
    for one in accept_encoding[:_MAX_ACCEPT_ENCODING].decode("latin-1").lower().split(","):
        coding, *parameters = (part.strip() for part in one.split(";"))
        accepted[coding] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return accepted.get("gzip", accepted.get("*", False))


def compress(page: Response) -> Response:
    status, headers, body = page
    return status, [*headers, (b"content-encoding", b"gzip")], _gzip(body)


@lru_cache(maxsize=256)
def _gzip(body: bytes) -> bytes:
    import gzip

    return gzip.compress(body, mtime=0)


@lru_cache(maxsize=1)
def reference_page(description: bytes, *, has_mailbox: bool) -> Response:
    """Return the reference of the methods, made from the OpenRPC document."""
    from tickover.server.web.api_reference import render

    return _make_page(_HTML, _assets().link(render(description, has_mailbox=has_mailbox)))


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


# The console's files

_CONSOLE: Final = Path(tickover.__file__).parent / "console"
_ASSET_PATH: Final = re.compile(r"/assets/[0-9a-f]{12}/(.+)")
_SCRIPT: Final = re.compile(rb'<script type="module" src="assets/([^"]+)">')
_IMPORT: Final = re.compile(rb'^import (?:\{[^}]*\} from )?"([^"]+)";$', re.MULTILINE)


def _find_file(path: str) -> Response | None:
    if page := console_pages().get(path):
        return page
    # During an upgrade, a server of another release may have sent the page that loads this file.
    match = _ASSET_PATH.fullmatch(path)
    if match and (body := _assets().contents.get(match[1])):
        return _make_page(_ASSETS[Path(path).suffix], body)
    return None


@cache
def console_pages() -> dict[str, Response]:
    """Return the console's files by path."""
    folder, assets = _CONSOLE, _assets()
    return {
        "/": _make_page(_HTML, assets.link((folder / "index.html").read_bytes()), _CONSOLE_POLICY),
        "/login": _make_page(_HTML, assets.link((folder / "login.html").read_bytes())),
        # Browsers request it for responses that name no icon, such as /openrpc.json.
        "/favicon.ico": _make_page(b"image/svg+xml", (folder / "icon.svg").read_bytes()),
        **{
            assets.path + name: _make_page(_ASSETS[Path(name).suffix], body, cache_control=_IMMUTABLE)
            for name, body in assets.contents.items()
        },
    }


class Assets(Struct, frozen=True):
    """The scripts and stylesheets. Their URLs contain a hash of all of them, so browsers can cache them forever."""

    contents: Mapping[str, bytes]
    path: str

    def link(self, html: bytes) -> bytes:
        """Complete the URLs of assets, and let the browser load all modules of a script at once."""
        html = _SCRIPT.sub(lambda found: self._preloads(found[1].decode()) + found[0], html)
        return html.replace(b'"assets/', f'"{self.path[1:]}'.encode())

    def _preloads(self, script: str) -> bytes:
        modules = [script]
        for module in modules:
            names = [join(dirname(module), name.decode()) for name in _IMPORT.findall(self.contents[module])]
            modules += [name for name in map(normpath, names) if name not in modules]
        return b"".join(b'<link rel="modulepreload" href="assets/%b">\n' % name.encode() for name in modules[1:])


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


def _get_from_mailbox(mailbox: Mailbox, path: str, query: bytes) -> Response:
    if path == "/mailbox/latest":
        return _get_latest_email(mailbox, query)
    if path == "/mailbox/emails.json":
        return _json_response({"emails": mailbox.list_emails()})
    match = _EMAIL_PATH.fullmatch(path)
    assert match is not None, "the path is a mailbox path"
    id, extension = match.groups()
    if extension == "json" and (email := mailbox.get_email(id)):
        return _json_response(email)
    if extension == "html" and (html := mailbox.get_html(id)) is not None:
        # The preview is on white paper even if the console is dark.
        html = html.replace('content="light dark"', 'content="light"')
        return _respond(_HTML, html.encode(), _EMAIL_POLICY, _NO_STORE)
    return text_response(404, b"No such email.\n")


def _get_latest_email(mailbox: Mailbox, query: bytes) -> Response:
    try:
        [to] = parse_qs(query.decode("latin-1"), max_num_fields=10)["to"]
        address = EmailAddress.parse(to)
    except (ValueError, KeyError):
        return text_response(400, b"Use /mailbox/latest?to=ADDRESS with one email address. Encode + as %2B.\n")
    email = mailbox.latest_email(address)
    return text_response(404, b"No email to this address.\n") if email is None else _json_response(email)


# Responses


def _make_page(
    content_type: bytes, body: bytes, policy: bytes = _POLICY, cache_control: Header = _NO_CACHE
) -> Response:
    """Return a response that can be compressed."""
    status, headers, body = _respond(content_type, body, policy, cache_control)
    return status, [*headers, (b"vary", b"accept-encoding")], body


def _json_response(value: object) -> Response:
    return _respond(_JSON, json.encode(value), _POLICY, _NO_STORE)


def _respond(content_type: bytes, body: bytes, policy: bytes, cache_control: Header) -> Response:
    headers = [
        (b"content-type", content_type),
        (b"content-security-policy", policy),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
        cache_control,
    ]
    return 200, headers, body
