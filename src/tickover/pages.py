"""The pages and their files, read from the package once, and the headers that keep them safe."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from msgspec import Struct

from tickover.mail.mailbox import Mailbox
from tickover.openrpc.page import render

Header = tuple[bytes, bytes]
Response = tuple[int, Sequence[Header], bytes]

_KINDS: Final = {
    "html": b"text/html; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "css": b"text/css; charset=utf-8",
}

# Nothing from elsewhere, nothing inline, no frame around it, and no text that turns into markup.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)

SAFETY: Final[list[Header]] = [
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
]

_FILES: Final = {
    "/login": "login.html",
    "/assets/login.js": "login.js",
    "/assets/tickover.css": "tickover.css",
}


class Site(Struct, frozen=True):
    """What there is beside the endpoint: each path with the whole answer to a GET, and the development mailbox."""

    pages: Mapping[str, Response]
    mailbox: Mailbox | None = None


def load_pages(description: bytes) -> dict[str, Response]:
    """Each path with the whole answer to a GET of it; `description` is the OpenRPC document."""
    pages = {path: _page(name) for path, name in _FILES.items()}
    reference = _response(_KINDS["html"], render(description))
    return {**pages, "/docs": reference, "/openrpc.json": _response(b"application/json", description)}


def _page(name: str) -> Response:
    return _response(_KINDS[name.rpartition(".")[2]], (files("tickover") / "console" / name).read_bytes())


def _response(kind: bytes, body: bytes) -> Response:
    return 200, [(b"content-type", kind), *SAFETY, (b"cache-control", b"no-cache")], body
