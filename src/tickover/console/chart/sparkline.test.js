import assert from "node:assert/strict";
import { test } from "node:test";
import { newModel, numbers, onDay, rent } from "../lib/fake-dom.test.js";
import { sparkline } from "./sparkline.js";

const pay = (day, currency = "EUR") => rent(day, { type: "INCOME", currency });

/** Return the first point of the curve of each currency. */
const firstPoints = (model) =>
  sparkline(model, { width: 100, height: 100 })
    .querySelectorAll(".past .line")
    .map((line) => /^M\S+ [^A-Z]+/.exec(line.getAttribute("d"))[0]);

test("a sparkline starts with the first balance", () => {
  const pays = [pay(1), pay(11), pay(6, "USD")];
  assert.deepEqual(firstPoints(newModel(pays)), ["M0 25", "M48.5 56"]);
  // An opening balance is a fact from the start on.
  assert.deepEqual(firstPoints(newModel(pays, [], { openingBalances: { EUR: 20 } })), ["M0 25", "M53 56"]);
  // The charts of a clock start at its start, whatever its balances, with space for the dot of the present one.
  assert.deepEqual(firstPoints({ ...newModel(pays), id: "clock_1" }), ["M4 44", "M4 94"]);
  // Each currency has a strip with its own zero line. A currency without income has it at the top.
  const others = [pay(1), pay(6, "USD"), rent(1, { currency: "CHF" }), pay(1, "JPY")];
  assert.deepEqual(firstPoints({ ...newModel(others), id: "clock_1" }), ["M4 27.3", "M4 39.3", "M4 94"]);
});

test("a sparkline is red where an expectation is violated", () => {
  const model = newModel([rent(1, { amount: 100 }), rent(20, { amount: 300 })]);
  const limits = (...rules) => {
    const expectations = rules.map((rule) => ({ balance: { currency: "EUR", ...rule } }));
    const clock = { ...model, expectations, id: "clock_1", now: Date.parse(onDay(4)) };
    const svg = sparkline(clock, { width: 100, height: 100 });
    const areas = svg.querySelectorAll("clipPath rect").map((area) => numbers(area, "x", "width", "y").map(Math.round));
    return [...areas, svg.querySelector(".dot").getAttribute("class")];
  };
  assert.deepEqual(limits(), [[4, 96, 7], "dot below-zero"]);
  assert.deepEqual(limits({ atMost: 5 }), [[4, 96, 7], "dot below-zero"]);
  // The balance at the dot is 100 below zero.
  assert.deepEqual(limits({ atLeast: -200 }), [[4, 96, 51], "dot"]);
  assert.deepEqual(limits({ atLeast: 0, from: onDay(10) }), [[51, 49, 7], "dot"]);
  // A limit above the curve makes all of it red.
  assert.deepEqual(limits({ atLeast: 5000 }), [[4, 96, 0], "dot below-zero"]);
});
