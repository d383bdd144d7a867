import assert from "node:assert/strict";
import { test } from "node:test";
import { Rejection } from "tickover";
import { start } from "tickover/testing";

test("a stopped server is gone, and its settings were used", async () => {
  const server = await start({ settings: { TICKOVER_MAX_CLOCKS_PER_USER: "1" } });
  try {
    const tickover = await server.client("ana@example.test");
    assert.equal((await tickover.getCurrentUser()).email, "ana@example.test");
    await tickover.createTestClock();
    await assert.rejects(
      tickover.createTestClock(),
      (error) => error instanceof Rejection && error.reason === "RATE_LIMITED",
    );
  } finally {
    await server.stop();
  }
  await assert.rejects(fetch(server.url));
});

test("a running server can be used", async () => {
  const server = await start();
  try {
    const same = await start({ url: server.url });
    await same.client();
    await same.stop();
    await server.client();
  } finally {
    await server.stop();
  }
});

test("a program that can't start says why", async () => {
  await assert.rejects(start({ command: ["no-such-tickover"] }), /ENOENT.*pip install/);
  await assert.rejects(start({ settings: { TICKOVER_PORT: "many" } }), /exited with code 2.*TICKOVER_PORT/s);
});
