"""Measures the speed and the size of the console: the largest valid clock in a real browser.

Run it with `python -m lab.bench.studies.console` on an otherwise idle machine. It needs Chromium. With `--grown`, it
measures only the clock with 5,000 items at 1280 x 900.
"""

import asyncio
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page, async_playwright

from tests.support.chromium import require_chromium
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

FRAMES = 180
FRAME_MS = 1000 / 60

# One event for each frame. `step` counts the frames, and `box` is the place of the plot.
_ACTIONS = {
    # The page changes only the colour of its heading, so the machine drops these frames, not the console.
    "heading": """() => (document.querySelector("h1").style.color = step % 2 ? "red" : "")""",
    "scrub": """() => {
      const slider = document.querySelector("input.scrubber");
      slider.value = Math.round((Number(slider.max) * step) / frames);
      slider.dispatchEvent(new Event("input"));
    }""",
    "zoom": """() => plot.dispatchEvent(new WheelEvent("wheel",
      { ...point(0.5, 150), ctrlKey: true, deltaY: step % 60 < 30 ? -60 : 60 }))""",
    "pan": """() => plot.dispatchEvent(new WheelEvent("wheel",
      { ...point(0.5, 150), shiftKey: true, deltaY: step % 60 < 30 ? 25 : -25 }))""",
    "hover": """() => plot.dispatchEvent(new PointerEvent("pointermove",
      { ...point(0.1 + (0.8 * step) / frames, step % 2 ? 150 : box.height - 80), pointerType: "mouse" }))""",
    "advance": """() => step === 0 && document.querySelector(".advance-bar .advance").click()""",
}

_PLAY = """async (frames) => {
  const plot = document.querySelector("tick-timeline svg.plot");
  const box = plot.getBoundingClientRect();
  const point = (x, y) =>
    ({ clientX: box.left + box.width * x, clientY: box.top + y, bubbles: true, cancelable: true });
  const gaps = [];
  let step = 0;
  const act = ACTION;
  let last = await new Promise(requestAnimationFrame);
  for (; step < frames; step += 1) {
    act();
    const next = await new Promise(requestAnimationFrame);
    gaps.push(next - last);
    last = next;
  }
  return gaps;
}"""


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):6.1f} ms ({min(values):.1f} to {max(values):.1f})"


def frame_times(gaps: list[float], effort: float) -> str:
    """Describe the time between frames. A frame is dropped if the next one comes an interval later."""
    percentiles = statistics.quantiles(gaps, n=100)
    dropped = sum(max(0, round(gap / FRAME_MS) - 1) for gap in gaps)
    return (
        f"work for a frame {effort / len(gaps):5.1f} ms, time between frames p50 {percentiles[49]:5.1f} ms,"
        f" p99 {percentiles[98]:5.1f} ms, dropped {dropped} of {len(gaps) + dropped}"
    )


class CpuTime:
    """The CPU time of the page's main thread, which other programs hardly affect."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def of(self, page: Page, script: str, argument: str | int) -> tuple[Any, float]:
        """Return the result of a script and its CPU milliseconds."""
        before = await self._spent()
        found = await page.evaluate(script, argument)
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
    for name, action in _ACTIONS.items():
        gaps, effort = await work.of(page, _PLAY.replace("ACTION", action), FRAMES)
        print(f"    {name:<8} {frame_times(gaps, effort)}")


def name_of(currencies: int) -> str:
    return f"2,600 items, {'one currency' if currencies == 1 else f'{currencies} currencies'}"


async def print_sizes(page: Page) -> None:
    """Print the sizes of the page's files as transferred."""
    sent: dict[str, int] = await page.evaluate("""() => Object.fromEntries(
      performance.getEntries().filter(({ name, entryType }) => entryType === "navigation" || name.includes("/assets/"))
        .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize]))""")
    print(f"{len(sent)} files, {sum(sent.values()) / 1000:.1f} kB as they are sent")
    for name, size in sorted(sent.items(), key=lambda entry: -entry[1]):
        print(f"    {name:<30} {size / 1000:5.1f} kB")


async def print_times(folder: Path, *, only_grown: bool) -> None:
    with Program(folder) as program:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=require_chromium(), args=["--no-sandbox"])
            async with open_console(browser, program, new_profile=True) as console:
                await console.open("#/clocks/new")
                await console.page.wait_for_load_state("networkidle")
                await print_sizes(console.page)
            for name, (width, height) in SIZES.items():
                if only_grown and name != "desktop":
                    continue
                options: dict[str, Any] = {
                    "viewport": {"width": width, "height": height},
                    "reduced_motion": "no-preference",
                }
                async with open_console(browser, program, **options) as console:
                    counts = () if only_grown else (1, 3, 100)
                    ids = {name_of(count): console.create(largest_clock(count)) for count in counts}
                    ids["5,000 items"] = create_grown_clock(console)
                    await console.open("#/clocks/new")
                    for what, id in ids.items():
                        print(f"{name}, {what}")
                        await measure(console.page, id)
            await browser.close()


def main() -> None:
    print(f"{os.cpu_count()} cores, of which {os.getloadavg()[0]:.1f} are busy")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(print_times(Path(folder), only_grown="--grown" in sys.argv))
    print(f"After the run: {os.getloadavg()[0]:.1f} cores are busy")


if __name__ == "__main__":
    main()
