// Calls to POST /rpc, the history of this tab's calls, and other data from the server.

import { captureSession, currentSession, endSession, onSessionEnd } from "./session.js";

/** A call that failed. */
export class CallError extends Error {}

/** An error response: `reason` is for programs, `message` for people, and `data` has the details. */
export class RpcError extends CallError {
  constructor({ code, message, data }) {
    super(message);
    Object.assign(this, { code, reason: data?.reason ?? "UNKNOWN", data: data ?? {} });
  }
}

/** The server sent no response, or no JSON-RPC response. */
export class ServerUnavailable extends CallError {
  constructor() {
    super("Can't reach the server. Is it running?");
  }
}

const TIMEOUT_MS = 30_000;
const MAX_HISTORY = 30;
const calls = [];
const historyEvents = new EventTarget();
let lastRequestId = 0;

onSessionEnd(() => (calls.length = 0));

/**
 * Return the calls of this tab, newest first. Each is `{ id, method, request, response, authenticated, headers, at,
 * milliseconds }`. It was sent at the instant `at`. The response is null if the server sent none.
 */
export const callHistory = () => calls;

export const onCall = (callback) => historyEvents.addEventListener("call", callback);

function remember(call) {
  calls.unshift(call);
  calls.length = Math.min(calls.length, MAX_HISTORY);
  historyEvents.dispatchEvent(new Event("call"));
}

async function send(request, { token, headers, signal }) {
  try {
    const httpResponse = await fetch("rpc", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }), ...headers },
      body: JSON.stringify(request),
      referrerPolicy: "no-referrer",
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    });
    const response = await httpResponse.json();
    return response && typeof response === "object" && ("result" in response || response.error) ? response : null;
  } catch (error) {
    if (signal?.aborted) throw error;
    return null;
  }
}

/**
 * Call an operation and return its result. Throw RpcError or ServerUnavailable.
 *
 * The history omits quiet calls, which the user didn't start. An invalid token ends the session.
 */
export async function call(method, params = {}, { headers = {}, quiet = false, signal } = {}) {
  const request = { jsonrpc: "2.0", id: ++lastRequestId, method, params };
  const token = currentSession()?.token;
  const [at, startedAt] = [Date.now(), performance.now()];
  const response = await send(request, { token, headers, signal });
  // The user can sign out before the response arrives. The history of the next user must not contain it.
  if (!quiet && token === currentSession()?.token) {
    const milliseconds = performance.now() - startedAt;
    remember({ id: request.id, method, request, response, authenticated: Boolean(token), headers, at, milliseconds });
  }
  if (!response) throw new ServerUnavailable();
  if (!response.error) return response.result;
  const error = new RpcError(response.error);
  if (error.reason === "UNAUTHENTICATED" && token) {
    error.message = "Your session has ended. Sign in again.";
    if (token === currentSession()?.token) endSession(error.message);
  }
  throw error;
}

/**
 * Revoke the token and end the session, even if the server doesn't respond. Return `{ error, superseded }`.
 * `superseded` is true if another session started in the meantime; that session continues.
 */
export async function signOut() {
  const isSameSession = captureSession();
  const error = await call("logout").then(
    () => null,
    (caught) => caught,
  );
  const superseded = !isSameSession() && Boolean(currentSession());
  if (isSameSession()) endSession();
  return { error, superseded };
}

/** Return the JSON at a path of the server. Throw if it has none. */
export async function fetchJson(path, options) {
  const response = await fetch(path, { credentials: "omit", referrerPolicy: "no-referrer", ...options });
  if (!response.ok) throw Object.assign(new Error(`The server has no ${path}.`), { status: response.status });
  return response.json();
}

let features;

/** Return `{ mailbox, resendSeconds }`: whether there is a development mailbox, and the time between two emails. */
export function serverFeatures() {
  features ??= fetchJson("site.json").catch(() => ({ mailbox: false, resendSeconds: 60 }));
  return features;
}

let scenarios;

/** Return the scenarios: `{ name, title, about, text, params }` with TOML text and params for createTestClock. Throw if that fails. */
export async function loadScenarios() {
  scenarios ??= await fetchJson("scenarios.json");
  return scenarios;
}

/** Return the newest email to an address. Throw if there is none. */
export const latestEmail = (address) =>
  fetchJson(`mailbox/latest?to=${encodeURIComponent(address)}`, { cache: "no-store" });
