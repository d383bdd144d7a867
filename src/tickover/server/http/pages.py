"""All that there is to GET beside the health checks: the pages and their files, read from the package once, the gallery
of scenarios, the development mailbox, and the headers that keep them safe.
"""

import re
import zlib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct, field, json

from tickover.api.limits import RESEND_INTERVAL
from tickover.api.timestamps import Instant
from tickover.server.domain import email_addresses
from tickover.server.http.messages import Header, Response
from tickover.server.http.scenario_gallery import ScenarioGallery
from tickover.server.mail.email_pages import LetterPage
from tickover.server.mail.mailbox import ID, Mailbox
from tickover.server.openrpc.page import render

_HTML: Final = b"text/html; charset=utf-8"
_JSON: Final = b"application/json"
_ASSETS: Final = {"js": b"text/javascript; charset=utf-8", "css": b"text/css; charset=utf-8"}
_TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")

# Nothing from elsewhere, nothing inline, no frame around it, and no text that turns into markup.
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
# The console shows letters in frames.
_CONSOLE_POLICY: Final = _POLICY + b"; frame-src 'self'"
# Whatever is in a letter, it is shown without scripts, forms and addresses of its own, and only by our pages.
_LETTER_POLICY: Final = (
    "sandbox; default-src 'none'; style-src '{}'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)


def _safety(policy: bytes) -> list[Header]:
    return [
        (b"content-security-policy", policy),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


class Page(Struct, frozen=True):
    """The whole answer to a GET, as it is and compressed."""

    plain: Response
    packed: Response

    def answer(self, accept_encoding: bytes) -> Response:
        return self.packed if accepts_gzip(accept_encoding) else self.plain


class Site(Struct, frozen=True):
    """What there is beside the endpoint."""

    pages: Mapping[str, Page]
    mailbox: Mailbox | None = None
    gallery: ScenarioGallery = field(default_factory=ScenarioGallery)
    resend_seconds: int = int(RESEND_INTERVAL.total_seconds())

    def routes(self) -> list[str]:
        """Every path of `has`, with `{id}` in the place of an email's id."""
        letters = [f"/mailbox/emails/{{id}}.{form}" for form in _LETTER_FORMS]
        return [*_GENERATED, *self.pages, *([*_MAIL_PATHS, *letters] if self.mailbox is not None else [])]

    def has(self, path: str) -> bool:
        """Whether there may be something to GET."""
        return path in _GENERATED or path in self.pages or (self.mailbox is not None and _is_mail(path))

    async def get(self, path: str, query: bytes, accept_encoding: bytes, now: Instant) -> Response:
        """The answer to a GET of a path that there is."""
        if path == "/site.json":
            return _fresh({"mailbox": self.mailbox is not None, "resendSeconds": self.resend_seconds})
        if path == "/scenarios.json":
            return page_of(_JSON, await self.gallery.to_json(now)).answer(accept_encoding)
        if self.mailbox is not None and _is_mail(path):
            return await _mail(self.mailbox, path, query)
        return self.pages[path].answer(accept_encoding)


def load_pages(description: bytes) -> dict[str, Page]:
    """Each path with the answer to a GET of it; `description` is the OpenRPC document."""
    return {
        **_console(),
        "/docs": page_of(_HTML, render(description)),
        "/openrpc.json": page_of(_JSON, description),
    }


@cache
def _console() -> dict[str, Page]:
    folder = files("tickover.server") / "console"
    content = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    assets = {
        f"/assets/{kind}/{file.name}": page_of(content_type, file.read_bytes())
        for kind, content_type in _ASSETS.items()
        for file in sorted((folder / kind).iterdir(), key=lambda file: file.name)
    }
    return {
        "/": page_of(_HTML, content["index.html"], _CONSOLE_POLICY),
        "/login": page_of(_HTML, content["login.html"]),
        # Browsers ask for it beside every answer that names no icon, such as /openrpc.json.
        "/favicon.ico": page_of(b"image/svg+xml", content["icon.svg"]),
        **assets,
    }


@lru_cache(maxsize=256)
def page_of(kind: bytes, body: bytes, policy: bytes = _POLICY) -> Page:
    headers = [
        (b"content-type", kind),
        *_safety(policy),
        (b"cache-control", b"no-cache"),
        (b"vary", b"accept-encoding"),
    ]
    return Page((200, headers, body), (200, [*headers, (b"content-encoding", b"gzip")], pack(body)))


def pack(body: bytes) -> bytes:
    """As gzip, as small as it gets: with as much memory as there may be, which gzip.compress does not take."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL + 1)
    return packing.compress(body) + packing.flush()


_MAX_ACCEPT_ENCODING = 1000


def accepts_gzip(accept_encoding: bytes) -> bool:
    """Whether a client takes gzip, by what its Accept-Encoding says of it, or else of all codings."""
    told: dict[str, bool] = {}
    for one in accept_encoding[:_MAX_ACCEPT_ENCODING].decode("latin-1").lower().split(","):
        coding, *parameters = (part.strip() for part in one.split(";"))
        told[coding] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return told.get("gzip", told.get("x-gzip", told.get("*", False)))


_GENERATED: Final = ("/scenarios.json", "/site.json")
_MAIL_PATHS: Final = ("/mailbox/latest", "/mailbox/emails.json")
_LETTER_FORMS: Final = ("json", "html")
_LETTER_PATH: Final = re.compile(rf"/mailbox/emails/({ID.pattern})\.({'|'.join(_LETTER_FORMS)})")


def _is_mail(path: str) -> bool:
    return path in _MAIL_PATHS or bool(_LETTER_PATH.fullmatch(path))


async def _mail(mailbox: Mailbox, path: str, query: bytes) -> Response:
    if path == "/mailbox/latest":
        return await _latest_letter(mailbox, query)
    if path == "/mailbox/emails.json":
        return _fresh({"emails": await mailbox.letters()})
    found = _LETTER_PATH.fullmatch(path)
    assert found is not None, "nothing else is mail"
    id, form = found.groups()
    letter = await (mailbox.letter(id) if form == "json" else mailbox.page(id))
    if letter is None:
        return 404, [_TEXT], b"There is no such letter.\n"
    return _framed(letter) if isinstance(letter, LetterPage) else _fresh(letter)


async def _latest_letter(mailbox: Mailbox, query: bytes) -> Response:
    try:
        # A query that names too much, or no address, or two, is all the same mistake.
        [given] = parse_qs(query.decode("latin-1"), max_num_fields=10)["to"]
        address = email_addresses.parse(given)
    except (ValueError, KeyError):
        return 400, [_TEXT], b"Say whose letter: /mailbox/latest?to=ADDRESS, with + written as %2B.\n"
    letter = await mailbox.latest(address)
    if letter is None:
        return 404, [_TEXT], b"There is no letter to this address.\n"
    return _fresh(letter)


def _fresh(told: object) -> Response:
    headers = [(b"content-type", _JSON), *_safety(_POLICY), (b"cache-control", b"no-store")]
    return 200, headers, json.encode(told)


def _framed(letter: LetterPage) -> Response:
    policy = _LETTER_POLICY.format(letter.style_hash).encode()
    return 200, [(b"content-type", _HTML), *_safety(policy), (b"cache-control", b"no-store")], letter.body
