import assert from "node:assert/strict";
import { test } from "node:test";
import { listDifferences, readBooks } from "./books.js";

test("books are CSV with a time, an amount, and optionally a name and an id", () => {
  assert.deepEqual(
    readBooks('\ufeffdate,amount,name\r\n2027-01-03,-12.50,"Rent, ""January"""\r\n\r\n2027-01-04 09:30,3,\n'),
    [
      { at: "2027-01-03T00:00:00Z", amount: -12.5, name: 'Rent, "January"' },
      { at: "2027-01-04T09:30:00Z", amount: 3 },
    ],
  );
  assert.deepEqual(readBooks("id,at,amount\ntxn_1,2027-01-03T01:00:00+01:00,1"), [
    { id: "txn_1", at: "2027-01-03T01:00:00+01:00", amount: 1 },
  ]);
  assert.deepEqual(readBooks("at,amount\n"), []);
  assert.equal(readBooks(`date,amount\n${"2027-01-03,1\n".repeat(5_000)}`).length, 5_000);
});

test("what can't be read is explained", () => {
  for (const [text, message] of [
    ["", /not a CSV file of books/],
    ["amount\n1", /not a CSV file of books/],
    ["at,date,amount\n", /not a CSV file of books/],
    ["date;amount\n", /column “date;amount” is unknown/],
    ["date,amount\n2027-01-03,1\nsoon,1", /Row 2: “soon” must be a time/],
    ["date,amount\n2027-01-03,1.000,5", /Row 1: it has more cells/],
    ["date,amount\n2027-01-03,ten", /Row 1: “ten” must be an amount/],
    ["date,amount\n2027-01-03,", /Row 1: “” must be an amount/],
    [`date,amount\n${"2027-01-03,1\n".repeat(5_001)}`, /more than 5000 rows/],
  ])
    assert.throws(() => readBooks(text), message);
});

test("differences are in the order of time", () => {
  const day = (number, more) => ({ at: `2027-01-0${number}T00:00:00Z`, amount: 1, ...more });
  const result = {
    missing: [day(5, { name: "Rent" })],
    unexpected: [day(3)],
    duplicated: [day(4)],
    changed: [{ expected: day(2, { name: "Tea" }), observed: day(6), fields: ["at"] }],
  };
  assert.deepEqual(
    listDifferences(result).map(({ kind, name }) => [kind, name]),
    [["changed", "Tea"], ["unexpected", ""], ["duplicated", ""], ["missing", "Rent"]], // biome-ignore format: one line
  );
});
