// Serves the page and its payments, and takes webhooks as in Standard Webhooks.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Budget } from "./budget.js";

const FILES = { "/": "index.html", "/app.js": "app.js", "/rule.js": "rule.js" };
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript" };

/** Starts the app on a port, or on a free one. Returns the app's URL, and a function to stop it. */
export async function startApp(budget, secret, port = 0) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const processed = new Set();

  async function handle(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/payments.json") {
      response.setHeader("Content-Type", "application/json").end(JSON.stringify([...budget.payments.values()]));
    } else if (pathname === "/webhook" && request.method === "POST") {
      response.writeHead(await takeWebhook(request)).end();
    } else if (pathname in FILES) {
      const file = FILES[pathname];
      response.setHeader("Content-Type", TYPES[file.split(".").at(-1)]);
      response.end(await readFile(new URL(file, import.meta.url)));
    } else response.writeHead(404).end();
  }

  /** Syncs when the bank has news. Returns the status of the response. */
  async function takeWebhook(request) {
    const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature = "" } = request.headers;
    const digest = createHmac("sha256", key)
      .update(`${id}.${timestamp}.${await text(request)}`)
      .digest("base64");
    const [expected, given] = [`v1,${digest}`, signature].map((each) => Buffer.from(each));
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) return 401;
    if (!processed.has(id)) await budget.sync();
    processed.add(id);
    return 204;
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { BANK_URL = "http://127.0.0.1:8000/plaid", PUBLIC_TOKEN = "", WEBHOOK_SECRET = "" } = process.env;
  const budget = new Budget(BANK_URL);
  await budget.connect(PUBLIC_TOKEN);
  await budget.sync();
  const { url } = await startApp(budget, WEBHOOK_SECRET, 3000);
  console.log(`The app is at ${url}.`);
}
