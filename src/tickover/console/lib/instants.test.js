import assert from "node:assert/strict";
import { test } from "node:test";
import { addMonths, endOfDay, parseInstant, startOfDay, toTimestamp } from "./instants.js";

test("timestamps are parsed and formatted like on the server", () => {
  for (const [text, expected = text] of [
    ["2027-01-31T09:00:00Z"],
    ["2027-01-31T09:00:00.000001Z"],
    ["2046-12-31T23:59:59.999999Z"],
    ["2016-02-29T00:00:00.500000Z"],
    ["2027-01-31t10:00:00.25+01:00", "2027-01-31T09:00:00.250000Z"],
    ["2027-01-31T09:00:00.1234569z", "2027-01-31T09:00:00.123456Z"],
    ["2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z"],
    ["1969-12-31T23:59:59.999999Z"],
  ])
    assert.equal(toTimestamp(parseInstant(text)), expected);
  for (const text of ["", "2027", "tomorrow"]) assert.ok(Number.isNaN(parseInstant(text)), text);
});

test("a month later stays in the next month", () => {
  for (const [text, months, expected] of [
    ["2027-01-31T09:00:00.000001Z", 1, "2027-02-28T09:00:00.000001Z"],
    ["2028-01-31T00:00:00Z", 1, "2028-02-29T00:00:00Z"],
    ["2027-12-15T12:00:00Z", 1, "2028-01-15T12:00:00Z"],
    ["2027-03-31T12:00:00Z", -1, "2027-02-28T12:00:00Z"],
  ])
    assert.equal(toTimestamp(addMonths(parseInstant(text), months)), expected);
});

test("a day begins and ends at midnight in UTC", () => {
  const noon = parseInstant("2027-01-31T12:00:00Z");
  assert.equal(toTimestamp(startOfDay(noon)), "2027-01-31T00:00:00Z");
  assert.equal(toTimestamp(endOfDay(noon)), "2027-02-01T00:00:00Z");
  assert.equal(endOfDay(startOfDay(noon)), startOfDay(noon));
});
