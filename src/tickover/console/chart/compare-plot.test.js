import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBalances } from "../clock/compare-model.js";
import { newSvg, numbers } from "../lib/fake-dom.test.js";
import { DAY } from "../lib/instants.js";
import { drawComparison } from "./compare-plot.js";

test("a comparison shows what the expectations forbid", () => {
  const models = [100, -300].map((value) => {
    const balance = { currency: "EUR", times: [DAY], values: [0, value] };
    return { balances: [balance], start: 0, now: 0, times: balance.times };
  });
  const rule = { atLeast: 0, from: 0, to: 200 * DAY };
  const draw = (later) => {
    const svg = newSvg();
    const rules = [[rule], [{ ...rule, from: later }]];
    const options = { window: { from: 0, to: 100 * DAY }, currency: "EUR", width: 800, rules, clocks: ["A", "B"] };
    drawComparison(svg, compareBalances(models, "EUR"), options);
    assert.equal(svg.querySelectorAll(".forbidden").length, 1);
    return svg.querySelectorAll(".violated").map((violation) => numbers(violation.querySelector("rect"), "width")[0]);
  };
  // The rule of the second clock holds later.
  const [first, second] = draw(50 * DAY);
  assert.ok(first > 1.9 * second);
  assert.equal(draw(0).length, 2);
});
