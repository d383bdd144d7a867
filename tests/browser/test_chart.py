"""The curves, marks and idle times of the charts."""

import itertools
import random
import re
from typing import Any

from tests.browser.tabs import Tab

# All tests of a process share the browser and its event loop.

DAY = 86_400_000

# Returns the range of heights that the curve shows in the column of each change, its ends, and its path.
_CURVE = """async ({ times, values, from, to, width }) => {
  const { curvePath, scale, stepCurve } = await importModule("chart/chart-paths.js");
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
  const { barLane, barLanes } = await importModule("chart/event-lanes.js");
  const { scale } = await importModule("chart/chart-paths.js");
  const items = times.map((at, id) => ({ id, at, kind: "income", amount: 1, currency: "EUR" }));
  return windows.map(([from, to]) => {
    const bars = barLanes({ items, now }, "EUR", { from, to }, width).income;
    const box = { ...bars, kind: "income", from, to, top: 0, bottom: 28 };
    const lane = barLane({ items, now }, scale(from, to, 0, width), box);
    return lane.marks.map((mark) => mark.items.map((item) => item.id));
  });
}"""

# Returns the x coordinates of the marks of items `[at, amount]` on a width of 100.
_PLACES = """async ({ entries }) => {
  const { barLane, barLanes } = await importModule("chart/event-lanes.js");
  const { scale } = await importModule("chart/chart-paths.js");
  const items = entries.map(([at, amount]) => ({ at, amount, kind: "income", currency: "EUR" }));
  const [model, window] = [{ items, now: 0 }, { from: 0, to: 100 }];
  const box = { ...barLanes(model, "EUR", window, 100).income, kind: "income", ...window, top: 0, bottom: 28 };
  return barLane(model, scale(0, 100, 0, 100), box).marks.map((mark) => mark.x);
}"""

_IDLE = """async ({ times, from, to }) => {
  const { idleMarks } = await importModule("chart/event-lanes.js");
  const { scale } = await importModule("chart/chart-paths.js");
  const box = { left: 0, right: 1000, from, to };
  return [...idleMarks({ start: 0, times }, scale(from, to, 0, 1000), box, 0).querySelectorAll("text")]
    .map((text) => text.textContent);
}"""

# Returns the ticks of each range, and the heights of its lowest value and its last tick.
_TICKS = """async ({ ranges, minCount }) => {
  const { valueScale } = await importModule("chart/chart-paths.js");
  return ranges.map(([low, high]) => {
    const { y, ticks } = valueScale([low, high], minCount, 100, 0);
    return [ticks, y(low), y(ticks.at(-1))];
  });
}"""

# Returns the instant of each slider step, and the step at which the thumb then is.
_STEPS = """async ({ times, now, days }) => {
  const { sliderStep, snapToItem } = await importModule("chart/scrubber.js");
  const window = { from: 0, to: days * 86_400_000 };
  return Array.from({ length: days + 1 }, (_, index) => {
    const instant = snapToItem({ times, now }, window, index * sliderStep(window));
    return [instant, Math.round(instant / sliderStep(window))];
  });
}"""

# Returns the texts beside the lanes, and the labels of expectations.
_LABELS = """async ({ items, expectations }) => {
  const { barLanes } = await importModule("chart/event-lanes.js");
  const { shortLabel } = await importModule("clock/expectations.js");
  const { income, expense } = barLanes({ items, now: 0 }, "EUR", { from: 0, to: 1000 }, 1000);
  const labels = expectations.map((expectation) => shortLabel(expectation).join(""));
  return [income.text, expense.text, income.amounts, expense.amounts, ...labels];
}"""

# Returns where the texts of the axis of each window start, and where the last one ends if it is moved to the left.
_AXIS = """async ({ windows, width }) => {
  const { axisTicks, drawAxis } = await importModule("chart/time-axis.js");
  const { scale, textWidth } = await importModule("chart/chart-paths.js");
  return windows.map(([from, to]) => {
    const box = { left: 0, right: width, top: 0, bottom: 100 };
    const axis = drawAxis(axisTicks({ from, to }, width), scale(from, to, 0, width), box);
    const texts = [...axis.querySelectorAll("text")];
    const starts = texts.map((text) => Number(text.getAttribute("x")));
    const lines = [...axis.querySelector("path").getAttribute("d").matchAll(/M(\\S+)/g)].map(([, x]) => Number(x));
    const isMoved = !lines.includes(starts.at(-1));
    return [isMoved ? starts.slice(0, -1) : starts, isMoved && starts.at(-1) + textWidth(texts.at(-1).textContent)];
  });
}"""

# Returns the first point of the curve of each currency, of a scenario or of a clock with an id.
_SPARKLINE = """async ({ params, opening, id = null }) => {
  const { parseParams } = await importModule("clock/clock-model.js");
  const { sparkline } = await importModule("chart/sparkline.js");
  const svg = sparkline({ ...parseParams(params, opening), id }, { width: 100, height: 100 });
  return [...svg.querySelectorAll(".past > .line")].map((line) => /^M\\S+ [^A-Z]+/.exec(line.getAttribute("d"))[0]);
}"""

# Returns where the curve of a clock is red, and the class of its dot.
_SPARKLINE_LIMITS = """async ({ params, expectations }) => {
  const { parseParams } = await importModule("clock/clock-model.js");
  const { sparkline } = await importModule("chart/sparkline.js");
  const model = { ...parseParams(params), id: "clock_1", now: Date.parse("2027-01-05T00:00:00Z") };
  const svg = sparkline(model, { width: 100, height: 100, expectations });
  const numbers = (rect) => ["x", "width", "y"].map((name) => Math.round(rect.getAttribute(name)));
  return [...[...svg.querySelectorAll("clipPath rect")].map(numbers), svg.querySelector(".dot").getAttribute("class")];
}"""

# Returns how many areas are hatched, and the path of each breach, in a chart of two clocks.
_COMPARISON = """async ({ balances, rules }) => {
  const { compareBalances } = await importModule("clock/compare-model.js");
  const { drawComparison } = await importModule("chart/compare-plot.js");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const models = balances.map((balance) => ({ balances: [balance], start: 0, now: 0, times: balance.times }));
  const options = { window: { from: 0, to: 100 * 86_400_000 }, currency: "EUR", width: 800, rules, clocks: ["A", "B"] };
  drawComparison(svg, compareBalances(models, "EUR"), options);
  const breaches = [...svg.querySelectorAll(".breach")];
  return [svg.querySelectorAll(".forbidden").length, ...breaches.map((node) => node.querySelector("rect").outerHTML)];
}"""

# Returns how broken expectations are explained.
_VIOLATIONS = """async ({ broken }) => {
  const { describeViolation } = await importModule("clock/expectations.js");
  return broken.map(([expectation, violation]) => describeViolation(expectation, violation));
}"""

# Returns the summaries of results on days after 1970, and the smallest balances that are allowed on these days. The
# last item is on day 15.
_SUMMARIES = """async ({ checks, days }) => {
  const { smallestAllowed, summarizeChecks } = await importModule("clock/expectations.js");
  const [expectations, results] = [checks.map(([expectation]) => expectation), checks.map(([, result]) => result)];
  const balances = [{ currency: "EUR", times: [15 * 86_400_000] }];
  const model = { start: 0, maxTime: Infinity, items: [], goals: [], balances };
  return days.map((day) => [
    ...Object.values(summarizeChecks(expectations, results, { ...model, now: day * 86_400_000 })),
    String(smallestAllowed(expectations, "EUR", model, day * 86_400_000)),
  ]);
}"""

# Returns the lanes of a timeline, and the edges of the pills of now and of a preview, `[left, right]`.
_TIMELINE = """async ({ params, days, width, start = 0 }) => {
  const { drawTimeline } = await importModule("chart/timeline-plot.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const model = parseParams(params);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const from = model.now + start * 86_400_000;
  const window = { from, to: from + 100 * 86_400_000 };
  const { lanes, preview } = drawTimeline(svg, { model, expectations: [], window, width, axis: () => null });
  preview(model.now + days * 86_400_000);
  const edges = [...svg.querySelectorAll(".pill rect")].map((pill) => {
    const [left, width] = ["x", "width"].map((name) => Number(pill.getAttribute(name)));
    return [left, left + width];
  });
  return [lanes.map(({ kind }) => kind), ...edges];
}"""

# Returns the paths of the bars of a clock.
_BARS = """async ({ params }) => {
  const { drawTimeline } = await importModule("chart/timeline-plot.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const model = parseParams(params);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const window = { from: model.now, to: model.now + 100 * 86_400_000 };
  drawTimeline(svg, { model, expectations: [], window, width: 900, axis: () => null }).preview(model.now);
  return ["income", "expense"].map((kind) => svg.querySelector(`.lane.${kind} path`).getAttribute("d"));
}"""

# Returns the height of a timeline and of its plots, the order of its parts, and the first bar of each lane.
_LAYOUT = """async ({ params, expectations }) => {
  const { drawTimeline } = await importModule("chart/timeline-plot.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const model = parseParams(params);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const window = { from: model.now, to: model.now + 100 * 86_400_000 };
  const options = { model, expectations, window, width: 1142, fontScale: 1, axis: () => null };
  const { lanes, plots, preview } = drawTimeline(svg, options);
  preview(model.now);
  const parts = [...lanes, ...plots.map(({ box }) => ({ kind: "plot", ...box }))].sort((a, b) => a.top - b.top);
  const bars = [...svg.querySelectorAll(":is(.lane.income, .lane.expense) path")];
  return {
    height: Number(svg.getAttribute("height")),
    plots: plots.map(({ box: { top, bottom } }) => bottom - top),
    order: parts.map(({ kind }) => kind),
    bars: bars.map((path) => Math.abs(/h6v(-?[0-9]+)/.exec(path.getAttribute("d"))[1]) + 1),
  };
}"""

# Returns the labels of a plot from 0 to a size, with bounds.
_BOUNDS = """async ({ size, bounds }) => {
  const { valueGrid, valueScale } = await importModule("chart/chart-paths.js");
  const values = valueScale([0, size], 4, 160, 0);
  const { labels } = valueGrid({ ...values, bounds }, "EUR", { left: 60, right: 500 });
  return labels.map((label) => label.textContent);
}"""

# Returns the label of each strip, where it starts, its title, and the days since the start between which the strip is
# dark, or null.
_STRIPS = """async ({ params, expectations, day }) => {
  const { drawTimeline } = await importModule("chart/timeline-plot.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const { textWidth } = await importModule("chart/chart-paths.js");
  const model = parseParams(params);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const window = { from: model.now, to: model.now + 100 * 86_400_000 };
  const now = model.now + day * 86_400_000;
  const options = { model: { ...model, now }, expectations, results: null, window, width: 900, axis: () => null };
  const { x } = drawTimeline(svg, options);
  const day0 = x(model.now);
  const toDay = (pixels) => Math.round((pixels - day0) / (x(model.now + 86_400_000) - day0));
  const labels = [...svg.querySelectorAll("g:has(> title)")];
  return [...svg.querySelectorAll(".strip")].map((strip, index) => {
    const past = strip.querySelector(".holds.past")?.getAttribute("d").match(/[\\d.]+/g).map(Number);
    const [title, label] = labels[index].children;
    return {
      title: title.textContent,
      label: label.textContent,
      start: Number(label.getAttribute("x")) - textWidth(label.textContent),
      past: past ? [toDay(past[0] - 2.5), toDay(past[2] + 2.5)] : null,
      posts: [...strip.querySelectorAll(".post")].map((post) => {
        const day = toDay(Number(post.getAttribute("d").match(/[\\d.]+/)[0]));
        return post.matches(".past") ? day : -day;
      }),
    };
  });
}"""

# Returns the cells of each row of the monthly table. Red balances have an "!".
_MONTHS = """async ({ params, expectations, at = params.frozenTime }) => {
  const { monthlyTable } = await importModule("chart/monthly-table.js");
  const { parseParams } = await importModule("clock/clock-model.js");
  const { element, preview } = monthlyTable(parseParams(params), expectations);
  preview(Date.parse(at));
  const rows = [...element.querySelectorAll("tbody tr")];
  const text = (cell) => `${cell.innerText.trim()}${cell.matches(".below-zero") ? "!" : ""}`;
  return rows.map(({ children }) => [...children].map(text));
}"""


async def run(tab: Tab, script: str, params: dict[str, Any]) -> Any:
    return await tab.page.evaluate(script, params)


async def test_curve_of_many_changes_shows_every_extreme_value(loaded_tab: Tab) -> None:
    for seed in range(3):
        await check_curve(loaded_tab, seed)


async def check_curve(loaded_tab: Tab, seed: int) -> None:
    random_source = random.Random(seed)
    times = sorted(random_source.sample(range(10_000), 2_000))
    values = [random_source.randint(-500, 500) for _ in range(2_001)]
    start, end, width = 1_000, 9_000, 300
    curve = await run(loaded_tab, _CURVE, {"times": times, "values": values, "from": start, "to": end, "width": width})
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


async def test_marks_keep_their_items_while_the_plot_moves(loaded_tab: Tab) -> None:
    random_source = random.Random(1)
    times = sorted(random_source.sample(range(10_000), 1_000))
    now = times[500]
    whole, left, right = await run(
        loaded_tab,
        _MARKS,
        {"times": times, "now": now, "width": 500, "windows": [[0, 10_000], [2_000, 5_000], [2_003, 5_003]]},
    )
    assert [item for mark in whole for item in mark] == list(range(1_000))
    assert all(mark[-1] <= 500 or mark[0] > 500 for mark in whole)
    assert len(whole) < 100
    # Only marks at the edges appear and disappear.
    in_both = [mark for mark in left if times[mark[0]] >= 2_003]
    assert right[: len(in_both)] == in_both


IDLE_TIMES: list[tuple[list[int], int, list[str]]] = [
    ([1, 61], 100, []),
    ([1, 63], 100, ["idle 2 months"]),
    ([70, 71], 100, ["idle 2 months"]),
    ([1, 154, 155, 308], 400, ["idle 5 months", "idle 5 months"]),
    ([1, 1_000], 1_000, ["idle 3 years"]),
    ([1, 63], 2_000, []),  # too narrow for the text
]


async def test_long_time_without_items_is_marked(loaded_tab: Tab) -> None:
    for days, shown, texts in IDLE_TIMES:
        times = [day * DAY for day in days]
        assert await run(loaded_tab, _IDLE, {"times": times, "from": 0, "to": shown * DAY}) == texts, days


async def test_values_have_enough_round_ticks_up_to_the_highest(loaded_tab: Tab) -> None:
    ranges = [(0, 4_000), (-735, 4_100), (-0.9, 1.9), (-1_150, 0), (0, 1), (-3, 999_999_999.99), (0, 1e-12)]
    scales = await run(loaded_tab, _TICKS, {"ranges": ranges, "minCount": 4})
    for (low, high), (ticks, bottom, top) in zip(ranges, scales, strict=True):
        assert 4 <= len(ticks) <= 9
        assert 0 in ticks
        assert low <= ticks[0] < high <= ticks[-1]
        assert (bottom, top) == (100, 0)
    assert scales[1][0] == [0, 2_000, 4_000, 6_000]
    # No number is small enough for these ticks.
    assert (await run(loaded_tab, _TICKS, {"ranges": [(0, 5e-324)], "minCount": 4}))[0][0] == []


async def test_axis_has_three_texts_at_equal_distances_at_every_zoom(loaded_tab: Tab) -> None:
    random_source = random.Random(1)
    lengths = [DAY / 24 * 1.05**power for power in range(232)]  # from an hour to ten years
    windows = [[start, start + length] for length in lengths if (start := random_source.randrange(10_000) * DAY / 7)]
    # A narrow axis has no room for equal distances at a few of the zooms.
    for width, max_texts, max_uneven in ((270, 7, 12), (1050, 23, 0)):
        results = await run(loaded_tab, _AXIS, {"windows": windows, "width": width})
        axes = [starts for starts, _ in results]
        # The last text has room on the left of its line.
        ends = [round(end) for _, end in results if end]
        assert len(ends) > 9
        assert {*ends} == {width + 4}
        assert {len(starts) for starts in axes} <= {*range(3, max_texts + 1)}
        gaps = [[after - before for before, after in itertools.pairwise(starts)] for starts in axes]
        # February is shorter than March.
        assert len([each for each in gaps if max(each) > 1.2 * min(each)]) <= max_uneven


async def test_slider_stops_at_the_times_of_items(loaded_tab: Tab) -> None:
    hour = 3_600_000
    times = [2 * DAY + 8 * hour, 2 * DAY + 9 * hour, 3 * DAY + 12 * hour, 5 * DAY - hour, 9 * DAY]
    now = 6 * DAY + 10 * hour
    steps = await run(loaded_tab, _STEPS, {"times": times, "now": now, "days": 30})
    # Of two items in a step, the slider stops at the last.
    stops = {2: times[1], 4: times[2], 5: times[3], 6: now, 9: times[4]}
    assert [instant for instant, _ in steps] == [stops.get(day, day * DAY) for day in range(31)]
    # The thumb stays where the slider put it, so keys can move it on.
    assert [thumb for _, thumb in steps] == list(range(31))


async def test_labels_are_amounts_of_money(loaded_tab: Tab) -> None:
    pay = {"kind": "income", "at": 0, "currency": "EUR"}
    rents = [
        {**pay, "kind": "expense", "amount": amount, "currency": currency}
        for currency, amount in (("EUR", 300), ("CHF", 900))
    ]
    # The opening balance is not income. The other payments are one bar, whose total depends on the width of the plot.
    opening = {**pay, "amount": 5000, "isOpening": True}
    items = [opening, {**pay, "amount": 0.1}, {**pay, "amount": 2800.2}, *rents]
    expectations = [
        {"balance": {"currency": "EUR", "atLeast": -500}},
        {"balance": {"currency": "EUR", "atMost": 0.5}},
        {"total": {"type": "EXPENSE", "currency": "USD", "atMost": 1500}},
        {"total": {"type": "EXPENSE", "currency": "EUR", "category": "Staff", "per": "MONTH", "atMost": 2780}},
        {"posted": {"name": "Rent"}},
        {"posted": {"name": "Rent", "count": 6}},
        {"goalReached": {"goal": "Trip"}},
    ]
    labels = await run(loaded_tab, _LABELS, {"items": items, "expectations": expectations})
    assert labels == [
        "largest €2,800.20",
        "largest €300.00",
        ["max +€2,800.20", "+€2,800.20", "+2,800.20"],
        ["max −€300.00", "−€300.00", "−300.00"],
        "≥ −€500.00",
        "≤ €0.50",
        "Spent ≤ $1,500.00",
        "Staff ≤ €2,780.00",
        "Rent",
        "Rent ×6",
        "Trip",
    ]


async def test_long_label_of_an_expectation_is_cut_before_its_amount(loaded_tab: Tab) -> None:
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [RENT]}
    rule = {"type": "EXPENSE", "currency": "EUR", "category": "Travel and accommodation", "per": "MONTH"}
    expectations = [{"total": {**rule, "atMost": 2780}}]
    [strip] = await run(loaded_tab, _STRIPS, {"params": params, "expectations": expectations, "day": 0})
    assert re.fullmatch("Tr[a-z ]*… ≤ €2,780.00", strip["label"])
    assert strip["title"] == "Expenses for “Travel and accommodation” at most €2,780.00 in every month"
    assert strip["start"] >= 0


async def test_strip_is_pale_until_an_expectation_is_achieved(loaded_tab: Tab) -> None:
    rents = [{**RENT, "at": f"2027-01-{day:02}T00:00:00Z"} for day in (11, 21)]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": rents, "goals": [{**TRIP, "targetAmount": 1}]}
    end = "2027-03-02T00:00:00Z"
    expectations = [
        {"posted": {"name": "Rent", "count": 2, "by": end}},
        {"goalReached": {"goal": "Trip", "by": end}},
        {"balance": {"currency": "EUR", "atLeast": -500, "until": end}},
    ]

    async def strips(day: int) -> list[list[int] | None]:
        found = await run(loaded_tab, _STRIPS, {"params": params, "expectations": expectations, "day": day})
        # A counted transaction has a mark, which is pale until it posts.
        assert found[0]["posts"] == [at if at <= day else -at for at in (10, 20)]
        return [strip["past"] for strip in found]

    # The days since 1 January. The rule about the balance holds from the start, the others from an event on.
    assert await strips(0) == [None, None, None]
    assert await strips(11) == [None, [11, 60], [0, 11]]
    assert await strips(20) == [[20, 60], [11, 60], [0, 60]]


async def test_sparkline_starts_with_the_first_balance(loaded_tab: Tab) -> None:
    entry = {"name": "Pay", "type": "INCOME", "amount": 10}
    items = [
        {**entry, "currency": "EUR", "at": "2027-01-02T00:00:00Z"},
        {**entry, "currency": "EUR", "at": "2027-01-12T00:00:00Z"},
        {**entry, "currency": "USD", "at": "2027-01-07T00:00:00Z"},
    ]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": items}
    assert await run(loaded_tab, _SPARKLINE, {"params": params, "opening": {}}) == ["M0 25", "M48.5 56"]
    # An opening balance is a fact from the start on.
    assert await run(loaded_tab, _SPARKLINE, {"params": params, "opening": {"EUR": 20}}) == ["M0 25", "M53 56"]
    # The charts of a clock start at its start, whatever its balances, with space for the dot of the present one.
    assert await run(loaded_tab, _SPARKLINE, {"params": params, "id": "clock_1"}) == ["M4 44", "M4 94"]
    # Each currency has a strip with its own zero line. A currency without income has it at the top.
    items[1:2] = []
    items.append({**entry, "currency": "CHF", "type": "EXPENSE", "at": "2027-01-02T00:00:00Z"})
    items.append({**entry, "currency": "JPY", "at": "2027-01-02T00:00:00Z"})
    assert await run(loaded_tab, _SPARKLINE, {"params": params, "id": "clock_1"}) == ["M4 27.3", "M4 39.3", "M4 94"]


async def test_sparkline_is_red_where_an_expectation_breaks(loaded_tab: Tab) -> None:
    entry = {"name": "Rent", "type": "EXPENSE", "amount": 100, "currency": "EUR"}
    items = [{**entry, "at": "2027-01-02T00:00:00Z"}, {**entry, "amount": 300, "at": "2027-01-21T00:00:00Z"}]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": items}

    async def limits(*expectations: dict[str, Any]) -> Any:
        rules = [{"balance": {"currency": "EUR", **rule}} for rule in expectations]
        return await run(loaded_tab, _SPARKLINE_LIMITS, {"params": params, "expectations": rules})

    assert await limits() == [[4, 96, 7], "dot below-zero"]
    assert await limits({"atMost": 5}) == [[4, 96, 7], "dot below-zero"]
    # The balance at the dot is 100 below zero.
    assert await limits({"atLeast": -200}) == [[4, 96, 51], "dot"]
    assert await limits({"atLeast": 0, "from": "2027-01-11T00:00:00Z"}) == [[51, 49, 7], "dot"]
    # A limit above the curve makes all of it red.
    assert await limits({"atLeast": 5000}) == [[4, 96, 0], "dot below-zero"]


async def test_comparison_shows_what_the_expectations_forbid(loaded_tab: Tab) -> None:
    balances = [{"currency": "EUR", "times": [DAY], "values": [0, value]} for value in (100, -300)]
    rule = {"atLeast": 0, "from": 0, "to": 200 * DAY}
    hatched, first, second = await run(
        loaded_tab, _COMPARISON, {"balances": balances, "rules": [[rule], [{**rule, "from": 50 * DAY}]]}
    )
    assert hatched == 1
    # The rule of the second clock holds later.
    widths = [float(match[1]) for node in (first, second) if (match := re.search(r'width="([\d.]+)"', node))]
    assert widths[0] > 1.9 * widths[1]
    hatched, *breaches = await run(loaded_tab, _COMPARISON, {"balances": balances, "rules": [[rule], [rule]]})
    assert (hatched, len(breaches)) == (1, 2)


async def test_broken_expectation_is_explained_with_amounts_of_money(loaded_tab: Tab) -> None:
    spent = {"type": "EXPENSE", "currency": "USD", "per": "MONTH"}
    broken = [
        [
            {"balance": {"currency": "EUR", "atLeast": -500, "atMost": 9}},
            {"actual": -1150, "message": "The EUR balance is -1150, below -500."},
        ],
        [
            {"total": {**spent, "atMost": 1000, "category": "$&, a 1"}},
            {"actual": 1200.5, "message": 'Expenses in USD for "$&, a 1" in 2027-01: 1200.5, above 1000.'},
        ],
        [{"goalReached": {"goal": "Trip"}}, {"actual": 2100, "message": ""}],
        [{"posted": {"name": "Rent"}}, {"actual": 1, "message": ""}],
        [{"posted": {"name": "Rent"}}, {"actual": 0, "message": ""}],
    ]
    assert await run(loaded_tab, _VIOLATIONS, {"broken": broken}) == [
        "The EUR balance is −€1,150.00, below −€500.00.",
        'Expenses in USD for "$&, a 1" in 2027-01: $1,200.50, above $1,000.00.',
        "The goal has 2,100.00.",
        "It posts once.",
        "It posts 0 times.",
    ]


async def test_scheduled_violation_is_not_a_broken_expectation(loaded_tab: Tab) -> None:
    def violation(day: int, actual: float) -> dict[str, Any]:
        return {"ok": False, "violation": {"at": f"1970-01-{day + 1:02}T00:00:00Z", "actual": actual}}

    overdraft = {"balance": {"currency": "EUR", "atLeast": -500, "until": "1970-01-21T00:00:00Z"}}
    checks = [
        [{"posted": {"name": "Rent", "count": 6}}, violation(20, 2)],
        [overdraft, violation(10, -550.5)],
        [{"balance": {"currency": "EUR", "atMost": 100}}, {"ok": True}],
    ]

    async def summaries(checks: list[Any], *days: int) -> Any:
        return await run(loaded_tab, _SUMMARIES, {"checks": checks, "days": days})

    # The first violation decides.
    at, detail = 10 * DAY, "balance below −€500.00"
    assert await summaries(checks, 9, 10, 20) == [
        ["will break", "2 of 3 will break", at, detail, "-500"],
        ["broken", "1 of 3 broken", at, detail, "-500"],
        ["broken", "2 of 3 broken", at, detail, "-500"],
    ]
    assert await summaries(checks[:1], 19, 20) == [
        ["will break", "Will break", 20 * DAY, "“Rent” posts 2 of 6 times", "0"],
        ["broken", "Broken", 20 * DAY, "“Rent” posts 2 of 6 times", "0"],
    ]
    # Outside its time, an expectation allows everything.
    assert await summaries([[overdraft, {"ok": True}]], 1, 15, 21) == [
        ["will hold", "All will hold", "-500"],
        ["held", "All held", "-500"],
        ["held", "All held", "-Infinity"],
    ]
    later = [{"posted": {"name": "Rent"}}, {"ok": True}]
    assert await summaries([[overdraft, {"ok": True}], later], 15) == [["will hold", "All will hold", "-500"]]
    spent = {"total": {"type": "EXPENSE", "currency": "USD", "per": "MONTH", "atMost": 9}}
    others: list[tuple[dict[str, Any], str]] = [
        (spent, "expenses above $9.00"),
        ({"goalReached": {"goal": "Trip"}}, "“Trip” not reached"),
        ({"posted": {"name": "Rent"}}, "“Rent” doesn't post"),
    ]
    for expectation, expected in others:
        assert (await summaries([[expectation, violation(1, 10)]], 0))[0][3] == expected


RENT = {"name": "Rent", "type": "EXPENSE", "amount": 10, "currency": "EUR", "at": "2027-01-12T00:00:00Z"}
TRIP = {"name": "Trip", "targetAmount": 9, "contributions": [{"amount": 1, "at": "2027-01-12T00:00:00Z"}]}


async def test_clock_with_only_goals_has_no_lanes_of_transactions(loaded_tab: Tab) -> None:
    params: dict[str, Any] = {"frozenTime": "2027-01-01T00:00:00Z", "goals": [TRIP]}
    [lanes, *_] = await run(loaded_tab, _TIMELINE, {"params": params, "days": 9, "width": 900})
    assert lanes == ["goal"]
    params["transactions"] = [RENT]
    [lanes, *_] = await run(loaded_tab, _TIMELINE, {"params": params, "days": 9, "width": 900})
    assert lanes == ["income", "expense", "goal"]


async def test_bars_have_one_linear_scale(loaded_tab: Tab) -> None:
    days = [("INCOME", 1000, 5), ("EXPENSE", 400, 10), ("EXPENSE", 100, 40), ("EXPENSE", 300, 40), ("EXPENSE", 1, 70)]
    items = [
        {**RENT, "type": kind, "amount": amount, "at": f"2027-{1 + day // 31:02}-{1 + day % 31:02}T00:00:00Z"}
        for kind, amount, day in days
    ]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": items}
    # The height of each segment of each bar, with the gap above it.
    [income], expenses = [
        [[abs(int(height)) + 1 for height in re.findall(r"h6v(-?\d+)", bar)] for bar in path.split("M")[1:]]
        for path in await run(loaded_tab, _BARS, {"params": params})
    ]
    [[single], [first, second], [smallest]] = expenses
    assert single == round(0.4 * income[0]) == first + second
    assert first == round(0.1 * income[0])
    assert smallest == 4


async def test_each_currency_has_bars_below_its_plot(loaded_tab: Tab) -> None:
    items = [
        {**RENT, "type": kind, "amount": amount, "currency": currency}
        for currency, factor in (("EUR", 1), ("JPY", 100))
        for kind, amount in (("INCOME", 60 * factor), ("EXPENSE", 20 * factor))
    ]
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": items, "goals": [TRIP]}
    expectations = [{"balance": {"currency": "EUR", "atLeast": 0}}] * 4
    layouts = {
        (count, strips): await run(
            loaded_tab,
            _LAYOUT,
            {"params": {**params, "transactions": items[: 2 * count]}, "expectations": expectations[:strips]},
        )
        for count, strips in itertools.product((1, 2), range(5))
    }
    # The plots are as high as possible, and never too low.
    assert {layouts[1, strips]["height"] for strips in range(5)} == {424}
    assert min(height for layout in layouts.values() for height in layout["plots"]) == 112
    layout = layouts[2, 4]
    assert layout["order"] == ["plot", "income", "expense", "plot", "income", "expense", "goal"]
    # Each currency has its own scale, and both of its directions have the same.
    euros, yen = layout["bars"][:2], layout["bars"][2:]
    assert euros == yen
    assert round(euros[0] / 3) == euros[1]


async def test_bounds_of_expectations_are_labelled(loaded_tab: Tab) -> None:
    bounds = [{"value": 60, "isLast": True}, {"value": 3000, "isLast": False}, {"value": 4000, "isLast": True}]
    for size, labels in (
        (8_000, ["€0", "€3,000", "€4,000", "€2,000", "€6,000", "€8,000", "limit €60"]),
        (100, ["€0", "€60", "€20", "€40", "€80", "€100"]),
    ):
        some = [bound for bound in bounds if bound["value"] <= size]
        assert await run(loaded_tab, _BOUNDS, {"size": size, "bounds": some}) == labels
    # It doesn't hold at the right edge.
    bounds[0]["isLast"] = False
    assert "limit €60" not in await run(loaded_tab, _BOUNDS, {"size": 8_000, "bounds": bounds})
    day = {"from": 10, "to": 20}
    rules = [
        {"atLeast": 1, "from": 0, "to": 15},
        {"atLeast": 1, "atMost": 9, "from": 12, "to": 30},
        {"atMost": 8, "from": 0, "to": 15},
        {"atMost": 7, "from": 0, "to": 9},
    ]
    script = "({ rules, day }) => importModule('chart/forbidden-areas.js').then(({ boundsIn }) => boundsIn(rules, day))"
    in_view = await run(loaded_tab, script, {"rules": rules, "day": day})
    assert [(bound["value"], bound["isLast"]) for bound in in_view] == [(1, True), (9, True), (8, False)]


async def test_label_of_the_lowest_point_fits(loaded_tab: Tab) -> None:
    box = {"left": 60, "right": 240, "bottom": 100}
    script = """({ money, box }) => importModule("chart/chart-paths.js").then(({ callout }) =>
      callout("", [100, 20], "Lowest ahead, 1 Jul 2029", money, box).textContent)"""
    for money, text in (
        ("€5.00", "Lowest ahead, 1 Jul 2029€5.00"),
        ("BMM 6,999,999,999.16", "1 Jul 2029BMM 6,999,999,999.16"),
    ):
        assert await run(loaded_tab, script, {"money": money, "box": box}) == text


async def test_pill_of_now_is_left_of_a_preview(loaded_tab: Tab) -> None:
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": [RENT]}
    for days in (1, 15, 60, 100):
        _, now, preview = await run(loaded_tab, _TIMELINE, {"params": params, "days": days, "width": 330})
        assert 0 <= now[0] < now[1] < preview[0], days
        # The time of the clock can be before the plot.
        _, now, preview = await run(
            loaded_tab, _TIMELINE, {"params": params, "days": days + 9, "width": 330, "start": 9}
        )
        assert 0 <= now[0] < now[1] < preview[0], days


async def test_mark_is_at_the_time_of_its_largest_item(loaded_tab: Tab) -> None:
    for entries, places in (
        ([[10, 5], [14, 900], [40, 1]], [14, 40]),
        ([[10, 900], [14, 5]], [10]),
        # The mark after it gives way, so that no bar covers another one.
        ([[10, 5], [16, 900], [18, 7]], [16, 23]),
    ):
        assert await run(loaded_tab, _PLACES, {"entries": entries}) == places


async def test_months_of_a_currency_have_a_total(loaded_tab: Tab) -> None:
    rents = [
        {**RENT, "currency": currency, "at": f"2027-{day}T00:00:00Z"}
        for currency, day in (("USD", "01-02"), ("EUR", "01-03"), ("EUR", "02-02"), ("USD", "02-03"))
    ]
    # The opening balance of a scenario is neither income nor expense.
    opening = {**RENT, "name": "Opening balance", "type": "INCOME", "category": "Opening balance", "currency": "USD"}
    rents.append({**opening, "at": "2027-01-01T00:00:00Z"})
    params = {"frozenTime": "2027-01-01T00:00:00Z", "transactions": rents, "goals": [TRIP]}
    months = await run(loaded_tab, _MONTHS, {"params": params})
    assert months == [
        ["USD"],
        ["Opening", "1 posted", "", "", "", "$10.00"],
        ["Jan 2027", "1 scheduled", "", "$10.00", "$0.00 2 Jan", "$0.00"],
        ["Feb 2027", "1 scheduled", "", "$10.00", "−$10.00 3 Feb!", "−$10.00!"],
        ["Total", "3", "", "$20.00", "−$10.00 3 Feb!", "−$10.00!"],
        ["EUR"],
        ["Jan 2027", "1 scheduled", "", "€10.00", "−€10.00 3 Jan!", "−€10.00!"],
        ["Feb 2027", "1 scheduled", "", "€10.00", "−€20.00 2 Feb!", "−€20.00!"],
        ["Total", "2", "", "€20.00", "−€20.00 2 Feb!", "−€20.00!"],
        ["Contributions to goals"],
        ["Jan 2027", "1 scheduled", "1.00", "", "", ""],
    ]
    # A month can end above its lowest balance.
    pay = {**RENT, "type": "INCOME", "amount": 30, "currency": "EUR", "at": "2027-01-04T00:00:00Z"}
    [_, month] = await run(loaded_tab, _MONTHS, {"params": {**params, "transactions": [rents[1], pay], "goals": []}})
    assert month == ["Jan 2027", "2 scheduled", "€30.00", "€10.00", "−€10.00 3 Jan!", "€20.00"]
    rules = [{"balance": {"currency": "EUR", "atLeast": -15}}, {"balance": {"currency": "USD", "atLeast": 5}}]
    months = await run(loaded_tab, _MONTHS, {"params": params, "expectations": rules})
    assert [row[-1] for row in months if row[-1].endswith("!")] == [
        *("$0.00!", "−$10.00!", "−$10.00!"),
        *("−€20.00!", "−€20.00!"),
    ]
    # Now and the preview divide their months, so that each row has one state and follows from the row above.
    params["transactions"] = [*rents[1:3], {**rents[1], "at": "2027-01-20T00:00:00Z"}]
    params["goals"] = []
    divided = {"params": {**params, "frozenTime": "2027-01-03T00:00:00Z"}}
    for at, rows in {
        "2027-01-03": [("1–3 Jan 2027", "1 posted"), ("3–31 Jan 2027", "1 scheduled"), ("Feb 2027", "1 scheduled")],
        "2027-01-12": [("1–3 Jan 2027", "1 posted"), ("12–31 Jan 2027", "1 scheduled"), ("Feb 2027", "1 scheduled")],
        "2027-01-25": [("1–3 Jan 2027", "1 posted"), ("3–24 Jan 2027", "1 would post"), ("Feb 2027", "1 scheduled")],
        "2027-02-02": [
            ("1–3 Jan 2027", "1 posted"),
            ("3–31 Jan 2027", "1 would post"),
            ("1–2 Feb 2027", "1 would post"),
        ],
        "2027-01-02": [
            ("2–3 Jan 2027", "1 posted later"),
            ("3–31 Jan 2027", "1 scheduled"),
            ("Feb 2027", "1 scheduled"),
        ],
    }.items():
        months = await run(loaded_tab, _MONTHS, {**divided, "at": f"{at}T00:00:00Z"})
        days, balances = ["3 Jan", "20 Jan", "2 Feb"], ["−€10.00", "−€20.00", "−€30.00"]
        assert months[1:-1] == [
            [*row, "", "€10.00", f"{balance} {day}!", f"{balance}!"]
            for row, day, balance in zip(rows, days, balances, strict=True)
        ]
