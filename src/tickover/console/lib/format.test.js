import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatAxisMoney,
  formatDuration,
  formatInstant,
  formatMoney,
  formatPastDay,
  formatPercent,
  setDecimals,
  shorten,
} from "./format.js";

const MINUTE = 60_000;
const at = (text) => Date.parse(text);

test("a percentage is 0 or 100 only if the number is", () => {
  const shown = [0, 0.01, 0.99, 1, 1.5, 50.49, 99.4, 99.5, 99.7, 99.99, 100, 100.4, 250.5].map(formatPercent);
  const expected = ["0%", "<1%", "<1%", "1%", "2%", "50%", "99%", "99%", "99%", "99%", "100%", "100%", "251%"];
  assert.deepEqual(shown, expected);
});

test("a long text is cut at its end", () => {
  assert.equal(shorten("Emergency fund", 14), "Emergency fund");
  assert.equal(shorten("Emergency fund", 10), "Emergency…");
  assert.equal(shorten("👩‍👩‍👧 🏳️‍🌈 flat", 1), "…");
  assert.equal(shorten("𝔸𝔹ℂ", 2), "𝔸…");
});

test("an amount has the decimals of its currency, or more that it needs", () => {
  assert.equal(formatMoney(1234.5, "USD"), "$1,234.50");
  assert.equal(formatMoney(-0.005, "USD"), "−$0.005");
  assert.equal(formatMoney(1234, "JPY"), "¥1,234");
  assert.equal(formatMoney(0.1, "BHD"), "BHD\u00a00.100");
  assert.equal(formatMoney(2, "USD", { sign: "always" }), "+$2.00");
  assert.equal(formatMoney(0.1 + 0.2), "0.30000000000000004");
});

test("all amounts of a currency have the decimals that one of them needs", () => {
  setDecimals([{ currency: "USD", places: 3 }]);
  assert.deepEqual([formatMoney(1, "USD"), formatMoney(1, "EUR")], ["$1.000", "€1.00"]);
  setDecimals([{ currency: "USD", places: 5 }]);
  assert.equal(formatMoney(1, "USD"), "$1.00");
  setDecimals([]);
  assert.equal(formatMoney(1, "USD"), "$1.00");
});

test("the values of an axis have the decimals of its step", () => {
  assert.equal(formatAxisMoney(2000, "USD", 500), "$2,000");
  assert.equal(formatAxisMoney(0.5, "USD", 0.25), "$0.5");
  assert.equal(formatAxisMoney(-0.25, "USD", 0.05), "−$0.25");
  assert.equal(formatAxisMoney(1.5e8, "USD", 5e7), "$150M");
});

test("a duration has its two largest units, rounded down", () => {
  const minutes = [-1, 0.99, 59, 60, 119, 1439, 1440, 7 * 1440 - 1];
  assert.deepEqual(
    minutes.map((each) => formatDuration(each * MINUTE)),
    ["0 min", "0 min", "59 min", "1 h 0 min", "1 h 59 min", "23 h 59 min", "1 d 0 h", "6 d 23 h"],
  );
});

test("a time is shown with seconds only if it has some, and not at midnight", () => {
  assert.equal(formatInstant(at("2027-03-02T00:00:00Z")), "2 Mar 2027");
  assert.equal(formatInstant(at("2027-03-12T09:05:00Z")), "12 Mar 2027, 09:05 UTC");
  assert.equal(formatInstant(at("2027-03-12T09:05:01Z")), "12 Mar 2027, 09:05:01 UTC");
});

test("only a day in an earlier year has its year", () => {
  const now = at("2027-06-01T00:00:00Z");
  const shown = ["2026-12-31", "2027-01-01", "2028-01-01"].map((day) => formatPastDay(at(day), now));
  assert.deepEqual(shown, ["31 Dec 2026", "1 Jan", "1 Jan"]);
});
