import assert from "node:assert/strict";
import { test } from "node:test";
import { toTimestamp } from "../lib/instants.js";
import { parseParams } from "./clock-model.js";
import { compareBalances, findDifferences, firstViolation, totalChange } from "./compare-model.js";
import { smallestOf } from "./expectations.js";

const model = (start, ...items) =>
  parseParams({
    frozenTime: `2027-${start}T00:00:00Z`,
    transactions: items.map(([name, amount, day]) => ({
      name,
      amount,
      currency: "EUR",
      type: "EXPENSE",
      at: `2027-${day}T00:00:00Z`,
    })),
  });
const day = (instant) => (Number.isFinite(instant) ? toTimestamp(instant).slice(5, 10) : null);
const times = ({ from, differsFrom, largestAt }) => [from, differsFrom, largestAt].map(day);
const described = (models) =>
  findDifferences(models).map((entry) => [
    ...entry.items.map((item) => item && `${item.name} ${item.amount} ${day(item.at)}`),
    entry.count,
    totalChange(entry),
  ]);

test("changed and moved items of two clocks are paired", () => {
  const rents = ["01-03", "02-03", "03-03"].map((date) => ["Rent", 900.1, date]);
  const first = model(
    "01-01",
    ...rents,
    ["Gym", 20, "01-05"],
    ["Gym", 20, "02-05"],
    ["Bus", 9, "01-09"],
    ["Tea", 1, "01-02"],
  );
  const more = ["02-03", "03-03"].map((date) => ["Rent", 900.4, date]);
  const second = model("01-01", ...more, ["Gym", 20, "01-07"], ["Gym", 20, "02-07"], ["Tea", 1, "01-02"]);
  assert.deepEqual(described([first, second]), [
    ["Rent 900.1 01-03", null, 1, -900.1],
    ["Gym 20 01-05", "Gym 20 01-07", 2, 0],
    ["Bus 9 01-09", null, 1, -9],
    ["Rent 900.1 02-03", "Rent 900.4 02-03", 2, -0.6],
  ]);
  assert.deepEqual(times(compareBalances([first, second], "EUR")), ["01-01", "01-03", "02-05"]);
  assert.deepEqual(described([first, first]), []);
});

test("two clocks are compared from the later start", () => {
  const first = model("01-01", ["Rent", 900, "01-03"], ["Gym", 20, "02-05"]);
  const comparison = compareBalances([first, model("02-01", ["Rent", 900, "02-03"])], "EUR");
  assert.deepEqual(times(comparison), ["02-01", "02-01", "02-01"]);
  assert.deepEqual(comparison.delta.values, [900, 0, 20]);
  assert.deepEqual(times(compareBalances([first, first], "EUR")), ["01-01", null, "01-01"]);
});

test("the earliest of equal differences is the largest", () => {
  const first = model("01-01", ["Tea", 5, "01-03"], ["Tea", 5, "01-09"]);
  assert.equal(
    day(compareBalances([first, model("01-01", ["Tea", 5, "01-05"], ["Tea", 5, "01-11"])], "EUR").largestAt),
    "01-03",
  );
});

test("rules decide when a balance is too low", () => {
  const rule = { atLeast: -500, from: 0, to: 10 };
  const balance = { times: [2, 4], values: [0, -400, -600] };
  const isTooLow = (value, at, rules) => value < smallestOf(rules, at);
  assert.ok(isTooLow(-400, 3, []));
  assert.ok(!isTooLow(-400, 3, [rule]));
  assert.ok(isTooLow(-600, 4, [rule]));
  assert.ok(!isTooLow(-400, 11, [rule]));
  assert.ok(isTooLow(-400, 11, [{ atMost: 9, from: 0, to: 10 }]));
  assert.ok(isTooLow(-400, 3, [rule, { ...rule, atLeast: -300 }]));
  assert.equal(firstViolation(balance, [rule, { ...rule, atLeast: -300 }]), 2);
  assert.equal(firstViolation(balance, [rule]), 4);
  assert.equal(firstViolation(balance, []), Infinity);
});

test("the opening balance can break a rule before the items of the start", () => {
  const start = { name: "Pay", amount: 900, currency: "EUR", type: "INCOME", at: "2027-01-01T00:00:00Z" };
  const { balances, maxTime } = parseParams({ frozenTime: start.at, transactions: [start] });
  const rule = { atLeast: 500, from: balances[0].start, to: maxTime };
  assert.equal(day(firstViolation(balances[0], [rule])), "01-01");
  assert.equal(firstViolation(balances[0], [{ ...rule, from: rule.from + 1 }]), Infinity);
});
