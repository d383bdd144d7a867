// The main path of the console in Firefox: `node firefox.mjs URL PATH_OF_FIREFOX`.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import puppeteer from "puppeteer-core";

const [url, executablePath] = process.argv.slice(2);
const email = "firefox@example.test";
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  defaultViewport: { width: 1280, height: 900 },
  extraPrefsFirefox: { "ui.prefersReducedMotion": 1 },
});
try {
  const page = await browser.newPage();
  const messages = await recordMessages(page);
  const click = async (selector, text) => (await find(text ? `${selector}::-p-text(${text})` : selector)).click();
  const waitForText = async (selector, text) => {
    while (!(await textOf(selector)).includes(text)) await sleep(50);
  };
  const textOf = async (selector) => (await find(selector)).evaluate((element) => element.textContent);

  await signInWithCodeFromMailbox();
  await click("button", "Create Salary and rent");
  await waitForText("h1", "Salary and rent");
  await advanceToClickedTime();
  await click("button", "Fork…");
  await click("dialog button", "Fork");
  await waitForText("h1", "Fork of Salary and rent");
  await click("[aria-label='More actions']");
  await click("[role=menuitem]", "Delete…");
  await click("dialog button", "Delete clock");
  await waitForText("[role=status]", "The clock was deleted.");
  await find("a::-p-text(Salary and rent)");
  await click("button", "Sign out");
  await waitForText("[role=status]", "You are signed out.");
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0);
  assert.deepEqual(messages, []);

  /** Return the element, as soon as it is visible. Puppeteer's own waits need eval(), which the page forbids. */
  async function find(selector) {
    for (;;) {
      const element = await page.$(selector);
      if (await element?.isVisible()) return element;
      await sleep(50);
    }
  }

  async function signInWithCodeFromMailbox() {
    await page.goto(url);
    await click("input[type=email]");
    await page.keyboard.type(email);
    await click("button", "Send me a code");
    await waitForText("h1", "Enter your code");
    await page.goto(`${url}/#/mailbox?to=${email}`);
    await click(".email-list a");
    const code = await textOf(".code-digits");
    // The page still asks for the code.
    await page.goto(`${url}/#/clocks/new`);
    await click("input[autocomplete=one-time-code]");
    await page.keyboard.type(code);
    await waitForText("[role=status]", `You are signed in as ${email}.`);
  }

  async function advanceToClickedTime() {
    const balance = ".figures .figure:nth-child(2) .figure-value";
    const [balanceBefore, postedBefore] = [await textOf(balance), await postedInChart()];
    const { x, y, width, height } = await (await find(".plot")).boundingBox();
    await page.mouse.click(x + width * 0.6, y + height / 2);
    await waitForText("#preview-summary", "events would post");
    const wouldPost = Number.parseInt(await textOf("#preview-summary"), 10);
    await click(".advance");
    await waitForText("[role=status]", `${wouldPost} events posted. Balance`);
    assert.equal(await postedInChart(), postedBefore + wouldPost);
    assert.notEqual(await textOf(balance), balanceBefore);
  }

  async function postedInChart() {
    const label = await page.$eval(".plot", (plot) => plot.ariaLabel);
    return Number(label.match(/([0-9]+) of [0-9]+ events posted/)[1]);
  }
} finally {
  await browser.close();
}

/** Collect console messages, errors and violations of the content security policy. */
async function recordMessages(page) {
  const messages = [];
  await page.evaluateOnNewDocument(() =>
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error(`${violatedDirective} forbids ${blockedURI}`),
    ),
  );
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => {
    // Firefox reports errors about its own objects, too. No script of the page is on their stack.
    const isInternal = error.message.includes("Permission denied to access property") && !error.stack.includes(url);
    if (!isInternal) messages.push(`${error.stack}`);
  });
  return messages;
}
