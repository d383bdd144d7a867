"""The curves, marks and idle times of the charts."""

import random
import re
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.tabs import Tab

# All tests of a process share the browser and its event loop.
pytestmark = pytest.mark.asyncio(loop_scope="session")

DAY = 86_400_000

# Returns the range of heights that the curve shows in the column of each change, its ends, and its path.
_CURVE = """async ({ times, values, from, to, width }) => {
  const { curvePath, scale, stepCurve } = await import("/assets/000000000000/js/chart-paths.js");
  const x = scale(from, to, 0, width);
  const curve = stepCurve({ times, values }, x, (value) => value, from, to);
  const heightsOf = (part) => [...part.matchAll(/(?:V|L\\S+ )([^HVL]+)/g)].map(([, height]) => Number(height));
  const columns = times.map((time) => {
    if (time <= from || time > to) return null;
    const index = curve.xs.findLastIndex((left) => left <= x(time));
    const heights = [curve.ys[index - 1], ...heightsOf(curve.parts[index])];
    return [Math.min(...heights), Math.max(...heights)];
  });
  return { columns, path: curvePath(curve, 0, width), first: curve.ys[0], last: curve.ys.at(-1) };
}"""

# Returns the marks of two windows of the same length, as lists of items.
_MARKS = """async ({ times, now, windows, width }) => {
  const { barLane } = await import("/assets/000000000000/js/event-lanes.js");
  const { scale } = await import("/assets/000000000000/js/chart-paths.js");
  const items = times.map((at, id) => ({ id, at, kind: "income", amount: 1, currency: "EUR" }));
  return windows.map(([from, to]) => {
    const box = { left: 0, right: width, from, to, top: 0, bottom: 28 };
    const lane = barLane("income", { items, now }, scale(from, to, 0, width), box);
    return lane.marks.map((mark) => mark.items.map((item) => item.id));
  });
}"""

_IDLE = """async ({ times, from, to }) => {
  const { idleMarks } = await import("/assets/000000000000/js/event-lanes.js");
  const { scale } = await import("/assets/000000000000/js/chart-paths.js");
  const box = { left: 0, right: 1000, from, to };
  return [...idleMarks({ start: 0, times }, scale(from, to, 0, 1000), box, 0).querySelectorAll("text")]
    .map((text) => text.textContent);
}"""


async def run(tab: Tab, program: Program, script: str, params: dict[str, Any]) -> Any:
    await tab.page.goto(f"{program.url}/")
    return await tab.page.evaluate(script, params)


@pytest.mark.parametrize("seed", range(3))
async def test_curve_of_many_changes_shows_every_extreme_value(tab: Tab, program: Program, seed: int) -> None:
    random_source = random.Random(seed)
    times = sorted(random_source.sample(range(10_000), 2_000))
    values = [random_source.randint(-500, 500) for _ in range(2_001)]
    start, end, width = 1_000, 9_000, 300
    curve = await run(
        tab, program, _CURVE, {"times": times, "values": values, "from": start, "to": end, "width": width}
    )
    visible = [index for index, time in enumerate(times) if start < time <= end]
    for index in visible:
        low, high = curve["columns"][index]
        assert low <= values[index + 1] <= high
    drawn = [float(height) for height in re.findall(r"(?:V|[LM]\S+ )([-\d.]+)", curve["path"])]
    exact = [values[visible[0]], *(values[index + 1] for index in visible)]
    assert (min(drawn), max(drawn)) == (min(exact), max(exact))
    assert (curve["first"], curve["last"]) == (values[visible[0]], values[visible[-1] + 1])
    # A column of two pixels has at most three vertical lines.
    assert len(drawn) <= width / 2 * 3 + 1


async def test_marks_keep_their_items_while_the_plot_moves(tab: Tab, program: Program) -> None:
    random_source = random.Random(1)
    times = sorted(random_source.sample(range(10_000), 1_000))
    now = times[500]
    whole, left, right = await run(
        tab,
        program,
        _MARKS,
        {"times": times, "now": now, "width": 500, "windows": [[0, 10_000], [2_000, 5_000], [2_003, 5_003]]},
    )
    assert [item for mark in whole for item in mark] == list(range(1_000))
    assert all(mark[-1] <= 500 or mark[0] > 500 for mark in whole)
    assert len(whole) < 100
    # Only marks at the edges appear and disappear.
    in_both = [mark for mark in left if times[mark[0]] >= 2_003]
    assert right[: len(in_both)] == in_both


@pytest.mark.parametrize(
    ("days", "shown", "texts"),
    [
        ([1, 61], 100, []),
        ([1, 63], 100, ["idle 2 months"]),
        ([70, 71], 100, ["idle 2 months"]),
        ([1, 154, 155, 308], 400, ["idle 5 months", "idle 5 months"]),
        ([1, 1_000], 1_000, ["idle 3 years"]),
        ([1, 63], 2_000, []),  # too narrow for the text
    ],
)
async def test_long_time_without_items_is_marked(
    tab: Tab, program: Program, days: list[int], shown: int, texts: list[str]
) -> None:
    times = [day * DAY for day in days]
    assert await run(tab, program, _IDLE, {"times": times, "from": 0, "to": shown * DAY}) == texts
