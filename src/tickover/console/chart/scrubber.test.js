import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, HOUR } from "../lib/instants.js";
import { sliderStep, snapToItem } from "./scrubber.js";

test("the slider stops at the times of items", () => {
  const times = [2 * DAY + 8 * HOUR, 2 * DAY + 9 * HOUR, 3 * DAY + 12 * HOUR, 5 * DAY - HOUR, 9 * DAY];
  const now = 6 * DAY + 10 * HOUR;
  const window = { from: 0, to: 30 * DAY };
  // Of two items in a step, the slider stops at the last.
  const stops = { 2: times[1], 4: times[2], 5: times[3], 6: now, 9: times[4] };
  for (let day = 0; day <= 30; day += 1) {
    const instant = snapToItem({ times, now }, window, day * sliderStep(window));
    assert.equal(instant, stops[day] ?? day * DAY);
    // The thumb stays where the slider put it, so keys can move it on.
    assert.equal(Math.round(instant / sliderStep(window)), day);
  }
});
