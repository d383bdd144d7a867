import assert from "node:assert/strict";
import { test } from "node:test";
import { randomNumbers } from "../lib/random-numbers.test.js";
import { curvePath, labelledValues, scale, stepCurve, valueScale } from "./chart-paths.js";

test("a curve of many changes shows every extreme value", () => {
  const random = randomNumbers(1);
  const times = [...new Set(Array.from({ length: 2_500 }, () => random(10_000)))].sort((a, b) => a - b);
  const values = Array.from({ length: times.length + 1 }, () => random(1_000) - 500);
  const [from, to, width] = [1_000, 9_000, 300];
  const x = scale(from, to, 0, width);
  const curve = stepCurve({ times, values }, x, (value) => value, from, to);
  const heightsOf = (path) => [...path.matchAll(/(?:V|[LM]\S+ )([-\d.]+)/g)].map(([, height]) => Number(height));
  const visible = [...times.keys()].filter((index) => times[index] > from && times[index] <= to);
  for (const index of visible) {
    const column = curve.xs.findLastIndex((left) => left <= x(times[index]));
    const heights = [curve.ys[column - 1], ...heightsOf(curve.parts[column])];
    assert.ok(Math.min(...heights) <= values[index + 1] && values[index + 1] <= Math.max(...heights));
  }
  const drawn = heightsOf(curvePath(curve, 0, width));
  const exact = [values[visible[0]], ...visible.map((index) => values[index + 1])];
  assert.deepEqual([Math.min(...drawn), Math.max(...drawn)], [Math.min(...exact), Math.max(...exact)]);
  assert.deepEqual([curve.highest, curve.lowest], [Math.min(...drawn), Math.max(...drawn)]);
  assert.deepEqual([curve.ys[0], curve.ys.at(-1)], [exact[0], exact.at(-1)]);
  // A column of two pixels has at most three vertical lines.
  assert.ok(drawn.length <= (width / 2) * 3 + 1);
});

test("values have enough round ticks up to the highest", () => {
  const ranges = [[0, 4_000], [-735, 4_100], [-0.9, 1.9], [-1_150, 0], [0, 1], [-3, 999_999_999.99], [0, 1e-12]]; // biome-ignore format: one line
  for (const [low, high] of ranges) {
    const { y, ticks } = valueScale([low, high], 4, 100, 0);
    assert.ok(ticks.length >= 4 && ticks.length <= 9);
    assert.ok(ticks.includes(0));
    assert.ok(low <= ticks[0] && ticks[0] < high && high <= ticks.at(-1));
    assert.deepEqual([y(low), y(ticks.at(-1))], [100, 0]);
  }
  assert.deepEqual(valueScale([-735, 4_100], 4, 100, 0).ticks, [0, 2_000, 4_000, 6_000]);
  // No number is small enough for these ticks.
  assert.deepEqual(valueScale([0, 5e-324], 4, 100, 0).ticks, []);
});

test("bounds of expectations are labelled", () => {
  const labels = (size, bounds) => labelledValues({ ...valueScale([0, size], 4, 160, 0), bounds });
  const small = { value: 60, isLast: true };
  const large = [
    { value: 3000, isLast: false },
    { value: 4000, isLast: true },
  ];
  const all = [0, 3000, 4000, 2000, 6000, 8000];
  assert.deepEqual(labels(8_000, [small, ...large]), { atLeft: all, atRight: [60] });
  assert.deepEqual(labels(100, [small]), { atLeft: [0, 60, 20, 40, 80, 100], atRight: [] });
  // It doesn't hold at the right edge.
  assert.deepEqual(labels(8_000, [{ ...small, isLast: false }, ...large]), { atLeft: all, atRight: [] });
});
