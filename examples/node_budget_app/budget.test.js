import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "tickover/testing";
import { overdraftWarning } from "./budget.js";

let server;
let tickover;

before(async () => {
  server = await start();
  tickover = await server.client();
});

after(() => server.stop());

async function createClock(rentDay) {
  const transactions = [
    { at: `2027-01-${rentDay}T08:00:00Z`, name: "Rent", amount: 1150, currency: "EUR", type: "EXPENSE" },
    { at: "2027-01-25T08:00:00Z", name: "Salary", amount: 2800, currency: "EUR", type: "INCOME" },
  ];
  return (await tickover.createTestClock({ frozenTime: "2027-01-01T00:00:00Z", transactions })).clock;
}

test("rent before the salary causes a warning", async () => {
  const clock = await createClock("03");
  const warning = await overdraftWarning(tickover, clock.id, "2027-01-31T00:00:00Z");
  assert.equal(warning, "Your account will be at -1150 EUR on 2027-01-03.");
});

test("rent after the salary causes no warning", async () => {
  const clock = await createClock("28");
  assert.equal(await overdraftWarning(tickover, clock.id, "2027-01-31T00:00:00Z"), "");
});
