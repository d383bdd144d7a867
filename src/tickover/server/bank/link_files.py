"""The files of Link: the script for an app's page, and the page that it shows in a frame.

Only that page may be framed. It keeps nothing in the browser, and nothing works there without a link token.
"""

from functools import cache
from pathlib import Path
from typing import Final

import tickover
from tickover.server.http1.http_messages import Response

_FOLDER: Final = Path(tickover.__file__).parent
_PREFIX: Final = "/link/v2/stable/"
_FILES: Final = {
    "link-initialize.js": "link/link-initialize.js",
    "link.html": "link/link.html",
    "link.js": "link/link.js",
    "link.css": "link/link.css",
    "tokens.css": "console/css/tokens.css",
}
_TYPES: Final = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".html": b"text/html; charset=utf-8",
}
# As for the pages of the console, except that pages of all origins may show it in a frame.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    b"form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def is_link_file(path: str) -> bool:
    return path.startswith(_PREFIX) and path.removeprefix(_PREFIX) in _FILES


@cache
def link_file(path: str) -> Response:
    file = _FOLDER / _FILES[path.removeprefix(_PREFIX)]
    headers = [
        (b"content-type", _TYPES[file.suffix]),
        (b"content-security-policy", _POLICY),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        # Pages that load only what allows it can use the script.
        (b"cross-origin-resource-policy", b"cross-origin"),
        (b"cache-control", b"no-cache"),
    ]
    return 200, headers, file.read_bytes()
