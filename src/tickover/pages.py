"""The pages and their files, read from the package once, and the headers that keep them safe."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

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

_SAFETY: Final[list[Header]] = [
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]

_FILES: Final = {
    "/login": "login.html",
    "/assets/login.js": "login.js",
    "/assets/tickover.css": "tickover.css",
}


def load_pages() -> dict[str, Response]:
    """Each path with the whole answer to a GET of it."""
    return {path: _page(name) for path, name in _FILES.items()}


def _page(name: str) -> Response:
    kind = _KINDS[name.rpartition(".")[2]]
    return 200, [(b"content-type", kind), *_SAFETY], (files("tickover") / "console" / name).read_bytes()
