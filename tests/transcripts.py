"""Pages whose examples are run. `python -m tests.transcripts` writes their answers anew.

On such a page the fences `json` and `http` come in pairs: a request, sent to /rpc as it stands, and its answer. A fence
`text` shows the newest letter. Comments before a request, which readers do not see, set the scene:

    <!-- as: ana -->               the request carries the token of ana@example.test, who signs in if she has not
    <!-- pass: 60 seconds -->      so much time passes first
    <!-- begin: 1 live clock -->   a new world begins, in which a user may have so many live clocks
    <!-- mail: refused -->         the mailer takes no letter from here on; `accepted` mends it
    <!-- store: closed -->         the store stops, as it does when the server shuts down

A page begins at 2027-01-01T12:00:00Z with nobody known, and ids come from a seed, so answers are the same at every run.
An id, token, code or cursor that changes in an answer is carried into the requests below it. An answer whose last line
is … stays as long as it is on the page.
"""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.world import Answer, World, open_world

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = ("docs/api.md", "docs/concepts.md")

_WIDTH: Final = 110
_PART: Final = re.compile(
    r"^<!-- (?P<word>as|pass|begin|mail|store): (?P<wish>[^\n]+) -->$|^```(?P<kind>json|http|text)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_NAME: Final = re.compile(r"clock_[0-9a-f-]{36}|cursor_[0-9a-f]{32}|tko_[\w-]{43}|\b[0-9]{6}\b")
_ID_OF_LETTER: Final = re.compile(r"(?<=[0-9]Z-)[0-9]+-[0-9]{6}")
"""What is of a process in it, and so at every run another."""
_DEFAULT_MOST_CLOCKS: Final = 10_000


async def rewrite(page: str, folder: Path) -> str:
    """The page as the program would have it."""
    async with _open_stage(folder) as stage:
        written, position = [], 0
        for part in _PART.finditer(page):
            if part["word"]:
                await stage.obey(part["word"], part["wish"])
                continue
            written += [page[position : part.start("text")], await stage.play(part["kind"], part["text"])]
            position = part.end("text")
        assert not stage.waits_for_an_answer, "the page ends with a request"
        return "".join([*written, page[position:]])


class _Stage:
    """A page's world, and what is known of its people."""

    def __init__(self, folder: Path, worlds: AsyncExitStack) -> None:
        self._folder = folder
        self._worlds = worlds
        self._world: World
        self._tokens: dict[str, str] = {}
        self._caller = ""
        self._answer: Answer | None = None
        self._carried: dict[str, str] = {}

    @property
    def waits_for_an_answer(self) -> bool:
        return self._answer is not None

    async def begin(self, most_clocks: int) -> None:
        folder = self._folder / str(len(list(self._folder.iterdir())))
        folder.mkdir()
        self._world = await self._worlds.enter_async_context(open_world(folder, max_clocks_per_user=most_clocks))
        self._tokens.clear()

    async def obey(self, word: str, wish: str) -> None:
        match word:
            case "as":
                self._caller = wish
                if wish not in self._tokens:
                    self._tokens[wish] = await self._world.sign_in(f"{wish}@example.test")
            case "pass":
                amount, unit = wish.split()
                self._world.pass_time(**{unit: float(amount)})
            case "begin":
                await self.begin(int(wish.split(maxsplit=1)[0]))
            case "mail" if wish == "refused":
                shutil.rmtree(self._world.outbox)
            case "mail":
                self._world.outbox.mkdir()
            case "store":
                await self._world.store.close()

    async def play(self, kind: str, text: str) -> str:
        """A request is sent and given back; an answer or a letter is given back as it should be."""
        if kind == "text":
            return self._carry(text, _shown_letter(self._world))
        if self._answer is None:
            request = _NAME.sub(lambda found: self._carried.get(found[0], found[0]), text)
            self._answer = await self._send(kind, request.removesuffix("\n"))
            self._remember(request)
            return request
        answer, self._answer = self._answer, None
        shown = _shown_answer(answer, text if kind == "http" else "")
        if text.endswith("\n…\n"):
            shown = "".join(shown.splitlines(keepends=True)[: text.count("\n") - 1]) + "…\n"
        return self._carry(text, shown)

    async def _send(self, kind: str, request: str) -> Answer:
        caller, self._caller = self._caller, ""
        if kind == "json":
            return await self._world.post(request.encode(), self._tokens.get(caller))
        head, _, body = request.partition("\n\n")
        start, *lines = head.splitlines()
        method, path, _ = start.split()
        headers = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        return await self._world.request(method, path, body.encode(), headers)

    def _remember(self, request: str) -> None:
        """Keep the token of whoever has just signed in."""
        if self._answer and b'"result":{"token":' in self._answer.body:
            # A link does not say whose it is; on our pages links are Bo's.
            name = json.loads(request)["params"].get("email", "bo").partition("@")[0]
            self._tokens[name] = self._answer.json["result"]["token"]

    def _carry(self, old: str, new: str) -> str:
        self._carried.update(zip(_NAME.findall(old), _NAME.findall(new), strict=False))
        return new


@asynccontextmanager
async def _open_stage(folder: Path) -> AsyncIterator[_Stage]:
    async with AsyncExitStack() as worlds:
        stage = _Stage(folder, worlds)
        await stage.begin(_DEFAULT_MOST_CLOCKS)
        yield stage


def _shown_letter(world: World) -> str:
    letter = world.letters()[-1]
    return f"To: {letter['To']}\nSubject: {letter['Subject']}\n"


def _shown_answer(answer: Answer, shown_before: str) -> str:
    """The body; below the status and the headers where the page shows them. Which headers is the page's choice."""
    is_json = answer.headers.get("content-type") == "application/json"
    body = _ID_OF_LETTER.sub("…", f"{pretty(answer.json)}\n") if is_json else answer.body.decode()
    if not shown_before:
        return body
    names = re.findall(r"^([\w-]+): ", shown_before.partition("\n\n")[0], re.MULTILINE)
    values = {**answer.headers, "x-request-id": "req_…"}
    head = "".join(f"{name}: {values[name.lower()]}\n" for name in names if name.lower() in values)
    return f"HTTP/1.1 {answer.status}\n{head}" + (f"\n{body}" if body else "")


def pretty(value: Any, indent: str = "", lead: str = "") -> str:
    """JSON as a person would lay it out: on one line what fits there."""
    line = lead + json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list):
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        members, brackets = [pretty(member, deeper) for member in value], "[]"
    else:
        members, brackets = [pretty(member, deeper, f'"{name}": ') for name, member in value.items()], "{}"
    inside = ",\n".join(deeper + member for member in members)
    return f"{lead}{brackets[0]}\n{inside}\n{indent}{brackets[1]}"


def main() -> None:
    for name in PAGES:
        page = ROOT / name
        with TemporaryDirectory() as folder:
            page.write_text(asyncio.run(rewrite(page.read_text("utf-8"), Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
