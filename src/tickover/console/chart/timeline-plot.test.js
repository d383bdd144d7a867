import assert from "node:assert/strict";
import { test } from "node:test";
import { newModel, newSvg, numbers, onDay, rent, TRIP } from "../lib/fake-dom.test.js";
import { DAY } from "../lib/instants.js";
import { textWidth } from "./chart-paths.js";
import { drawTimeline } from "./timeline-plot.js";

/** Draw a hundred days of a clock, from a day after its start on. */
function draw(model, { width = 900, start = 0, ...options } = {}) {
  const svg = newSvg();
  const from = model.start + start * DAY;
  const window = { from, to: from + 100 * DAY };
  const all = { model, results: null, window, width, fontScale: 1, ...options };
  return { svg, ...drawTimeline(svg, newSvg(), all) };
}

const kinds = ({ lanes }) => lanes.map(({ kind }) => kind);

test("a clock with only goals has no lanes of transactions", () => {
  assert.deepEqual(kinds(draw(newModel([], [TRIP]))), ["goal"]);
  assert.deepEqual(kinds(draw(newModel([rent(11)], [TRIP]))), ["income", "expense", "goal"]);
});

/** Return the height of each segment of each bar of a lane, with the gap above it. */
const barsOf = (svg, selector) =>
  svg.querySelectorAll(selector).flatMap((path) =>
    path
      .getAttribute("d")
      .split("M")
      .slice(1)
      .map((bar) => [...bar.matchAll(/h6v(-?\d+)/g)].map(([, height]) => Math.abs(height) + 1)),
  );

test("bars have one linear scale", () => {
  const expenses = [[10, 400], [40, 100], [40, 300], [70, 1]].map(([day, amount]) => rent(day, { amount })); // biome-ignore format: one line
  const { svg, preview } = draw(newModel([rent(5, { type: "INCOME", amount: 1000 }), ...expenses]));
  preview(Date.parse(onDay(0)));
  const [[income]] = barsOf(svg, ".lane.income path");
  const [[single], [first, second], [smallest]] = barsOf(svg, ".lane.expense path");
  assert.equal(single, Math.round(0.4 * income));
  assert.equal(single, first + second);
  assert.equal(first, Math.round(0.1 * income));
  assert.equal(smallest, 4);
});

test("each currency has bars below its plot", () => {
  const items = [["EUR", 1], ["JPY", 100]].flatMap(([currency, factor]) => [
    rent(11, { currency, type: "INCOME", amount: 60 * factor }),
    rent(11, { currency, amount: 20 * factor }),
  ]); // biome-ignore format: one line each
  const rule = { balance: { currency: "EUR", atLeast: 0 } };
  const layout = (currencies, strips) => {
    const model = newModel(items.slice(0, 2 * currencies), [TRIP]);
    const drawn = draw({ ...model, expectations: Array(strips).fill(rule) }, { width: 1142 });
    drawn.preview(model.now);
    const heights = drawn.plots.map(({ box }) => box.bottom - box.top);
    return { ...drawn, height: numbers(drawn.svg, "height")[0], lowest: Math.min(...heights) };
  };
  // The plots are as high as possible, and never too low.
  const [one, two] = [1, 2].map((currencies) => [0, 1, 2, 3, 4].map((strips) => layout(currencies, strips)));
  assert.ok(one.every(({ height }) => height === 402));
  assert.equal(Math.min(...[...one, ...two].map(({ lowest }) => lowest)), 112);
  const { svg, lanes, plots } = two[4];
  const parts = [...lanes, ...plots.map(({ box }) => ({ kind: "plot", ...box }))].sort((a, b) => a.top - b.top);
  assert.deepEqual(kinds({ lanes: parts }), ["plot", "income", "expense", "plot", "income", "expense", "goal"]);
  // Each currency has its own scale, and both of its directions have the same.
  const [incomes, expenses] = ["income", "expense"].map((kind) => barsOf(svg, `.lane.${kind} path`).flat());
  assert.equal(incomes[0], incomes[1]);
  assert.deepEqual(expenses, [Math.round(incomes[0] / 3), Math.round(incomes[0] / 3)]);
});

test("the pill of now is left of a preview", () => {
  const model = newModel([rent(11)]);
  // The time of the clock can be before the plot.
  for (const day of [1, 15, 60, 100])
    for (const start of [0, 9]) {
      const { svg, preview } = draw(model, { width: 330, start });
      preview(model.now + (day + start) * DAY);
      const edges = svg.querySelectorAll(".pill rect").map((pill) => {
        const [left, width] = numbers(pill, "x", "width");
        return [left, left + width];
      });
      const [now, previewed] = edges;
      assert.ok(0 <= now[0] && now[1] < previewed[0], `${day} ${start}: ${edges}`);
    }
});

/** Return the label of each strip, its title, and the days between which the strip is dark, or null. */
function stripsOf(model, expectations, day) {
  const { svg, x } = draw({ ...model, expectations, now: model.now + day * DAY });
  const toDay = (pixels) => Math.round((pixels - x(model.start)) / (x(model.start + DAY) - x(model.start)));
  const labels = svg
    .querySelectorAll("g")
    .filter(({ children }) => children[1]?.name === "text" && children[0].name === "title");
  return svg.querySelectorAll(".strip").map((strip, index) => {
    const path = strip.querySelector(".holds.past")?.getAttribute("d");
    const [first, , last] = path?.match(/[\d.]+/g).map(Number) ?? [];
    const [title, label] = labels[index].children;
    const posts = strip.querySelectorAll(".post").map((post) => {
      const at = toDay(Number(post.getAttribute("d").match(/[\d.]+/)[0]));
      return post.matches(".past") ? at : -at;
    });
    return { title: title.textContent, label, past: path ? [toDay(first - 2.5), toDay(last + 2.5)] : null, posts };
  });
}

test("a long label of an expectation is cut before its amount", () => {
  const rule = { type: "EXPENSE", currency: "EUR", category: "Travel and accommodation", per: "MONTH", atMost: 2780 };
  const [{ title, label }] = stripsOf(newModel([rent(11)]), [{ total: rule }], 0);
  assert.match(label.textContent, /^Tr?[a-z ]*… ≤ €2,780.00$/);
  assert.equal(title, "Expenses for “Travel and accommodation” at most €2,780.00 in every month");
  assert.ok(numbers(label, "x")[0] - textWidth(label.textContent) >= 0);
});

test("a strip is pale until an expectation is achieved", () => {
  const by = onDay(60);
  const model = newModel([rent(10), rent(20)], [{ ...TRIP, targetAmount: 1 }]);
  const expectations = [
    { posted: { name: "Rent", count: 2, by } },
    { goalReached: { goal: "Trip", by } },
    { balance: { currency: "EUR", atLeast: -500, until: by } },
  ];
  const past = (day) => {
    const strips = stripsOf(model, expectations, day);
    // A counted transaction has a mark, which is pale until it posts.
    assert.deepEqual(
      strips[0].posts,
      [10, 20].map((at) => (at <= day ? at : -at)),
    );
    return strips.map((strip) => strip.past);
  };
  // The rule about the balance holds from the start, the others from an event on.
  assert.deepEqual(past(0), [null, null, null]);
  assert.deepEqual(past(11), [null, [11, 60], [0, 11]]);
  assert.deepEqual(past(20), [[20, 60], [11, 60], [0, 60]]); // biome-ignore format: one line
});
