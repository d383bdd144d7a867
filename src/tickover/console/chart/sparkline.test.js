import assert from "node:assert/strict";
import { test } from "node:test";
import { curveStart } from "./sparkline.js";

test("a sparkline starts with the first balance", () => {
  const curve = { times: [10, 20], values: [0, 5, 10] };
  const scenario = { id: null, start: 1 };
  assert.equal(curveStart(curve, scenario), 10);
  // An opening balance is a fact from the start on.
  assert.equal(curveStart({ ...curve, values: [7, 12, 17] }, scenario), 1);
  assert.equal(curveStart({ times: [], values: [0] }, scenario), 1);
  // The charts of a clock start at its start, whatever its balances.
  assert.equal(curveStart(curve, { id: "clock_1", start: 1 }), 1);
});
