// Serves the page, and the Tickover client for it.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript" };
const APP = new URL(".", import.meta.url);
const CLIENT = new URL(".", import.meta.resolve("tickover"));

/** Returns the file for a path, or null. */
function fileFor(path) {
  if (path === "/") return new URL("index.html", APP);
  if (path === "/app.js" || path === "/budget.js") return new URL(`.${path}`, APP);
  const [, name] = /^\/tickover\/(\w+\.js)$/.exec(path) ?? [];
  return name ? new URL(name, CLIENT) : null;
}

/** Starts the app on a port, or on a free one. The page gets `config`. Returns the app's URL, and a function to stop it. */
export async function startApp(config, port = 0) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    if (path === "/config.json") {
      response.setHeader("Content-Type", "application/json").end(JSON.stringify(config));
      return;
    }
    const file = fileFor(path);
    const content = file && (await readFile(file).catch(() => null));
    if (content) response.setHeader("Content-Type", TYPES[file.pathname.split(".").at(-1)]).end(content);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tickoverUrl = process.env.TICKOVER_URL ?? "http://127.0.0.1:8000";
  const { url } = await startApp({ tickoverUrl }, 3000);
  console.log(`The app is at ${url}.`);
}
