// An app with a webhook of Plaid. It verifies each call as Plaid's documentation says, and prints its code.
// Usage: node plaid_webhook.mjs URL-OF-PLAID. It prints its port first.

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";

const [url] = process.argv.slice(2);

async function findKey(id) {
  const headers = { "Content-Type": "application/json", "PLAID-CLIENT-ID": "any", "PLAID-SECRET": "any" };
  const body = JSON.stringify({ key_id: id });
  const response = await fetch(`${url}/webhook_verification_key/get`, { method: "POST", headers, body });
  return (await response.json()).key;
}

async function verify(body, token) {
  const { alg, kid } = decodeProtectedHeader(token);
  if (alg !== "ES256") throw new Error(`algorithm ${alg}`);
  const key = await importJWK(await findKey(kid), "ES256");
  const { payload } = await jwtVerify(token, key, { algorithms: ["ES256"], maxTokenAge: "5 min" });
  const digest = createHash("sha256").update(body).digest("hex");
  if (!timingSafeEqual(Buffer.from(digest), Buffer.from(payload.request_body_sha256))) throw new Error("another body");
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  try {
    await verify(body, request.headers["plaid-verification"]);
    console.log(JSON.parse(body).webhook_code);
  } catch (error) {
    console.log(`${error}`);
  }
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
