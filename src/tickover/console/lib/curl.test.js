// Text from a link or a form is never code in a shell.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { writeCurl } from "./curl.js";

const HOSTILE = "x'; touch pwned; `id` $(id) !! # \u202e";

/** Return the arguments and the input that a shell passes to curl. */
const run = (command) =>
  execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; cat; }\n${command}`], {
    encoding: "utf-8",
    input: "",
  }).split("\0");

test("values are data in a shell", () => {
  // Linux limits the size of an argument, so a long body is the input.
  for (const name of [HOSTILE, HOSTILE.repeat(1_000)]) {
    const request = { method: "createTestClock", params: { name } };
    const call = { request, authenticated: true, headers: { "Idempotency-Key": HOSTILE } };
    const words = run(writeCurl(call, { url: "http://127.0.0.1:8000/rpc", token: HOSTILE }));
    const [url, authorization, key, body, input] = [1, 5, 7, 9, 10].map((index) => words[index]);
    assert.equal(url, "http://127.0.0.1:8000/rpc");
    assert.equal(authorization, `Authorization: Bearer ${HOSTILE}`);
    assert.equal(key, `Idempotency-Key: ${HOSTILE}`);
    assert.deepEqual(JSON.parse(body === "@-" ? input : body), request);
  }
});

test("only authenticated calls have a token", () => {
  const command = writeCurl({ request: {} }, { url: "http://127.0.0.1:8000/rpc" });
  assert.ok(!command.includes("TOKEN"));
});
