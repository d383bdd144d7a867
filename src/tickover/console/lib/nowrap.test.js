import assert from "node:assert/strict";
import { test } from "node:test";
import { splitAmounts } from "./nowrap.js";

test("the sign of an amount stays with it", () => {
  for (const [text, amounts] of [
    ["EUR balance never below −€500.00 until 1 Feb", ["−€500.00"]],
    ["−€1,150.00 → +€20.00.", ["−€1,150.00", "+€20.00."]],
    ["“C++ course” on 1 Feb", []],
  ]) {
    const parts = splitAmounts(text);
    assert.equal(parts.join(""), text);
    assert.deepEqual(
      parts.filter((_, index) => index % 2),
      amounts,
    );
  }
});
