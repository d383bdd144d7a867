import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, mock, test } from "node:test";
import { Rejection } from "tickover";
import { followClock, reconcile, type Server, settle, start, Webhooks } from "tickover/testing";

let server: Server;

before(async () => {
  server = await start();
});

after(() => server.stop());

test("a server has its settings, can be used by others, and is gone when it is stopped", async () => {
  const own = await start({ settings: { TICKOVER_MAX_CLOCKS_PER_USER: "1" } });
  try {
    const same = await start({ url: own.url });
    const tickover = await same.client("ana@example.test");
    assert.equal((await tickover.getCurrentUser()).email, "ana@example.test");
    await tickover.createTestClock();
    await assert.rejects(
      tickover.createTestClock(),
      (error) => error instanceof Rejection && error.reason === "RATE_LIMITED",
    );
    await same.stop();
    await own.client();
  } finally {
    await own.stop();
  }
  await assert.rejects(fetch(own.url));
});

test("settings of the caller don't reach the server", async () => {
  process.env.TICKOVER_DATABASE_URL = "postgresql://127.0.0.1:9/real";
  try {
    await (await start()).stop();
  } finally {
    delete process.env.TICKOVER_DATABASE_URL;
  }
});

test("an address may need escaping", async () => {
  const tickover = await server.client("ana+1&b@example.test");
  assert.equal((await tickover.getCurrentUser()).email, "ana+1&b@example.test");
});

test("the app's time follows a clock", async () => {
  const client = await server.client();
  const { clock } = await client.createTestClock({ frozenTime: "2027-01-01T00:00:00Z" });
  mock.timers.enable({ apis: ["Date"] });
  try {
    const advance = await followClock(client, clock.id, (at) => mock.timers.setTime(at.getTime()));
    assert.equal(new Date().toISOString(), "2027-01-01T00:00:00.000Z");
    assert.equal((await advance("2027-02-01T09:30:00+01:00")).frozenTime, "2027-02-01T08:30:00Z");
    assert.equal(new Date().toISOString(), "2027-02-01T08:30:00.000Z");
    await assert.rejects(advance("2027-01-01T00:00:00Z"), Rejection);
    assert.equal(new Date().toISOString(), "2027-02-01T08:30:00.000Z");
  } finally {
    mock.timers.reset();
  }
});

test("a test waits until the bank has called its webhook", async () => {
  const statuses = [500, 200];
  const calls: string[] = [];
  const app = createServer((request, response) => {
    calls.push(request.url ?? "");
    response.writeHead(statuses.shift() ?? 500).end();
  });
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const webhook = `http://127.0.0.1:${(app.address() as AddressInfo).port}/hook`;
  try {
    const client = await server.client();
    const rent = { at: "2027-01-01T00:00:00Z", name: "Rent", amount: 1, currency: "EUR", type: "EXPENSE" as const };
    const transactions = [rent, { ...rent, at: "2027-01-03T00:00:00Z" }];
    const { clock } = await client.createTestClock({ frozenTime: rent.at, transactions });
    const { publicToken } = await client.connectTestClock({ id: clock.id, protocol: "PLAID", webhook });
    const body = JSON.stringify({ client_id: "any", secret: "any", public_token: publicToken });
    const headers = { "Content-Type": "application/json" };
    await fetch(`${server.url}/plaid/item/public_token/exchange`, { method: "POST", headers, body });
    await settle(client, clock.id);
    assert.deepEqual(calls, ["/hook", "/hook"]);
    await client.advanceTestClock({ id: clock.id, frozenTime: "2027-01-04T00:00:00Z" });
    await assert.rejects(settle(client, clock.id, { timeoutSeconds: 0.3 }), /doesn't take a call of the bank: 500[.]/);
  } finally {
    app.closeAllConnections();
    app.close();
  }
});

test("books that differ from the bank say how, in order of time", async () => {
  const client = await server.client();
  const { clock } = await client.createTestClock({
    frozenTime: "2027-01-01T00:00:00Z",
    transactions: [
      { at: "2027-01-03T08:00:00Z", name: "Rent", amount: 1150, currency: "EUR", type: "EXPENSE" },
      { at: "2027-01-25T08:00:00Z", name: "Salary", amount: 2800.5, currency: "EUR", type: "INCOME" },
    ],
  });
  const moved = await client.advanceTestClock({ id: clock.id, frozenTime: "2027-02-01T00:00:00Z" });
  const salary = { at: "2027-01-25T09:00:00+01:00", amount: 2800.5, name: "Salary" };
  await reconcile(client, clock.id, [{ date: "2027-01-03", amount: -1150 }, salary], { balance: 1650.5 });
  await reconcile(client, clock.id, new Set([{ date: "2027-01-04", amount: -1150 }]), {
    at: "2027-01-10T00:00:00Z",
    toleranceDays: 1,
  });
  const wrong = { id: moved.clock.transactions[0]?.id ?? "", date: "2027-01-02", amount: 1150 };
  await assert.rejects(reconcile(client, clock.id, [wrong, { date: "2027-01-01", amount: 5 }], { balance: 3 }), {
    name: "AssertionError",
    message: [
      "2027-01-01T00:00:00Z  Row 2 isn't at the bank: 5.",
      "2027-01-03T08:00:00Z  Row 1 for Rent, -1150 has amount 1150 instead of -1150, " +
        "at 2027-01-02T00:00:00Z instead of 2027-01-03T08:00:00Z.",
      "2027-01-25T08:00:00Z  The app has no row for Salary, 2800.5.",
      "The balance is 3 instead of 1650.5.",
    ].join("\n"),
  });
  const copies = Array.from({ length: 12 }, () => salary);
  await assert.rejects(reconcile(client, clock.id, copies), /second copy of Salary, 2800.5.\n… 2 more$/);
});

test("webhooks are signed, arrive in order, and repeat their faults", async () => {
  const client = await server.client();
  const names = ["Rent", "Gym", "Food", "Phone"];
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const run = async (options = {}) => {
    const transactions = names.map((name, day) => {
      return { at: `2027-01-0${day + 1}T08:00:00Z`, name, amount: 1, currency: "EUR", type: "EXPENSE" as const };
    });
    const { clock } = await client.createTestClock({ frozenTime: "2027-01-01T00:00:00Z", transactions });
    const received: string[] = [];
    const to = async (request: Request) => {
      const body = await request.text();
      const header = (name: string) => request.headers.get(name);
      const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${body}`;
      const signature = createHmac("sha256", Buffer.alloc(24, 7)).update(signed).digest("base64");
      assert.equal(header("webhook-signature"), `v1,${signature}`);
      received.push(JSON.parse(body).data.event.transaction.name);
      return new Response(null, { status: 202 });
    };
    const webhooks = new Webhooks(client, clock.id, { to, secret, ...options });
    for (const day of [1, 3, 9]) {
      await client.advanceTestClock({ id: clock.id, frozenTime: `2027-01-0${day}T12:00:00Z` });
      for (const { response } of await webhooks.deliver()) assert.equal(response.status, 202);
    }
    return received;
  };
  assert.deepEqual(await run(), names);
  const faults = { duplicate: 0.5, reorder: 0.5, delay: 0.5 };
  assert.deepEqual(await run({ ...faults, seed: 1 }), await run({ ...faults, seed: 1 }));
  assert.notDeepEqual(await run({ ...faults, seed: 1 }), await run({ ...faults, seed: 5 }));
  assert.deepEqual(
    await run({ duplicate: 1 }),
    names.flatMap((name) => [name, name]),
  );
  // Each delivery has its own faults: Rent and Phone are the only events of theirs.
  assert.deepEqual(await run({ duplicate: 0.5, seed: 6 }), ["Rent", "Gym", "Food", "Food", "Phone", "Phone"]);
  await assert.rejects(run({ secret: "whsec_AAAA" }), /24 to 64/);
  // Without a scheme, a URL is http.
  await assert.rejects(run({ to: server.url.replace("http://", "") }), /405 !== 202/);
});

test("a program that can't start says why", async () => {
  await assert.rejects(start({ command: ["no-such-tickover"] }), /ENOENT.*pip install/);
  await assert.rejects(start({ settings: { TICKOVER_PORT: "many" } }), /exited with code 2.*TICKOVER_PORT/s);
});
