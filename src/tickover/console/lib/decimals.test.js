import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, exactSum, toCommonUnit, toNumber } from "./decimals.js";

test("sums of decimals are exact", () => {
  assert.equal(exactSum([0.1, 0.2]), 0.3);
  assert.equal(exactSum([1e9, -1e9, 1e-7]), 1e-7);
  assert.equal(exactSum([1e21, 1]), 1e21);
  assert.equal(exactSum([]), 0);
  assert.equal(difference(0.3, 0.1), 0.2);
  assert.equal(difference(-1.005, 0.005), -1.01);
});

test("numbers share the smallest decimal unit", () => {
  assert.deepEqual(toCommonUnit([12.5, -3, 0.001]), { places: 3, counts: [12500n, -3000n, 1n] });
  assert.deepEqual(toCommonUnit([1e-7, 2e3]), { places: 7, counts: [1n, 20000000000n] });
  assert.equal(toNumber(-5n, 3), -0.005);
});
