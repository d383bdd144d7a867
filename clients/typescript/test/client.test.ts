import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, type TestContext, test } from "node:test";
import { InvalidResponse, NoCode, Rejection, Tickover, Unreachable } from "tickover";
import { type Server, start } from "tickover/testing";
import { type Fault, FaultyProxy } from "./faulty-proxy.js";

const START = "2027-01-01T00:00:00Z";
const RENT = { at: "2027-01-03T08:00:00Z", name: "Rent", amount: 1150, currency: "EUR", type: "EXPENSE" } as const;

let server: Server;
let proxy: FaultyProxy;
let tickover: Tickover;

before(async () => {
  server = await start();
  tickover = await server.client();
});

after(() => server.stop());

// A cancelled request may reach its proxy late, so each test has its own proxy.
beforeEach(async () => {
  proxy = await FaultyProxy.start(server.url);
});

afterEach(() => proxy.stop());

/** Returns a client behind the proxy. */
function faulty(...faults: Fault[]): Tickover {
  proxy.faults = faults;
  proxy.calls = 0;
  return new Tickover({ url: proxy.url, token: tickover.token, timeoutSeconds: 60 });
}

/** Records all requests, and makes the first ones fail with these codes before they are sent. */
function failFirst(t: TestContext, ...codes: string[]): Request[] {
  const requests: Request[] = [];
  const send = fetch;
  t.mock.method(globalThis, "fetch", (url: string, options: RequestInit) => {
    requests.push(new Request(url, options));
    const code = codes.shift();
    return code ? Promise.reject(Object.assign(new Error(), { code })) : send(url, options);
  });
  return requests;
}

/** Records all delays in milliseconds, and runs `instead` or what would follow at once. */
function skipDelays(t: TestContext, instead?: () => void): number[] {
  const delays: number[] = [];
  const start = setTimeout;
  t.mock.method(globalThis, "setTimeout", (run: () => void, milliseconds: number, ...rest: []) => {
    // The callbacks of fetch itself have names.
    if (run.name) return start(run, milliseconds, ...rest);
    delays.push(milliseconds);
    return start(instead ?? run, 0);
  });
  return delays;
}

async function rejectionOf(promise: Promise<unknown>): Promise<Rejection> {
  const error: unknown = await promise.then(
    () => assert.fail("the call was not rejected"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Rejection, String(error));
  return error;
}

async function countClocks(name: string): Promise<number> {
  let count = 0;
  for await (const page of tickover.pages("listTestClocks", { labels: { name } })) count += page.clocks.length;
  return count;
}

// Operations

test("all pages are requested", async () => {
  const labels = { test: "pages" };
  const created: string[] = [];
  for (let number = 0; number < 3; number++) created.unshift((await tickover.createTestClock({ labels })).clock.id);
  const found: string[] = [];
  for await (const page of tickover.pages("listTestClocks", { limit: 2, labels })) {
    found.push(...page.clocks.map((clock) => clock.id));
  }
  assert.deepEqual(found, created);
});

test("a sign-in uses the unused code of the last minute", async () => {
  const slow = await start({ settings: { TICKOVER_RESEND_SECONDS: "60" } });
  try {
    const client = new Tickover({ url: slow.url });
    await client.sendCode("ana@example.test");
    await client.signIn("ana@example.test");
    assert.equal((await client.getCurrentUser()).email, "ana@example.test");
    assert.ok((await rejectionOf(client.signIn("ana@example.test"))).is("RESEND_TOO_SOON"));
    await client.logOut();
    await client.signIn("ana@example.test");
  } finally {
    await slow.stop();
  }
});

test("signing in without a mailbox says so", async () => {
  const client = faulty();
  client.latestEmail = async () => null;
  await assert.rejects(client.signIn(server.address()), NoCode);
});

test("signing out removes the token", async () => {
  const client = await server.client();
  await client.logOut();
  assert.equal(client.token, undefined);
  assert.ok((await rejectionOf(client.listTestClocks())).is("UNAUTHENTICATED"));
});

test("wrong names don't compile", () => {
  // @ts-expect-error A misspelled parameter.
  const misspelled = () => tickover.createTestClock({ frozentime: START });
  // @ts-expect-error listTestClocks doesn't need a token parameter, and getTestClock has no pages.
  const unpaged = () => tickover.pages("getTestClock", { id: "clock_1" });
  // @ts-expect-error There is no such reason.
  const reason = (rejection: Rejection) => rejection.is("CLOCK_MISSING");
  assert.ok([misspelled, unpaged, reason]);
});

// Errors

test("a rejection lists every invalid field", async () => {
  const transactions = [{ ...RENT, name: "", amount: -1 }];
  const rejection = await rejectionOf(tickover.createTestClock({ frozenTime: START, transactions }));
  assert.equal(rejection.reason, "INVALID_PARAMS");
  assert.deepEqual(rejection.faults.map((fault) => fault.path).sort(), [
    "transactions[0].amount",
    "transactions[0].name",
  ]);
  for (const { path, message } of rejection.faults) assert.ok(rejection.message.includes(`\n  ${path} ${message}`));
});

test("a server that doesn't run is unreachable", async () => {
  const closed = await FaultyProxy.start(server.url);
  const gone = new Tickover({ url: closed.url, retries: 0 });
  closed.stop();
  await assert.rejects(gone.getCurrentUser(), (error) => error instanceof Unreachable && !error.mayHaveArrived);
});

test("a slow response is a timeout", async () => {
  proxy.faults = ["never respond"];
  const impatient = new Tickover({ url: proxy.url, timeoutSeconds: 0.05, retries: 0 });
  await assert.rejects(impatient.getCurrentUser(), (error) => error instanceof Unreachable && error.mayHaveArrived);
});

test("all attempts of a call have one timeout", async () => {
  proxy.faults = ["slow", "slow", "slow"];
  const impatient = new Tickover({ url: proxy.url, timeoutSeconds: 0.3 });
  await assert.rejects(impatient.getCurrentUser(), (error) => error instanceof Unreachable && error.mayHaveArrived);
  assert.equal(proxy.calls, 1);
});

test("no attempt begins after the timeout", async () => {
  proxy.faults = ["unavailable"];
  const impatient = new Tickover({ url: proxy.url, timeoutSeconds: 0.005, retries: 100 });
  await assert.rejects(impatient.getCurrentUser(), Error);
  assert.ok(proxy.calls <= 1);
});

test("a call with a signal has the timeout too", { timeout: 10_000 }, async () => {
  proxy.faults = ["never respond"];
  const impatient = new Tickover({ url: proxy.url, timeoutSeconds: 0.05, retries: 0 });
  const call = impatient.getCurrentUser({}, { signal: new AbortController().signal });
  await assert.rejects(call, Unreachable);
});

for (const cursors of [["a"], ["a", "b"]]) {
  test(`the repeated cursor of ${cursors.join(" and ")} ends the pages`, async (t) => {
    let requests = 0;
    t.mock.method(globalThis, "fetch", async (_: string, options: RequestInit) => {
      const { id } = JSON.parse(String(options.body)) as { id: number };
      // A client that follows them further gets a last page.
      const nextCursor = requests < 10 ? cursors[requests % cursors.length] : undefined;
      requests++;
      const result = { clocks: [], nextCursor };
      return Response.json({ jsonrpc: "2.0", id, result });
    });
    const readAll = async () => {
      for await (const page of tickover.pages("listTestClocks", {})) assert.deepEqual(page.clocks, []);
    };
    await assert.rejects(readAll(), (error) => error instanceof InvalidResponse && /earlier page/.test(error.message));
    assert.equal(requests, cursors.length + 1);
  });
}

test("a call can be cancelled", async () => {
  const controller = new AbortController();
  const call = faulty("never respond").getCurrentUser({}, { signal: controller.signal });
  controller.abort(new Error("changed my mind"));
  await assert.rejects(call, /changed my mind/);
  assert.ok(proxy.calls <= 1);
});

for (const [fault, message] of [
  ["html", /no JSON-RPC response/],
  ["redirect", /redirects to/],
  ["endless", /more than 16 MiB/],
] as const) {
  test(`a response that is ${fault} is invalid`, async () => {
    const error: unknown = await faulty(fault)
      .getCurrentUser()
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof InvalidResponse, String(error));
    assert.match(error.message, message);
  });
}

for (const options of [
  { url: "127.0.0.1:8000" },
  { url: "ftp://127.0.0.1" },
  { url: "http://ana:secret@127.0.0.1" },
  { token: "two words" },
  { timeoutSeconds: 0 },
  { retries: -1 },
]) {
  test(`${JSON.stringify(options)} is rejected before the first call`, () => {
    assert.throws(() => new Tickover(options), TypeError);
  });
}

// Retries

test("a creation whose response is lost is repeated with the same key", async () => {
  const { clock } = await faulty("lose the response").createTestClock({ labels: { name: "lost" } });
  assert.equal(proxy.calls, 2);
  assert.equal(await countClocks("lost"), 1);
  assert.match(clock.id, /^clock_/);
});

test("a fork and an amendment whose responses are lost are done once", async () => {
  const { clock } = await tickover.createTestClock({ frozenTime: START, labels: { name: "original" } });
  await faulty("lose the response").forkTestClock({ id: clock.id });
  assert.equal(await countClocks("original"), 2);
  const amended = await faulty("lose the response").amendTestClock({ id: clock.id, add: { transactions: [RENT] } });
  assert.equal(amended.clock.pendingTransactions.length, 1);
});

test("your own key makes two calls one", async () => {
  const create = () => tickover.createTestClock({ frozenTime: START }, { idempotencyKey: "order 1" });
  assert.equal((await create()).clock.id, (await create()).clock.id);
  for (const idempotencyKey of ["", " space", "é"]) {
    await assert.rejects(tickover.createTestClock({}, { idempotencyKey }), TypeError);
  }
  await assert.rejects(tickover.getCurrentUser({}, { idempotencyKey: "no use" }), TypeError);
});

for (const failures of [["ECONNREFUSED"], ["ECONNRESET", "ECONNREFUSED"]]) {
  test(`a missing clock after ${failures.join(" and ")} is deleted only if an attempt may have arrived`, async (t) => {
    const { clock } = await tickover.createTestClock();
    await tickover.deleteTestClock({ id: clock.id });
    const requests = failFirst(t, ...failures);
    const deletion = tickover.deleteTestClock({ id: clock.id });
    if (failures.includes("ECONNRESET")) assert.deepEqual(await deletion, { message: "ok" });
    else assert.ok((await rejectionOf(deletion)).is("CLOCK_NOT_FOUND"));
    assert.equal(requests.length, failures.length + 1);
  });
}

test("all attempts of a call have one key, and each call has its own", async (t) => {
  const requests = failFirst(t, "ECONNRESET", "ECONNRESET");
  await tickover.createTestClock();
  await tickover.createTestClock();
  const keys = requests.map((request) => request.headers.get("idempotency-key"));
  assert.equal(keys.length, 4);
  assert.equal(new Set(keys.slice(0, 3)).size, 1);
  assert.notEqual(keys[2], keys[3]);
});

test("delays double, and have a maximum", async (t) => {
  const delays = skipDelays(t);
  failFirst(t, ...Array<string>(8).fill("ECONNREFUSED"));
  await assert.rejects(new Tickover({ url: server.url, retries: 7 }).getCurrentUser(), Unreachable);
  assert.deepEqual(delays, [100, 200, 400, 800, 1600, 3000, 3000]);
});

test("a call can be cancelled while it waits for its next attempt", async (t) => {
  const controller = new AbortController();
  skipDelays(t, () => controller.abort(new Error("changed my mind")));
  const requests = failFirst(t, "ECONNREFUSED");
  await assert.rejects(tickover.getCurrentUser({}, { signal: controller.signal }), /changed my mind/);
  assert.equal(requests.length, 1);
});

// Requests

test("only calls that need the token send it", async (t) => {
  const requests = failFirst(t);
  await tickover.sendCode(server.address());
  await tickover.latestEmail(server.address());
  await tickover.getCurrentUser();
  const sent = requests.map((request) => request.headers.get("authorization"));
  assert.deepEqual(sent, [null, null, `Bearer ${tickover.token}`]);
});

test("a server's URL may have a path", async (t) => {
  const requests = failFirst(t, "ECONNREFUSED", "ECONNREFUSED");
  const client = new Tickover({ url: "http://127.0.0.1:9/behind/a/proxy/", retries: 0 });
  await assert.rejects(client.getCurrentUser(), Unreachable);
  await assert.rejects(client.latestEmail("ana@example.test"), Unreachable);
  assert.deepEqual(
    requests.map((request) => new URL(request.url).pathname),
    ["/behind/a/proxy/rpc", "/behind/a/proxy/mailbox/latest"],
  );
});

test("a sign-in whose response is lost isn't repeated", async () => {
  const email = server.address();
  await tickover.sendCode(email);
  const { code } = await server.waitForEmail(email);
  assert.ok(code);
  await assert.rejects(faulty("lose the response").logIn(email, code), Unreachable);
  assert.equal(proxy.calls, 1);
});

test("an unavailable server is asked again, up to the limit", async () => {
  await faulty("unavailable", "unavailable").getCurrentUser();
  assert.equal(proxy.calls, 3);
  const rejection = await rejectionOf(faulty("unavailable", "unavailable", "unavailable").getCurrentUser());
  assert.equal(rejection.reason, "UNAVAILABLE");
  assert.equal(proxy.calls, 3);
});
