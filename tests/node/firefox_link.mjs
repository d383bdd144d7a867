// Link in an app's page in Firefox: `node firefox_link.mjs URL PATH_OF_FIREFOX LINK_TOKEN`. Prints the public token.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import puppeteer from "puppeteer-core";

const [url, executablePath, linkToken] = process.argv.slice(2);
const FILES = {
  "/": ["link_app.html", "text/html"],
  "/link_app.js": ["link_app.js", "text/javascript"],
  "/react.js": ["node_modules/react/umd/react.production.min.js", "text/javascript"],
  "/react-dom.js": ["node_modules/react-dom/umd/react-dom.production.min.js", "text/javascript"],
  "/react-plaid-link.js": ["node_modules/react-plaid-link/dist/index.umd.js", "text/javascript"],
};

// The app, on another origin than the bank. The library gets the bank's address instead of Plaid's.
const server = createServer(async ({ url: path }, response) => {
  const [file, type] = FILES[path.split("?")[0]];
  const text = await readFile(new URL(file, import.meta.url), "utf8");
  response.setHeader("content-type", type);
  response.end(text.replace("https://cdn.plaid.com", `${url}/plaid`));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  extraPrefsFirefox: { "ui.prefersReducedMotion": 1 },
});
try {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(error.message));
  await page.goto(`http://127.0.0.1:${server.address().port}/?token=${linkToken}`);
  await (await find(() => page, "button:not([disabled])")).click();
  const frame = () => page.frames().find((each) => each.url().includes("/link.html"));
  await (await find(frame, "[aria-label='Choose First Bank']")).click();
  await (await find(frame, ".primary")).click();
  let calls = [];
  while (!calls.some(([name]) => name === "success")) {
    await sleep(50);
    calls = await page.evaluate(() => window.calls);
  }
  const events = calls.filter(([name]) => name === "event").map(([, event]) => event);
  assert.deepEqual(events, ["OPEN", "SELECT_INSTITUTION", "HANDOFF"]);
  assert.deepEqual(messages, []);
  const [, publicToken] = calls.find(([name]) => name === "success");
  console.log(publicToken);
} finally {
  await browser.close();
  server.close();
}

/** Return the element, as soon as it is visible. */
async function find(frame, selector) {
  for (;;) {
    const element = await frame()?.$(selector);
    if (await element?.isVisible()) return element;
    await sleep(50);
  }
}
