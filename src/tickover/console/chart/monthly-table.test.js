import assert from "node:assert/strict";
import { test } from "node:test";
import { newModel, onDay, rent, START, TRIP } from "../lib/fake-dom.test.js";
import { DAY } from "../lib/instants.js";
import { monthlyTable } from "./monthly-table.js";

/** Return the cells of each row. Red balances have an "!". */
function monthsOf(model, { expectations = [], day = 0 } = {}) {
  const { element, preview } = monthlyTable({ ...model, expectations });
  preview(START + day * DAY);
  const text = (cell) => `${cell.textContent.trim()}${cell.matches(".below-zero") ? "!" : ""}`;
  return element.querySelectorAll("tbody tr").map((row) => row.children.map(text));
}

const usd = (day, changes = {}) => rent(day, { currency: "USD", ...changes });
const RENTS = [usd(1), rent(2), rent(32), usd(33)];
const OPENING = { openingBalances: { USD: 10 } };

test("the months of a currency have a total", () => {
  assert.deepEqual(monthsOf(newModel(RENTS, [TRIP], OPENING)), [
    ["USD"],
    ["Opening", "", "", "", "", "$10.00"],
    ["Jan 2027", "1 scheduled", "", "$10.00", "$0.00 2 Jan", "$0.00"],
    ["Feb 2027", "1 scheduled", "", "$10.00", "−$10.00 3 Feb!", "−$10.00!"],
    ["Total", "2", "", "$20.00", "−$10.00 3 Feb!", "−$10.00!"],
    ["EUR"],
    ["Jan 2027", "1 scheduled", "", "€10.00", "−€10.00 3 Jan!", "−€10.00!"],
    ["Feb 2027", "1 scheduled", "", "€10.00", "−€20.00 2 Feb!", "−€20.00!"],
    ["Total", "2", "", "€20.00", "−€20.00 2 Feb!", "−€20.00!"],
    ["Contributions to goals"],
    ["Jan 2027", "1 scheduled", "1.00", "", "", ""],
  ]);
});

test("a month can end above its lowest balance", () => {
  const [, month] = monthsOf(newModel([rent(2), rent(3, { type: "INCOME", amount: 30 })]));
  assert.deepEqual(month, ["Jan 2027", "2 scheduled", "€30.00", "€10.00", "−€10.00 3 Jan!", "€20.00"]);
});

test("balances are red if an expectation forbids them", () => {
  const expectations = [{ balance: { currency: "EUR", atLeast: -15 } }, { balance: { currency: "USD", atLeast: 5 } }];
  const ends = monthsOf(newModel(RENTS, [], OPENING), { expectations }).map((row) => row.at(-1));
  const red = ends.filter((text) => text.endsWith("!"));
  assert.deepEqual(red, ["$0.00!", "−$10.00!", "−$10.00!", "−€20.00!", "−€20.00!"]);
});

test("now and the preview divide their months, so that each row has one state", () => {
  const model = { ...newModel([rent(2), rent(19), rent(32)]), now: START + 2 * DAY };
  const [first, later, last] = [
    ["1–3 Jan 2027", "1 posted"],
    ["3–31 Jan 2027", "1 scheduled"],
    ["Feb 2027", "1 scheduled"],
  ];
  for (const [day, rows] of [
    [2, [first, later, last]],
    [11, [first, ["12–31 Jan 2027", "1 scheduled"], last]],
    [24, [first, ["3–24 Jan 2027", "1 would post"], last]],
    [32, [first, ["3–31 Jan 2027", "1 would post"], ["1–2 Feb 2027", "1 would post"]]],
    [1, [["2–3 Jan 2027", "1 posted later"], later, last]],
  ]) {
    const balances = ["−€10.00 3 Jan!", "−€20.00 20 Jan!", "−€30.00 2 Feb!"];
    const expected = rows.map((row, index) => {
      const lowest = balances[index];
      return [...row, "", "€10.00", lowest, `${lowest.split(" ")[0]}!`];
    });
    assert.deepEqual(monthsOf(model, { day }).slice(1, -1), expected, onDay(day));
  }
});
