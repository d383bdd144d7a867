"""Runs the examples on documentation pages. `python -m scripts.update_transcripts` updates the responses on the pages.

`json` and `http` blocks come in pairs: a request to /rpc and its response. A `text` block shows the newest email. HTML
comments before a request control the server:

    <!-- as: ana -->               send the token of ana@example.test, and sign her in first if necessary
    <!-- pass: 60 seconds -->      let time pass

A page starts at 2027-01-01T12:00:00Z without users. IDs come from a seed, so responses are the same in every run. If an
ID, token, code or cursor changes in a response, the requests below use the new value. A response that ends with … keeps
its number of lines.
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

PAGES: Final = ("docs/api.md", "docs/concepts.md")

WIDTH: Final = 110
_PART: Final = re.compile(
    r"^<!-- (?P<directive>as|pass): (?P<argument>[^\n]+) -->$"
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
            if part["directive"]:
                await runner.apply(part["directive"], part["argument"])
                continue
            parts += [page[position : part.start("text")], await runner.run(part["kind"], part["text"])]
            position = part.end("text")
        assert not runner.has_pending_response, "the page ends with a request"
        return "".join([*parts, page[position:]])


class _PageRunner:
    """Runs the requests of one page on a server, and keeps the tokens of its users."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tokens: dict[str, str] = {}
        self._caller = ""
        self._response: HttpResponse | None = None
        self._replacements: dict[str, str] = {}

    @property
    def has_pending_response(self) -> bool:
        return self._response is not None

    async def apply(self, directive: str, argument: str) -> None:
        match directive:
            case "as":
                self._caller = argument
                if argument not in self._tokens:
                    self._tokens[argument] = await self._world.sign_in(f"{argument}@example.test")
            case "pass":
                amount, unit = argument.split()
                self._world.pass_time(**{unit: float(amount)})

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
            # A login link contains no address. On the pages, only Bo uses links.
            name = json.loads(request)["params"].get("email", "bo").partition("@")[0]
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
    for name in PAGES:
        page = ROOT / name
        with TemporaryDirectory() as folder:
            page.write_text(asyncio.run(update_page(page.read_text("utf-8"), Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
