// How often a row of the form repeats.

import assert from "node:assert/strict";
import { test } from "node:test";

// The modules use the page when they are imported.
Object.assign(globalThis, { document: { baseURI: "http://127.0.0.1:8000/" }, addEventListener() {} });
const { repeatEntry } = await import("./clock-form-rows.js");
const days = (entry, until) => repeatEntry(entry, Date.parse(until)).map(({ at }) => at?.slice(0, 10));

test("a row becomes an entry for each date until the end", () => {
  const rent = { name: "Rent", at: "2027-01-31T09:00:00Z", repeats: "monthly" };
  assert.deepEqual(days(rent, "2027-04-30T00:00:00Z"), ["2027-01-31", "2027-02-28", "2027-03-31"]);
  assert.deepEqual(days({ ...rent, repeats: "biweekly" }, "2027-02-14T09:00:00Z"), ["2027-01-31", "2027-02-14"]);
  assert.ok(repeatEntry(rent, Date.parse("2027-04-30T00:00:00Z")).every((entry) => !("repeats" in entry)));
});

test("a row that doesn't repeat, or has no date yet, is one entry", () => {
  assert.deepEqual(days({ at: "2027-01-31T09:00:00Z" }, "2027-04-30T00:00:00Z"), ["2027-01-31"]);
  assert.deepEqual(days({ repeats: "weekly" }, "2027-04-30T00:00:00Z"), [undefined]);
});

test("entries end one after the limit, so that the server rejects them", () => {
  assert.equal(days({ at: "2027-01-01T00:00:00Z", repeats: "weekly" }, "2037-01-01T00:00:00Z").length, 101);
});
