import assert from "node:assert/strict";
import { test } from "node:test";
import { newModel, rent } from "../lib/fake-dom.test.js";
import { monthlyTable } from "./monthly-table.js";

/** Return the cells of each row. Red balances have an "!". */
function monthsOf(model, expectations = []) {
  const text = (cell) => `${cell.textContent.trim()}${cell.matches(".below-zero") ? "!" : ""}`;
  const rows = monthlyTable({ ...model, expectations }).querySelectorAll("tbody tr");
  return rows.map((row) => row.children.map(text));
}

const usd = (day, changes = {}) => rent(day, { currency: "USD", ...changes });
const RENTS = [usd(1), rent(2), rent(32), usd(33)];
const OPENING = { openingBalances: { USD: 10 } };

test("each currency has its months", () => {
  assert.deepEqual(monthsOf(newModel(RENTS, [], OPENING)), [
    ["USD"],
    ["Jan 2027 in progress", "1", "", "$10.00", "$0.00 2 Jan", "$0.00"],
    ["Feb 2027", "1", "", "$10.00", "−$10.00 3 Feb!", "−$10.00!"],
    ["EUR"],
    ["Jan 2027 in progress", "1", "", "€10.00", "−€10.00 3 Jan!", "−€10.00!"],
    ["Feb 2027", "1", "", "€10.00", "−€20.00 2 Feb!", "−€20.00!"],
  ]);
});

test("a month can end above its lowest balance", () => {
  const [, month] = monthsOf(newModel([rent(2), rent(3, { type: "INCOME", amount: 30 })]));
  assert.deepEqual(month, ["Jan 2027 in progress", "2", "€30.00", "€10.00", "−€10.00 3 Jan!", "€20.00"]);
});

test("balances are red if an expectation forbids them", () => {
  const expectations = [{ balance: { currency: "EUR", atLeast: -15 } }, { balance: { currency: "USD", atLeast: 5 } }];
  const ends = monthsOf(newModel(RENTS, [], OPENING), expectations).map((row) => row.at(-1));
  const red = ends.filter((text) => text.endsWith("!"));
  assert.deepEqual(red, ["$0.00!", "−$10.00!", "−€20.00!"]);
});
