// Creates a clock exactly once, even after a double click or a lost response, and compares parameters.

import { h } from "../lib/dom.js";
import { formatDuration } from "../lib/format.js";
import { notify } from "../lib/notification.js";
import { call, RpcError, ServerUnavailable } from "../lib/rpc.js";
import { captureSession, onSessionEnd } from "../lib/session.js";

export const MAX_ENTRIES = {
  accounts: 20,
  transactions: 100,
  transfers: 100,
  goals: 25,
  contributions: 100,
  expectations: 50,
};

let lastAttempt = { text: null, key: null };
let isCreating = false;
onSessionEnd(() => (lastAttempt = { text: null, key: null }));

// Browsers have randomUUID only on https pages and on localhost.
export const newIdempotencyKey = () =>
  crypto.randomUUID?.() ??
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Create a clock and open it, unless the user has left the page. Throw RpcError or ServerUnavailable.
 *
 * A retry with the same parameters sends the same idempotency key, so the server creates one clock.
 */
export async function createClock(params, method = "createTestClock") {
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
    const { clock } = await call(method, params, { headers: { "Idempotency-Key": key } });
    lastAttempt = { text: null, key: null };
    if (!isSameSession()) return;
    if (page.isConnected) location.hash = `#/clock/${clock.id}`;
    else notify(`${clock.name ? `“${clock.name}”` : "The clock"} was created. It is in your clocks.`);
  } catch (error) {
    // The next user must not see it.
    if (isSameSession()) throw error;
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

const MAX_LISTED_FAULTS = 20;

/** Return the faults in an error, each `{ path, message }`. */
export const faultsIn = (error) =>
  error instanceof RpcError && error.reason === "INVALID_PARAMS" ? error.data.errors : [];

/** List faults with their paths. */
export function faultList(faults) {
  const rest = faults.length - MAX_LISTED_FAULTS;
  return (
    faults.length > 0 &&
    h(
      "ul.faults",
      faults.slice(0, MAX_LISTED_FAULTS).map(({ path, message }) => h("li", h("code", path), ` ${message}`)),
      rest > 0 && h("li", `and ${rest} more`),
    )
  );
}

/** Return the message for an error of a clock operation, with all faults. */
export function errorDetails(error) {
  const faults = faultsIn(error).map(({ path, message }) => `${path}: ${message}`);
  return [creationErrorMessage(error), ...faults].join(" ");
}

const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.0+)?(Z|[+-]\d\d:\d\d)$/;

/** Return a value in one form. An instant has several texts, and an empty list of entries is the same as none. */
function toCanonical(value) {
  if (typeof value === "string") return (WHOLE_SECOND.test(value) && new Date(value).toJSON()) || value;
  if (!value || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(toCanonical);
  const isEmpty = ([name, member]) => name in MAX_ENTRIES && Array.isArray(member) && !member.length;
  const members = Object.entries(value).filter((member) => !isEmpty(member));
  members.sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, toCanonical(member)]));
}

/** Run calls to the server, and show their error in a node. */
export async function showErrors(node, work) {
  node.textContent = "";
  try {
    await work();
  } catch (error) {
    node.textContent = errorDetails(error);
  }
}

/** Return whether two values mean the same. */
export const sameParams = (left, right) => JSON.stringify(toCanonical(left)) === JSON.stringify(toCanonical(right));

/** Create the clock of a draft. If that fails, call `showError(message, faults)`. */
export async function tryToCreate(params, { name }, showError) {
  try {
    await createClock(withName(params, name));
  } catch (error) {
    showError(creationErrorMessage(error), faultsIn(error));
  }
}
