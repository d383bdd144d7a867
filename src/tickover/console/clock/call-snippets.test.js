// Calls as code: text from a link or a form is never code in a shell or in Python.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { writeSnippet } from "./call-snippets.js";

const HOSTILE = "x'; touch pwned; `id` $(id) #";
const AT = "2027-01-02T00:00:00Z";
const ITEM = { type: "INCOME", name: HOSTILE, amount: HOSTILE, currency: HOSTILE, at: AT };

const write = (kind, method, params) =>
  writeSnippet(kind, { request: { method, params } }, { url: "http://127.0.0.1:8000/rpc" });

/** Return the words of a command. */
const split = (command) =>
  execFileSync("sh", ["-c", `set -- ${command}; printf '%s\\0' "$@"`], { encoding: "utf-8" }).split("\0");

test("values are single words of the shell", () => {
  for (const [method, params, count] of [
    ["getTestClock", { id: HOSTILE }, 1],
    ["advanceTestClock", { id: HOSTILE, frozenTime: AT }, 1],
    ["forkTestClock", { id: HOSTILE }, 1],
    ["updateTestClock", { id: HOSTILE, name: HOSTILE }, 2],
    ["deleteTestClock", { id: HOSTILE }, 1],
    ["listTestClockEvents", { id: HOSTILE }, 1],
    ["getTestClockBalances", { id: HOSTILE }, 1],
    ["checkTestClock", { id: HOSTILE, expectations: [] }, 1],
    ["exportTestClock", { id: HOSTILE, format: "csv" }, 1],
    ["amendTestClock", { id: "c", add: { transactions: [ITEM] } }, 3],
    ["amendTestClock", { id: "c", add: { contributions: [{ ...ITEM, goalId: HOSTILE }] } }, 2],
    ["amendTestClock", { id: "c", cancel: [HOSTILE] }, 1],
    ["sendLoginCodeEmail", { email: HOSTILE }, 1],
  ]) {
    const [, command] = write("cli", method, params).trim().split("\n");
    const words = split(command);
    assert.equal(words[0], "tickover");
    assert.equal(words.filter((word) => word === HOSTILE).length, count, command);
  }
});

test("parameters that no code can send give advice", () => {
  for (const [kind, method, params] of [
    ["cli", "getTestClock", {}],
    ["cli", "getTestClock", { id: "a\x15b" }],
    ["cli", "deleteTestClock", { id: "--all" }],
    ["cli", "amendTestClock", { id: "c", add: { transactions: [{ name: "Rent" }] } }],
    ["cli", "checkTestClock", { id: "c" }],
    ["python", "createTestClock", { transactions: [{ name: "Rent" }] }],
    ["python", "createTestClock", { transactions: [{ ...ITEM, type: "print('pwned')#" }] }],
    ["python", "checkTestClock", { id: "c", expectations: [{}] }],
  ])
    assert.equal(write(kind, method, params), "# No code for these parameters. Use curl.\n");
});

test("code does what the call does", () => {
  const link = { email: "ana@example.test", loginCodeType: "LONG_LIVED", emailType: "WEB_LOGIN_LINK" };
  const code = { email: "ana@example.test", loginCodeType: "SHORT_LIVED", emailType: "LOGIN_CODE" };
  for (const [kind, method, params, expected] of [
    ["cli", "sendLoginCodeEmail", link, "\ntickover login ana@example.test --link\n"],
    ["cli", "sendLoginCodeEmail", code, "\ntickover login ana@example.test\n"],
    ["python", "sendLoginCodeEmail", link, 'tickover.send_link("ana@example.test")'],
    ["python", "sendLoginCodeEmail", code, 'tickover.send_code("ana@example.test")'],
    ["python", "expandScenario", { text: "#", start: AT }, `tickover.expand_scenario("#", start="${AT}")`],
    ["python", "listTestClocks", { limit: 5, "x=1": 2 }, "tickover.list_page(limit=5)"],
  ])
    assert.ok(write(kind, method, params).includes(expected));
});
