import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, randomNumbers } from "../lib/fake-dom.test.js";
import { DAY, HOUR } from "../lib/instants.js";
import { scale, textWidth } from "./chart-paths.js";
import { axisTicks, drawAxis } from "./time-axis.js";

/** Return where the texts of an axis start, and where the last one ends if it is moved to the left. */
function textsOf(from, to, width) {
  const box = { left: 0, right: width, top: 0, bottom: 100 };
  const axis = drawAxis(axisTicks({ from, to }, width), scale(from, to, 0, width), box);
  const texts = axis.querySelectorAll("text");
  const starts = texts.map((text) => numbers(text, "x")[0]);
  const lines = [
    ...axis
      .querySelector("path")
      .getAttribute("d")
      .matchAll(/M(\S+)/g),
  ].map(([, x]) => Number(x));
  if (lines.includes(starts.at(-1))) return [starts, null];
  return [starts.slice(0, -1), starts.at(-1) + textWidth(texts.at(-1).textContent)];
}

test("the axis has three texts at equal distances at every zoom", () => {
  const random = randomNumbers(1);
  // From an hour to ten years. A narrow axis has no room for equal distances at a few of the zooms.
  const lengths = Array.from({ length: 232 }, (_, power) => HOUR * 1.05 ** power);
  for (const [width, maxTexts, maxUneven] of [
    [270, 7, 12],
    [1050, 23, 0],
  ]) {
    const axes = lengths.map((length) => {
      const from = (random(10_000) * DAY) / 7;
      return textsOf(from, from + length, width);
    });
    // The last text has room on the left of its line.
    const ends = axes.map(([, end]) => end).filter(Boolean);
    assert.ok(ends.length > 9);
    assert.deepEqual([...new Set(ends.map(Math.round))], [width + 4]);
    const uneven = axes.filter(([starts]) => {
      assert.ok(starts.length >= 3 && starts.length <= maxTexts, `${starts}`);
      const gaps = starts.slice(1).map((start, index) => start - starts[index]);
      // February is shorter than March.
      return Math.max(...gaps) > 1.2 * Math.min(...gaps);
    });
    assert.ok(uneven.length <= maxUneven);
  }
});
