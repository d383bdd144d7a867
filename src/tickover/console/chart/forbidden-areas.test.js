import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsIn } from "./forbidden-areas.js";

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
