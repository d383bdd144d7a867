import assert from "node:assert/strict";
import { test } from "node:test";
import { h, withAmounts } from "./dom.js";
import "./fake-dom.test.js";

test("the sign of an amount stays with it", () => {
  for (const [text, amounts] of [
    ["EUR balance never below −€500.00 until 1 Feb", ["−€500.00"]],
    ["−€1,150.00 → +€20.00.", ["−€1,150.00", "+€20.00."]],
    ["“C++ course” on 1 Feb", []],
  ]) {
    const paragraph = h("p", withAmounts(text));
    assert.equal(paragraph.textContent, text);
    const found = paragraph.querySelectorAll(".nowrap").map((node) => node.textContent);
    assert.deepEqual(found, amounts);
  }
});
