import assert from "node:assert/strict";
import { test } from "node:test";
import "../lib/fake-dom.test.js";
import { scale, stepCurve } from "./chart-paths.js";
import { boundsIn, drawViolations } from "./forbidden-areas.js";

test("the bounds in a window are those of the rules that hold in it", () => {
  const rules = [
    { atLeast: 1, from: 0, to: 15 },
    { atLeast: 1, atMost: 9, from: 12, to: 30 },
    { atMost: 8, from: 0, to: 15 },
    { atMost: 7, from: 0, to: 9 },
  ];
  const found = boundsIn(rules, { from: 10, to: 20 }).map(({ value, isLast }) => [value, isLast]);
  assert.deepEqual(found, [[1, true], [9, true], [8, false]]); // biome-ignore format: one line
});

test("a curve is drawn again only for rules that it violates", () => {
  const [x, y] = [scale(0, 20, 0, 200), scale(-100, 100, 200, 0)];
  const curve = stepCurve({ times: [10], values: [50, 30] }, x, y, 0, 20);
  const box = { from: 0, to: 20, top: 0, bottom: 200, y };
  const count = (rule) => drawViolations(curve, [{ from: 0, to: 20, ...rule }], x, box).length;
  assert.deepEqual([{ atLeast: 0 }, { atMost: 80 }, { atLeast: 40 }, { atMost: 40 }].map(count), [0, 0, 1, 1]);
});
