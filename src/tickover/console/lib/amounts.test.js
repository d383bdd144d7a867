import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAmount, parseAmount, separatorsOf } from "./amounts.js";

// Invalid text is returned unchanged.
const NUMBERS = {
  "en-GB": {
    2800: 2800,
    2800.5: 2800.5,
    "2,800": 2800,
    "2,800.50": 2800.5,
    "1,234,567": 1234567,
    "1.000": 1,
    0.005: 0.005,
    " 12 ": 12,
    "-3": -3,
    "1e-7": 1e-7,
    "007": 7,
  },
  "de-DE": { "2.800": 2800, "2.800,50": 2800.5, "2,8": 2.8, "2,800": 2.8, 2.8: 2.8, "2800.50": 2800.5, "0.800": 0.8 },
  "fr-FR": { "2 800": 2800, "2\u202f800,5": 2800.5, "2\u00a0800": 2800, "2,8": 2.8, "2.80": 2.8 },
  "de-CH": { "2'800": 2800, "2’800.50": 2800.5, 2.8: 2.8 },
};
const INVALID = {
  "en-GB": "2,80|3,5|0,800|2,8000|12,34,567|0x10| |1e3|Infinity|1.|.5|--1|2.800,50|1 000|abc|1_000|٣"
    .split("|")
    .concat("1".repeat(400)),
  "de-DE": ["2,800.50"],
  "fr-FR": ["2.800", "2 80"],
  "de-CH": ["2'80"],
};

for (const [locale, numbers] of Object.entries(NUMBERS))
  test(`amounts are parsed in the format of ${locale}`, () => {
    const format = new Intl.NumberFormat(locale, { useGrouping: "always", numberingSystem: "latn" });
    const parse = (text) => parseAmount(text, separatorsOf(format));
    for (const [text, number] of Object.entries(numbers)) assert.equal(parse(text), number, text);
    for (const text of INVALID[locale]) assert.equal(parse(text), text, text);
  });

test("an amount is written as it can be parsed again", () => {
  for (const number of [0, 12.5, -0.005, 1234567.89, 1e-7]) assert.equal(parseAmount(formatAmount(number)), number);
  assert.equal(formatAmount("abc"), "abc");
});
