"""Measures the speed and the size of the console: the largest valid clock in a real browser.

Run it with `python -m bench.studies.console` on an otherwise idle machine. It needs Chromium.
"""

import asyncio
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page, async_playwright

from tests.support.console import open_console
from tests.support.large_clocks import create_grown_clock, largest_clock
from tests.support.program import Program

ROUNDS = 7
SIZES = {"desktop": (1280, 900), "phone": (390, 844), "4K": (3840, 2160)}

# From the click on a link to a clock until the browser has painted it: one frame, and the task after that frame.
_LEAVE = """async () => {
  location.hash = "#/clocks/new";
  await new Promise((resolve) => setTimeout(resolve, 500));
}"""
_OPEN = """async (id) => {
  performance.clearMeasures();
  performance.clearResourceTimings();
  const responded = new Promise((resolve) => {
    const seen = new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
      if (entry.name.endsWith("/rpc")) { seen.disconnect(); resolve(entry.responseEnd); }
    }));
    seen.observe({ type: "resource" });
  });
  location.hash = `#/clock/${id}`;
  const shown = new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector("tick-timeline svg.plot text")) requestAnimationFrame(look);
      else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
  });
  const [from, to] = await Promise.all([responded, shown]);
  const drawn = performance.getEntriesByName("tickover draws the timeline").map((entry) => entry.duration);
  return { painted: to - from, drawn: Math.max(...drawn) };
}"""

# The slider moves from one end to the other within three seconds, one step for each frame.
_SCRUB = """async () => {
  const slider = document.querySelector("input.scrubber");
  const gaps = [];
  const works = [];
  let last = await new Promise(requestAnimationFrame);
  for (let step = 0; step <= 180; step += 1) {
    slider.value = Math.round((Number(slider.max) * step) / 180);
    slider.dispatchEvent(new Event("input"));
    const began = await new Promise(requestAnimationFrame);
    gaps.push(began - last);
    last = began;
    works.push(await new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.now() - began);
      channel.port2.postMessage(null);
    }));
  }
  return { gaps: gaps.slice(2), works };
}"""


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):6.1f} ms ({min(values):.1f} to {max(values):.1f})"


class CpuTime:
    """The CPU time of the page's main thread, which other programs hardly affect."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def of(self, page: Page, script: str, *arguments: str) -> tuple[Any, float]:
        """Return the result of a script and its CPU milliseconds."""
        before = await self._spent()
        found = await page.evaluate(script, *arguments)
        return found, await self._spent() - before

    async def _spent(self) -> float:
        metrics = (await self._session.send("Performance.getMetrics"))["metrics"]
        return next(1000 * float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


async def measure(page: Page, id: str) -> None:
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    work = CpuTime(session)
    opened: list[Any] = []
    efforts: list[float] = []
    for _ in range(ROUNDS):
        await page.evaluate(_LEAVE)
        found, effort = await work.of(page, _OPEN, id)
        opened.append(found)
        efforts.append(effort)
    print(f"    work for the whole page            {spread(efforts)}")
    print(f"    the timeline is drawn in           {spread([one['drawn'] for one in opened])}")
    print(f"    from the response to the whole page  {spread([one['painted'] for one in opened])}")
    scrubbed, effort = await work.of(page, _SCRUB)
    late = sum(gap > 25 for gap in scrubbed["gaps"])
    print(f"    scrubbing: work for a frame        {effort / len(scrubbed['works']):6.1f} ms on average")
    print(f"    scrubbing: time until it is done   {spread(scrubbed['works'])}")
    print(f"    scrubbing: frames that came late   {late} of {len(scrubbed['gaps'])}")


def name_of(currencies: int) -> str:
    return "one currency" if currencies == 1 else f"{currencies} currencies"


async def print_sizes(page: Page) -> None:
    """Print the sizes of the page's files as transferred."""
    sent: dict[str, int] = await page.evaluate("""() => Object.fromEntries(
      performance.getEntries().filter(({ name, entryType }) => entryType === "navigation" || name.includes("/assets/"))
        .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize]))""")
    print(f"{len(sent)} files, {sum(sent.values()) / 1000:.1f} kB as they are sent")
    for name, size in sorted(sent.items(), key=lambda entry: -entry[1]):
        print(f"    {name:<30} {size / 1000:5.1f} kB")


async def print_times(folder: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with Program(folder) as program:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            async with open_console(browser, program) as console:
                await console.open("#/clocks/new")
                await console.page.wait_for_load_state("networkidle")
                await print_sizes(console.page)
            for name, (width, height) in SIZES.items():
                async with open_console(browser, program, viewport={"width": width, "height": height}) as console:
                    largest = {name_of(count): console.create(largest_clock(count)) for count in (1, 3, 100)}
                    ids = {f"2,600 items, {what}": id for what, id in largest.items()}
                    ids["5,000 items"] = create_grown_clock(console)
                    await console.open("#/clocks/new")
                    for what, id in ids.items():
                        print(f"{name}, {what}")
                        await measure(console.page, id)
            await browser.close()


def main() -> None:
    print(f"{os.cpu_count()} cores, of which {os.getloadavg()[0]:.1f} are busy")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(print_times(Path(folder)))


if __name__ == "__main__":
    main()
