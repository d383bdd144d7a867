import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

// Messages disappear after some seconds.
mock.timers.enable({ apis: ["setTimeout"] });

// The modules use the page when they are imported.
class FakeStorage extends Map {
  getItem(key) {
    return this.get(key) ?? null;
  }
  setItem(key, value) {
    this.set(key, value);
  }
  removeItem(key) {
    this.delete(key);
  }
}
const node = () => ({ classList: { toggle() {} }, replaceChildren() {}, append() {}, isConnected: true });
const main = { firstElementChild: node() };
const window = new EventTarget();
Object.assign(globalThis, {
  localStorage: new FakeStorage(),
  location: { hash: "#/clocks" },
  addEventListener: window.addEventListener.bind(window),
  document: { baseURI: "http://127.0.0.1:8000/", getElementById: (id) => (id === "main" ? main : node()) },
});
const { createClock, sameParams } = await import("./create-clock.js");
const { call, callHistory } = await import("../lib/rpc.js");
const { endSession, startSession } = await import("../lib/session.js");

/** The requests that the page has sent, each with `answer(response)`. */
let requests = [];
globalThis.fetch = (_url, { headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const answer = (response) => resolve({ json: async () => ({ jsonrpc: "2.0", ...response }) });
    const lose = () => reject(new TypeError("network"));
    requests.push({ ...JSON.parse(body), key: headers["Idempotency-Key"], token: headers.Authorization, answer, lose });
    signal.addEventListener("abort", () => reject(signal.reason));
  });
const settle = () => new Promise((resolve) => setImmediate(resolve));
const CREATED = { result: { clock: { id: "clock_1" } } };
const signIn = (token) => startSession({ token, email: `${token}@example.test`, userId: token });

beforeEach(() => {
  requests = [];
  signIn("ana");
});

/** Try to create a clock. Return the request, and the outcome as a promise. */
function attempt(params) {
  const outcome = createClock(params).then(
    () => "created",
    (error) => error.reason ?? "lost",
  );
  return { request: requests.at(-1), outcome };
}

test("a retry with the same parameters has the same idempotency key", async () => {
  const first = attempt({ name: "a" });
  first.request.lose();
  assert.equal(await first.outcome, "lost");
  const retry = attempt({ name: "a" });
  assert.equal(retry.request.key, first.request.key);
  retry.request.answer(CREATED);
  assert.equal(await retry.outcome, "created");
  // A new clock needs a new key.
  const next = attempt({ name: "a" });
  assert.notEqual(next.request.key, first.request.key);
  next.request.lose();
  await next.outcome;
  const other = attempt({ name: "b" });
  assert.notEqual(other.request.key, next.request.key);
  other.request.answer(CREATED);
  await other.outcome;
});

test("the next user has another idempotency key", async () => {
  const first = attempt({ name: "a" });
  first.request.lose();
  await first.outcome;
  endSession();
  signIn("ben");
  const second = attempt({ name: "a" });
  assert.notEqual(second.request.key, first.request.key);
  assert.equal(second.request.token, "Bearer ben");
  second.request.answer(CREATED);
  await second.outcome;
});

test("a double click creates one clock", async () => {
  const first = attempt({ name: "a" });
  assert.equal(await attempt({ name: "a" }).outcome, "created");
  assert.equal(requests.length, 1);
  first.request.answer(CREATED);
  await first.outcome;
});

test("an error of an earlier session is not reported", async () => {
  const { request, outcome } = attempt({ name: "a" });
  endSession();
  signIn("ben");
  request.answer({ error: { code: -32001, message: "", data: { reason: "UNAUTHENTICATED" } } });
  assert.equal(await outcome, "created", "nothing is thrown");
});

test("a response that arrives in another session is not in the history", async () => {
  const late = call("getCurrentUser").catch(() => "failed");
  const [request] = requests;
  endSession();
  assert.deepEqual(callHistory(), []);
  signIn("ben");
  request.answer({ result: {} });
  await late;
  assert.deepEqual(callHistory(), []);
});

test("an invalid token ends only its own session", async () => {
  const invalid = { error: { code: -32001, message: "", data: { reason: "UNAUTHENTICATED" } } };
  const late = call("getCurrentUser").catch((error) => error.reason);
  const [request] = requests;
  signIn("ben");
  request.answer(invalid);
  assert.equal(await late, "UNAUTHENTICATED");
  assert.match(localStorage.getItem("tickover"), /ben/);
  const own = call("getCurrentUser").catch((error) => error.reason);
  requests.at(-1).answer(invalid);
  await own;
  assert.equal(localStorage.getItem("tickover"), null);
});

test("the history keeps the latest 30 calls, without quiet ones", async () => {
  for (let number = 0; number < 32; number += 1) {
    const sent = call("getCurrentUser", { number }, { quiet: number === 31 });
    requests.at(-1).answer({ result: {} });
    await sent;
  }
  await settle();
  const numbers = callHistory().map(({ request }) => request.params.number);
  assert.deepEqual(
    numbers,
    Array.from({ length: 30 }, (_, index) => 30 - index),
  );
});

test("parameters mean the same if only the form of their times differs", () => {
  assert.ok(sameParams({ frozenTime: "2027-01-01T00:00:00Z" }, { frozenTime: "2027-01-01T01:00:00+01:00" }));
  assert.ok(sameParams({ goals: [] }, {}));
  assert.ok(!sameParams({ name: "a" }, { name: "b" }));
  assert.ok(!sameParams({ amount: 1 }, { amount: "1" }));
  assert.ok(!sameParams({ frozenTime: "2027-01-01T00:00:00.5Z" }, { frozenTime: "2027-01-01T00:00:00.50Z" }));
  assert.ok(!sameParams([1], { 0: 1 }));
  assert.ok(sameParams({ name: "a", currency: "EUR" }, { currency: "EUR", name: "a" }));
  assert.ok(!sameParams("2027-99-01T00:00:00Z", "2027-98-01T00:00:00Z"));
});
