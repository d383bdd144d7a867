// Creates a clock exactly once, even after a double click or a lost response.

import { writeChecks } from "./clock-checks.js";
import { notify } from "./dom.js";
import { faultsIn } from "./faults.js";
import { formatDuration } from "./format.js";
import { call, RpcError, ServerUnavailable } from "./rpc.js";
import { captureSession, onSessionEnd } from "./session.js";

let lastAttempt = { text: null, key: null };
let isCreating = false;
onSessionEnd(() => (lastAttempt = { text: null, key: null }));

// Browsers have randomUUID only on https pages and on localhost.
export const newIdempotencyKey = () =>
  crypto.randomUUID?.() ??
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Create a clock, store its checks and open it, unless the user has left the page. Throw RpcError or ServerUnavailable.
 *
 * A retry with the same parameters sends the same idempotency key, so the server creates one clock.
 */
export async function createClock(params, checks = {}) {
  if (isCreating) {
    notify("Another clock is being created. Try again when it is ready.", { error: true });
    return;
  }
  isCreating = true;
  const page = document.getElementById("main").firstElementChild;
  const isSameSession = captureSession();
  const text = JSON.stringify(params);
  const key = lastAttempt.text === text ? lastAttempt.key : newIdempotencyKey();
  lastAttempt = { text, key };
  try {
    const { clock } = await call("createTestClock", params, { headers: { "Idempotency-Key": key } });
    lastAttempt = { text: null, key: null };
    if (!isSameSession()) return;
    writeChecks(clock.id, checks);
    if (page.isConnected) location.hash = `#/clock/${clock.id}`;
    else notify(`${params.name ? `“${params.name}”` : "The clock"} was created. It is in your clocks.`);
  } finally {
    isCreating = false;
  }
}

/** Add a name to the params of createTestClock, unless they have one or the name is empty. */
export const withName = (params, name) => (name && params.name === undefined ? { ...params, name } : params);

/** Return the message for an error of `createClock`. */
export function creationErrorMessage(error) {
  if (error instanceof ServerUnavailable)
    return "Can't reach the server. Try again when it is running. A retry doesn't create a second clock.";
  if (!(error instanceof RpcError)) throw error;
  if (error.reason === "RATE_LIMITED") {
    return `You have reached the limit of clocks. Delete one, or wait ${formatDuration(error.data.retryAfterSeconds * 1000)} until the oldest expires.`;
  }
  if (error.reason === "INVALID_PARAMS")
    return `The server rejected ${error.data.errors.length === 1 ? "one field" : `${error.data.errors.length} fields`}.`;
  return error.message;
}

/** Return the message for an error of a clock operation, with all faults. */
export function errorDetails(error) {
  const faults = faultsIn(error).map(({ path, message }) => `${path}: ${message}`);
  return [creationErrorMessage(error), ...faults].join(" ");
}
