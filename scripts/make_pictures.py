"""Takes the pictures of the console in docs/. Run by `make pictures`."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.async_api import ViewportSize, async_playwright

from tests.support.chromium import require_chromium
from tests.support.program import Program

ROOT: Final = Path(__file__).parent.parent
_START: Final = "2026-11-01T00:00:00Z"
_WINDOW: Final = ViewportSize(width=1280, height=900)
_PHONE: Final = ViewportSize(width=390, height=844)


class Pictures:
    """A server with two clocks. The second one is a fork of the first, with a higher rent."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._token = program.sign_in("ana@example.test")
        clock = self._call("createTestClockFromScenario", scenario="salary-and-rent", start=_START)["clock"]
        self.clock: str = clock["id"]
        fork = self._call("forkTestClock", id=self.clock, name="Bigger flat")["clock"]
        self.fork: str = fork["id"]
        rents = [item for item in fork["pendingTransactions"] if item["name"] == "Rent"]
        higher = [{key: rent[key] for key in ("name", "currency", "type", "at")} | {"amount": 1400} for rent in rents]
        cancelled = [rent["id"] for rent in rents]
        self._call("amendTestClock", id=self.fork, cancel=cancelled, add={"transactions": higher})
        self._call("advanceTestClock", id=self.clock, frozenTime="2027-01-16T00:00:00Z")
        broken = {"balance": {"currency": "EUR", "atLeast": 600}}
        self._call("updateTestClock", id=self.clock, expectations=[*clock["expectations"], broken])

    def _call(self, method: str, **params: Any) -> Any:
        return self._program.result(method, params, self._token)

    async def take_all(self) -> None:
        preview = f"#/clock/{self.clock}?t=2027-03-16T00:00:00Z"
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=require_chromium(), args=["--no-sandbox"])
            for name, size, address, drawn in (
                ("console", _WINDOW, preview, ".strip .violation"),
                ("phone", _PHONE, preview, ".strip .violation"),
                ("compare", _WINDOW, f"#/compare/{self.clock}?with={self.fork}", ".differences"),
            ):
                context = await browser.new_context(viewport=size, reduced_motion="reduce", has_touch=size is _PHONE)
                await context.add_init_script(self._storage_script())
                page = await context.new_page()
                await page.goto(f"{self._program.url}/{address}")
                await page.wait_for_selector(drawn, state="attached")
                await page.wait_for_load_state("networkidle")
                await page.screenshot(path=ROOT / "docs" / f"{name}.png")
                await context.close()
            await browser.close()

    def _storage_script(self) -> str:
        session = {"token": self._token, "email": "ana@example.test", "userId": ""}
        return f"localStorage.setItem('tickover', {json.dumps(json.dumps(session))});"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, Program(Path(folder)) as program:
        asyncio.run(Pictures(program).take_all())
