import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { startPolling } from "./poll.js";

const page = new EventTarget();

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.addEventListener = page.addEventListener.bind(page);
  globalThis.removeEventListener = page.removeEventListener.bind(page);
});
afterEach(() => mock.timers.reset());

/** Watch a clock. `requests` has the polls, which a test answers, and `shown` what the page was told. */
function watch(more) {
  const [requests, shown] = [[], []];
  const load = (signal) =>
    new Promise((resolve, reject) => {
      requests.push({ resolve, reject, signal });
      signal.addEventListener("abort", () => reject(new Error("aborted")));
    });
  const onError = ({ message }) => shown.push(message) && message !== "gone";
  const watcher = startPolling(load, { onLoad: (clock) => shown.push(clock), onError, ...more });
  return { watcher, requests, shown };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const pass = async (milliseconds) => {
  mock.timers.tick(milliseconds);
  await settle();
};

test("the clock is loaded every two seconds, one request at a time", async () => {
  const { watcher, requests, shown } = watch();
  await pass(1_999);
  assert.equal(requests.length, 0);
  await pass(1);
  assert.equal(requests.length, 1);
  await pass(10_000);
  watcher.poll();
  assert.equal(requests.length, 1);
  requests[0].resolve("first");
  await settle();
  await pass(2_000);
  requests[1].resolve("second");
  await settle();
  assert.deepEqual(shown, ["first", "second"]);
});

test("a poll that was sent before an action doesn't revert it", async () => {
  const { watcher, requests, shown } = watch();
  watcher.poll();
  let finish;
  const action = watcher.pauseWhile(() => new Promise((resolve) => (finish = resolve)));
  requests[0].resolve("before the action");
  await settle();
  await pass(60_000);
  assert.equal(requests.length, 1, "no poll is sent during the action");
  finish("result");
  assert.equal(await action, "result");
  await pass(2_000);
  requests[1].resolve("after the action");
  await settle();
  assert.deepEqual(shown, ["after the action"]);
});

test("polling continues after a failed action", async () => {
  const { watcher, requests } = watch();
  await assert.rejects(watcher.pauseWhile(() => Promise.reject(new Error("refused"))));
  await pass(2_000);
  assert.equal(requests.length, 1);
});

test("a failure is reported, and polling continues more slowly until the clock is gone", async () => {
  const { requests, shown } = watch();
  await pass(2_000);
  requests[0].reject(new Error("unreachable"));
  await settle();
  await pass(4_999);
  assert.equal(requests.length, 1);
  await pass(1);
  requests[1].reject(new Error("gone"));
  await settle();
  await pass(60_000);
  assert.deepEqual([requests.length, shown], [2, ["unreachable", "gone"]]);
});

test("the clock is loaded at once when the browser is online again", async () => {
  const { requests } = watch();
  await pass(2_000);
  requests[0].reject(new Error("unreachable"));
  await settle();
  page.dispatchEvent(new Event("online"));
  assert.equal(requests.length, 2);
  await pass(60_000);
  assert.equal(requests.length, 2, "one request at a time");
});

test("polling waits while the page is busy or hidden", async () => {
  let isBusy = true;
  const { requests } = watch({ isBusy: () => isBusy });
  await pass(2_000);
  await pass(500);
  assert.equal(requests.length, 0);
  isBusy = false;
  document.hidden = true;
  await pass(500);
  assert.equal(requests.length, 0);
  document.hidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(requests.length, 1);
});

test("a stopped watcher sends nothing and drops the request under way", async () => {
  const { watcher, requests, shown } = watch();
  watcher.poll();
  watcher.stop();
  assert.ok(requests[0].signal.aborted);
  requests[0].resolve("late");
  page.dispatchEvent(new Event("online"));
  document.dispatchEvent(new Event("visibilitychange"));
  await pass(60_000);
  assert.deepEqual([requests.length, shown], [1, []]);
});
