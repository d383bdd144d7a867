import { expect, test } from "@playwright/test";
import { followClock, start } from "tickover/testing";
import { openBank } from "../bank.js";
import { startApp } from "../server.js";

let tickover;

test.beforeAll(async () => {
  tickover = await start();
});

test.afterAll(() => tickover?.stop());

test("the page shows what is left, at the time of the bank", async ({ page }) => {
  const client = await tickover.client();
  const { clock, budget } = await openBank(client);
  const app = await startApp(budget, "");
  try {
    const advance = await followClock(client, clock.id, (at) => page.clock.setFixedTime(at));
    await page.goto(app.url);
    const left = page.getByRole("status");
    await expect(left).toHaveText("You can spend 1000.00 EUR until the end of the month.");

    await advance("2027-01-31T23:59:59Z");
    await budget.sync();
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect(left).toHaveText("You can spend 51.25 EUR until the end of the month.");

    await advance("2027-02-01T00:00:00Z");
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect(left).toHaveText("You can spend 1000.00 EUR until the end of the month.");
  } finally {
    await app.stop();
  }
});
