import assert from "node:assert/strict";
import { test } from "node:test";
import { describeFault, faultAt, syncBetween } from "./bank-view.js";
import { parseParams } from "./clock-model.js";

const day = (number) => `2027-01-${String(number).padStart(2, "0")}T00:00:00Z`;
const at = (number) => Date.parse(day(number));

test("a sync brings what happened, and pending payments until they are booked", () => {
  const rent = { name: "Rent", type: "EXPENSE", amount: 10, currency: "EUR" };
  const account = (key) => ({ key, name: key, currency: "EUR" });
  const model = parseParams({
    frozenTime: day(1),
    accounts: [account("a"), account("b")],
    transactions: [
      { ...rent, at: day(3) },
      { ...rent, at: day(8), authorizedAt: day(5) },
    ],
    transfers: [{ name: "Save", from: "a", to: "b", amount: 5, at: day(9) }],
    goals: [{ name: "Trip", targetAmount: 9, contributions: [{ amount: 1, at: day(4) }] }],
  });
  assert.deepEqual(syncBetween(model, -Infinity, at(1)), { added: 0, pending: 0, removed: 0 });
  assert.deepEqual(syncBetween(model, -Infinity, at(5)), { added: 2, pending: 1, removed: 0 });
  assert.deepEqual(syncBetween(model, at(5), at(8)), { added: 1, pending: 0, removed: 1 });
  // Both accounts of a transfer have a row.
  assert.deepEqual(syncBetween(model, at(8), at(9)), { added: 2, pending: 0, removed: 0 });
});

test("the first fault that holds counts", () => {
  const down = { kind: "INSTITUTION_DOWN", from: day(3), until: day(5) };
  const locked = { kind: "LOGIN_REQUIRED", from: day(4) };
  const connection = { faults: [down, locked] };
  assert.deepEqual([2, 3, 4, 5].map((number) => faultAt(connection, at(number))), [undefined, down, down, locked]); // biome-ignore format: one line
  assert.equal(describeFault(down), "Bank is down from 3 Jan 2027 until 5 Jan 2027");
  assert.equal(describeFault(locked), "Login required from 4 Jan 2027 on");
  assert.equal(faultAt({}, at(1)), undefined);
});
