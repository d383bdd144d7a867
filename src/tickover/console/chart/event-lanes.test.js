import assert from "node:assert/strict";
import { test } from "node:test";
import { randomNumbers } from "../lib/random-numbers.test.js";
import { scale } from "./chart-paths.js";
import { BAR_DISTANCE, barLanes, placeMarks } from "./event-lanes.js";

const income = (at, amount, more = {}) => ({ at, amount, kind: "income", currency: "EUR", ...more });

/** Return the marks of the lane of income in a window. */
function marksOf(model, from, to, width) {
  const { income } = barLanes(model, { currency: "EUR", items: model.items }, { from, to }, width);
  return placeMarks(income, BAR_DISTANCE, scale(from, to, 0, width), { from, to });
}

test("marks keep their items while the plot moves", () => {
  const random = randomNumbers(1);
  const times = [...new Set(Array.from({ length: 1_100 }, () => random(10_000)))].sort((a, b) => a - b);
  const now = times[500];
  const items = times.map((at, id) => income(at, 1, { id }));
  const ids = (from, to) => marksOf({ items, now }, from, to, 500).map(({ items }) => items.map(({ id }) => id));
  const whole = ids(0, 10_000);
  assert.deepEqual(whole.flat(), [...times.keys()]);
  assert.ok(whole.every((mark) => mark.at(-1) <= 500 || mark[0] > 500));
  assert.ok(whole.length < 100);
  // Only marks at the edges appear and disappear.
  const inBoth = ids(2_000, 5_000).filter(([first]) => times[first] >= 2_003);
  assert.deepEqual(ids(2_003, 5_003).slice(0, inBoth.length), inBoth);
});

test("a mark is at the time of its largest item", () => {
  for (const [entries, places] of [
    [
      [
        [10, 5],
        [14, 900],
        [40, 1],
      ],
      [14, 40],
    ],
    [
      [
        [10, 900],
        [14, 5],
      ],
      [10],
    ],
    // The mark after it gives way, so that no bar covers another one.
    [
      [
        [10, 5],
        [16, 900],
        [18, 7],
      ],
      [16, 23],
    ],
  ]) /* biome-ignore format: one line each */ {
    const items = entries.map(([at, amount]) => income(at, amount));
    const marks = marksOf({ items, now: 0 }, 0, 100, 100);
    assert.deepEqual(
      marks.map(({ x }) => x),
      places,
    );
  }
});

test("the texts of lanes are amounts of money", () => {
  // The payments are one bar, whose total depends on the width of the plot.
  const payments = [income(0, 0.1), income(0, 2800.2)];
  const rents = [income(0, 300, { kind: "expense" })];
  const curve = { currency: "EUR", items: [...payments, ...rents] };
  const lanes = barLanes({ now: 0 }, curve, { from: 0, to: 1000 }, 1000);
  assert.deepEqual([lanes.income.text, lanes.expense.text], ["largest €2,800.20", "largest €300.00"]);
});
