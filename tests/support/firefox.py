"""Finds and starts Debian's Firefox, and drives it with WebDriver BiDi.

Playwright needs commands that the Firefox of Debian lacks.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect

from tests.support.debian_packages import require
from tests.support.program import wait_until

_BROWSERS: Final = ("firefox-esr", "firefox")
_WAIT_SECONDS: Final = 60
_ADDRESS: Final = re.compile(r"^WebDriver BiDi listening on (ws://\S+)$", re.MULTILINE)

_PREFERENCES: Final = (
    ("ui.prefersReducedMotion", 1),
    # One process for pages, and none in reserve.
    ("fission.autostart", "false"),
    ("dom.ipc.processCount", 1),
    ("dom.ipc.processPrelaunch.enabled", "false"),
    ("browser.tabs.remote.separatePrivilegedContentProcess", "false"),
    # Nothing to show or to fetch at the start.
    ("browser.startup.page", 0),
    ("browser.newtabpage.enabled", "false"),
    ("browser.aboutwelcome.enabled", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("app.normandy.enabled", "false"),
    ("extensions.systemAddon.update.enabled", "false"),
    ("services.settings.server", '"data:,"'),
)

_REPORT_VIOLATIONS: Final = """() => addEventListener("securitypolicyviolation", (violation) =>
  console.error(`${violation.violatedDirective} forbids ${violation.blockedURI}`))"""

# Waits until a pointer can hit the element: it keeps its position for a frame, and no other element covers it.
_SCROLL_TO: Final = """async (element) => {
  element.scrollIntoView({ block: "center", behavior: "instant" });
  for (let last = ""; ; ) {
    await new Promise(requestAnimationFrame);
    const { x, y, width, height } = element.getBoundingClientRect();
    const position = [x, y, width, height].join();
    if (position === last && element.contains(document.elementFromPoint(x + width / 2, y + height / 2))) return;
    last = position;
  }
}"""

# Firefox can find elements by accessible names too, but then it keeps an accessibility tree, which takes seconds.
_SELECTORS: Final = {"button": "button", "link": "a", "menuitem": "[role=menuitem]", "textbox": "input"}
_FIND: Final = """() => [...document.querySelectorAll(SELECTOR)].find((element) => element.checkVisibility()
  && (element.ariaLabel ?? (element.labels?.[0] ?? element).innerText).trim().replace(/\\s+/g, " ") === NAME)"""

# Returns the text of the page if the condition stays false.
_WAIT: Final = """async () => {
  for (const start = performance.now(); !(CONDITION); await new Promise(requestAnimationFrame))
    if (performance.now() - start > 50_000) return document.body.innerText;
  return "";
}"""


def require_firefox() -> str:
    """Return the path of Firefox. Skip the test if it can't be installed."""
    return require(_find_browser, _BROWSERS[0])


def _find_browser() -> str | None:
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def is_internal_error(entry: dict[str, Any], origin: str) -> bool:
    """Return whether a log entry is an error that Firefox reports about its own objects.

    No script of the page with this origin is on the stack of such an error.
    """
    frames = (entry.get("stackTrace") or {}).get("callFrames", [])
    return entry["text"].startswith("Error: Permission denied to access property") and not any(
        frame["url"].startswith(f"{origin}/") for frame in frames
    )


class FirefoxTab:
    """A tab that records the messages of its console."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._commands = 0
        self._context = ""
        self._origin = ""
        self.messages: list[str] = []

    async def prepare(self) -> None:
        await self._send("session.new", capabilities={})
        await self._send("session.subscribe", events=["log.entryAdded"])
        await self._send("script.addPreloadScript", functionDeclaration=_REPORT_VIOLATIONS)
        self._context = (await self._send("browsingContext.getTree"))["contexts"][0]["context"]
        size = {"width": 1280, "height": 900}
        await self._send("browsingContext.setViewport", context=self._context, viewport=size)

    async def goto(self, url: str) -> None:
        self._origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        await self._send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    async def evaluate(self, function: str, *arguments: Any) -> Any:
        """Return the result of a JavaScript function, which can be a string, a number or a boolean."""
        return (await self._call(function, *arguments)).get("value")

    async def _call(self, function: str, *arguments: Any) -> Any:
        call = {"functionDeclaration": function, "arguments": list(arguments), "awaitPromise": True}
        result = await self._send("script.callFunction", target={"context": self._context}, **call)
        assert result["type"] == "success", result
        return result["result"]

    async def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        page = await self.evaluate(_WAIT.replace("CONDITION", condition))
        assert page == "", f"{condition} stays false on this page:\n{page}"

    async def wait_for_text(self, selector: str, text: str) -> None:
        """Wait until an element contains the text."""
        await self.wait_for(f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(text)})")

    async def text(self, selector: str) -> str:
        """Wait for an element, and return its text."""
        await self.wait_for(f"document.querySelector({json.dumps(selector)})?.innerText")
        return str(await self.evaluate(f"() => document.querySelector({json.dumps(selector)}).innerText"))

    async def find(self, role: str, name: str) -> Any:
        """Wait for a visible element with this role and name, and return it."""
        find = _FIND.replace("SELECTOR", json.dumps(_SELECTORS[role])).replace("NAME", json.dumps(name))
        await self.wait_for(f"({find})()")
        return {"sharedId": (await self._call(find))["sharedId"]}

    async def click(self, role: str, name: str) -> None:
        await self._click(await self.find(role, name))

    async def click_at(self, selector: str, fraction: float) -> None:
        """Click at a fraction of the width of an element."""
        locator = {"type": "css", "value": selector}
        found = await self._send("browsingContext.locateNodes", context=self._context, locator=locator)
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        width = await self.evaluate("(element) => element.getBoundingClientRect().width", element)
        await self._click(element, round((fraction - 0.5) * width))

    async def _click(self, element: Any, x: int = 0) -> None:
        """Click beside the center of an element."""
        await self.evaluate(_SCROLL_TO, element)
        move = {"type": "pointerMove", "x": x, "y": 0, "origin": {"type": "element", "element": element}}
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        await self._perform({"type": "pointer", "id": "mouse", "actions": [move, *press]})

    async def type(self, text: str) -> None:
        """Type into the focused element."""
        keys = [{"type": type, "value": key} for key in text for type in ("keyDown", "keyUp")]
        await self._perform({"type": "key", "id": "keyboard", "actions": keys})

    async def screenshot(self) -> str:
        """Return an image of the page in Base64."""
        image = await self._send("browsingContext.captureScreenshot", context=self._context, origin="document")
        return str(image["data"])

    async def _perform(self, source: dict[str, Any]) -> None:
        await self._send("input.performActions", context=self._context, actions=[source])

    async def _send(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result. Record the events that come before it."""
        self._commands += 1
        await self._socket.send(json.dumps({"id": self._commands, "method": method, "params": params}))
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.recv(), _WAIT_SECONDS))
            if message["type"] == "event":
                self._record(message["params"])
            elif message["id"] == self._commands:
                assert message["type"] == "success", message
                return message["result"]

    def _record(self, entry: dict[str, Any]) -> None:
        if not is_internal_error(entry, self._origin):
            self.messages.append(f"{entry['level']}: {entry['text']}")


@contextmanager
def _started(folder: Path) -> Iterator[str]:
    """Run Firefox with a new profile in `folder`. Yield the address for WebDriver BiDi."""
    profile, log = folder / "profile", folder / "firefox.txt"
    profile.mkdir()
    (profile / "user.js").write_text(
        "".join(f"user_pref({json.dumps(name)}, {value});\n" for name, value in _PREFERENCES)
    )
    command = [require_firefox(), "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
    # Firefox doesn't start if the home folder belongs to another user.
    environment = {**os.environ, "HOME": str(folder)}
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
    try:
        wait_until(lambda: _ADDRESS.search(log.read_text()) or process.poll() is not None)
        address = _ADDRESS.search(log.read_text())
        assert address, log.read_text()
        yield address[1]
    finally:
        # Nobody needs the profile, so Firefox and its children can end at once.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_WAIT_SECONDS)


@asynccontextmanager
async def open_firefox(folder: Path) -> AsyncIterator[FirefoxTab]:
    """Start Firefox with its files in `folder`, and open a tab."""
    with _started(folder) as address:
        async with connect(f"{address}/session", max_size=None) as socket:
            tab = FirefoxTab(socket)
            await tab.prepare()
            yield tab
