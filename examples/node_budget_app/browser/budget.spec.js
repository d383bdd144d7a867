import { expect, test } from "@playwright/test";
import { followClock, start } from "tickover/testing";
import { startApp } from "../server.js";

let app;
let tickover;

test.beforeAll(async () => {
  const config = {};
  app = await startApp(config);
  // The page calls Tickover from another origin, which Tickover has to allow.
  tickover = await start({ settings: { TICKOVER_CORS_ORIGINS: app.url } });
  config.tickoverUrl = tickover.url;
});

test.afterAll(async () => {
  await app?.stop();
  await tickover?.stop();
});

async function requestCode(page, email) {
  await page.goto(app.url);
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await expect(page.getByRole("status")).toHaveText("We sent you a code.");
}

test("the page warns a signed-in user before the account is overdrawn", async ({ page }) => {
  const email = tickover.address();
  await requestCode(page, email);
  await page.getByLabel("Code").fill((await tickover.waitForEmail(email)).code);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("status")).toHaveText(`You are signed in as ${email}.`);
  await page.getByRole("button", { name: "Check my account" }).click();
  await expect(page.getByRole("status")).toHaveText("You have no account yet.");

  const client = await tickover.client(email);
  await client.createTestClock({
    frozenTime: "2027-01-01T00:00:00Z",
    transactions: [
      { at: "2027-01-03T08:00:00Z", name: "Rent", amount: 1150, currency: "EUR", type: "EXPENSE" },
      { at: "2027-01-25T08:00:00Z", name: "Salary", amount: 2800, currency: "EUR", type: "INCOME" },
    ],
  });
  await page.getByRole("button", { name: "Check my account" }).click();
  await expect(page.getByRole("status")).toHaveText("Your account will be at -1150 EUR on 2027-01-03.");
});

test("the page's time is that of the clock", async ({ page }) => {
  const client = await tickover.client();
  const { clock } = await client.createTestClock({ frozenTime: "2027-01-01T00:00:00Z" });
  const advance = await followClock(client, clock.id, (at) => page.clock.setFixedTime(at));
  await page.goto(app.url);
  expect(await page.evaluate(() => new Date().toISOString())).toBe("2027-01-01T00:00:00.000Z");
  await advance("2027-03-01T00:00:00Z");
  expect(await page.evaluate(() => new Date().toISOString())).toBe("2027-03-01T00:00:00.000Z");
});

test("the page shows why a code was rejected", async ({ page }) => {
  const email = tickover.address();
  await requestCode(page, email);
  const { code } = await tickover.waitForEmail(email);
  await page.getByLabel("Code").fill(code === "000000" ? "111111" : "000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("status")).toContainText("wrong");
});
