import assert from "node:assert/strict";
import { after, afterEach, before, mock, test } from "node:test";
import { followClock, reconcile, start, Webhooks } from "tickover/testing";
import { openBank } from "./bank.js";
import { leftThisMonth } from "./rule.js";
import { startApp } from "./server.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
let server;
let tickover;

before(async () => {
  server = await start();
  tickover = await server.client();
});

after(() => server.stop());
afterEach(() => mock.timers.reset());

async function assertBooksAreRight(clock, budget) {
  const payments = [...budget.payments.values()];
  await reconcile(
    tickover,
    clock.id,
    payments.map(({ id, date, name, cents }) => ({ id, date, name, amount: cents / 100 })),
  );
}

test("the books are right for three months", async () => {
  const { clock, budget } = await openBank(tickover);
  for (const day of ["01-13", "01-31", "02-20", "03-12", "04-01"]) {
    await tickover.advanceTestClock({ id: clock.id, frozenTime: `2027-${day}T00:00:00Z` });
    await budget.sync();
    await assertBooksAreRight(clock, budget);
  }
  assert.equal(budget.payments.size, 9);
});

test("webhooks keep the books up to date", async (context) => {
  const { clock, budget } = await openBank(tickover);
  const app = await startApp(budget, SECRET);
  context.after(() => app.stop());
  const to = `${app.url}/webhook`;
  const webhooks = new Webhooks(tickover, clock.id, { to, secret: SECRET, duplicate: 0.5, reorder: 0.5, seed: 1 });
  for (const month of ["02", "03", "04"]) {
    await tickover.advanceTestClock({ id: clock.id, frozenTime: `2027-${month}-01T00:00:00Z` });
    for (const { response } of await webhooks.deliver()) assert.equal(response.status, 204);
    await assertBooksAreRight(clock, budget);
  }
  const forged = new Webhooks(tickover, clock.id, { to, secret: `whsec_${"A".repeat(32)}` });
  assert.equal((await forged.deliver())[0].response.status, 401);
});

test("the budget of a month ends with the month", async () => {
  const { clock, budget } = await openBank(tickover);
  mock.timers.enable({ apis: ["Date"] });
  const advance = await followClock(tickover, clock.id, (at) => mock.timers.setTime(at.getTime()));
  async function leftAt(time) {
    await advance(time);
    await budget.sync();
    return leftThisMonth([...budget.payments.values()], 100_000);
  }
  // The dinner is pending.
  assert.equal(await leftAt("2027-01-13T00:00:00Z"), 100_000 - 90_000 - 4_150);
  assert.equal(await leftAt("2027-01-31T23:59:59Z"), 100_000 - 90_000 - 4_875);
  assert.equal(await leftAt("2027-02-01T00:00:00Z"), 100_000);
});
