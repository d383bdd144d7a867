"""Runs the examples in docs/api.md. `python -m scripts.update_transcripts` updates the responses on the page.

`json` and `http` blocks come in pairs: a request to /rpc and its response. A `text` block shows the newest email. The
comment `<!-- as: ana -->` before a request sends the token of ana@example.test, and signs her in first if necessary.

The page starts at 2027-01-01T12:00:00Z without users. IDs come from a seed, so responses are the same in every run. If
an ID, token, code or cursor changes in a response, the requests below use the new value. A response that ends with …
keeps its number of lines.
"""

import asyncio
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.repository import ROOT
from tests.support.world import HttpResponse, World, open_world
from tickover.server.web.api_reference import pretty

PAGE: Final = ROOT / "docs" / "api.md"

WIDTH: Final = 110
_PART: Final = re.compile(
    r"^<!-- as: (?P<caller>[^\n]+) -->$"
    r"|^```(?P<kind>json|http|text)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_GENERATED: Final = re.compile(r"(?:clock|token)_[0-9a-f-]{36}|cursor_[0-9a-f]{32}|tk[oa]_[\w-]{43}|\b[0-9]{6}\b")
_EMAIL_ID: Final = re.compile(r"(?<=[0-9]Z-)[0-9]+-[0-9]{6}")
"""The part of an email's ID that differs between runs."""


async def update_page(page: str, folder: Path) -> str:
    """Return the page with the current responses."""
    async with open_world(folder) as world:
        runner = _PageRunner(world)
        parts, position = [], 0
        for part in _PART.finditer(page):
            if part["caller"]:
                await runner.select_caller(part["caller"])
                continue
            parts += [page[position : part.start("text")], await runner.run(part["kind"], part["text"])]
            position = part.end("text")
        assert not runner.has_pending_response, "the page ends with a request"
        return "".join([*parts, page[position:]])


class _PageRunner:
    """Runs the requests of the page on a server, and keeps the tokens of its users."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tokens: dict[str, str] = {}
        self._caller = ""
        self._response: HttpResponse | None = None
        self._replacements: dict[str, str] = {}

    @property
    def has_pending_response(self) -> bool:
        return self._response is not None

    async def select_caller(self, name: str) -> None:
        """Send the next request as this user."""
        self._caller = name
        if name not in self._tokens:
            self._tokens[name] = await self._world.sign_in(f"{name}@example.test")

    async def run(self, kind: str, text: str) -> str:
        """Send a request and return it, or return the current response or email."""
        if kind == "text":
            return self._track(text, _format_email(self._world))
        if self._response is None:
            request = _GENERATED.sub(lambda found: self._replacements.get(found[0], found[0]), text)
            self._response = await self._send(kind, request.removesuffix("\n"))
            self._remember(request)
            return request
        response, self._response = self._response, None
        formatted = _format_response(response, text if kind == "http" else "")
        if text.endswith("\n…\n"):
            formatted = "".join(formatted.splitlines(keepends=True)[: text.count("\n") - 1]) + "…\n"
        return self._track(text, formatted)

    async def _send(self, kind: str, request: str) -> HttpResponse:
        caller, self._caller = self._caller, ""
        if kind == "json":
            return await self._world.post(request.encode(), self._tokens.get(caller))
        head, _, body = request.partition("\n\n")
        start, *lines = head.splitlines()
        method, path, _ = start.split()
        headers = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        return await self._world.request(method, path, body.encode(), headers)

    def _remember(self, request: str) -> None:
        """Store the token of a sign-in."""
        if self._response and b'"result":{"token":' in self._response.body:
            name = json.loads(request)["params"]["email"].partition("@")[0]
            self._tokens[name] = self._response.json["result"]["token"]

    def _track(self, old: str, new: str) -> str:
        self._replacements.update(zip(_GENERATED.findall(old), _GENERATED.findall(new), strict=False))
        return new


def _format_email(world: World) -> str:
    email = world.emails()[-1]
    return f"To: {email['To']}\nSubject: {email['Subject']}\n"


def _format_response(response: HttpResponse, previous: str) -> str:
    """Return the body, after the status and headers if the page has them. The page selects the headers."""
    is_json = response.headers.get("content-type") == "application/json"
    body = _EMAIL_ID.sub("…", f"{pretty(response.json, WIDTH)}\n") if is_json else response.body.decode()
    if not previous:
        return body
    names = re.findall(r"^([\w-]+): ", previous.partition("\n\n")[0], re.MULTILINE)
    values = {**response.headers, "x-request-id": "req_…"}
    head = "".join(f"{name}: {values[name.lower()]}\n" for name in names if name.lower() in values)
    return f"HTTP/1.1 {response.status}\n{head}" + (f"\n{body}" if body else "")


def main() -> None:
    with TemporaryDirectory() as folder:
        PAGE.write_text(asyncio.run(update_page(PAGE.read_text("utf-8"), Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
