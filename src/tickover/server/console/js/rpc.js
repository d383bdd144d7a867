// JSON-RPC calls to POST /rpc and the history of this tab's calls.

import { end, on, onEnd, session, sessionCheck, tell } from "./session.js";

/** The server said no: `reason` is for programs, `message` for people, `data` holds what else it said. */
export class Refusal extends Error {
  constructor({ code, message, data }) {
    super(message);
    Object.assign(this, { code, reason: data?.reason ?? "UNKNOWN", data: data ?? {} });
  }
}

/** The server did not answer, or not as a Tickover server does. */
export class Away extends Error {
  constructor() {
    super("The server cannot be reached. Is it running?");
  }
}

const PATIENCE = 30_000;
const MOST_KEPT = 30;
const exchanges = [];
let lastId = 0;

onEnd(() => (exchanges.length = 0));

/** The exchanges of this tab, newest first: `{ id, method, request, answer, signed, headers, milliseconds }`; no answer is null. */
export function history() {
  return exchanges;
}

export const onExchange = (callback) => on("exchange", callback);

function keep(exchange) {
  exchanges.unshift(exchange);
  exchanges.length = Math.min(exchanges.length, MOST_KEPT);
  tell("exchange");
}

async function send(request, { token, headers, signal }) {
  try {
    const response = await fetch("rpc", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }), ...headers },
      body: JSON.stringify(request),
      referrerPolicy: "no-referrer",
      credentials: "omit",
      cache: "no-store",
      signal: AbortSignal.any([AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])]),
    });
    const answer = await response.json();
    return answer && typeof answer === "object" && ("result" in answer || answer.error) ? answer : null;
  } catch (error) {
    if (signal?.aborted) throw error;
    return null;
  }
}

/**
 * Call an operation; its result. Throws Refusal or Away. Quiet calls, which nobody has asked for, are not kept.
 * Whoever is no longer known is signed out here, and the sign-in page takes over.
 */
export async function call(method, params = {}, { headers = {}, quiet = false, signal } = {}) {
  const request = { jsonrpc: "2.0", id: ++lastId, method, params };
  const token = session()?.token;
  const began = performance.now();
  const answer = await send(request, { token, headers, signal });
  // Who has signed out meanwhile leaves nothing behind.
  if (!quiet && token === session()?.token) {
    keep({
      id: request.id,
      method,
      request,
      answer,
      signed: Boolean(token),
      headers,
      milliseconds: performance.now() - began,
    });
  }
  if (!answer) throw new Away();
  if (!answer.error) return answer.result;
  const refusal = new Refusal(answer.error);
  if (refusal.reason === "UNAUTHENTICATED" && token) {
    refusal.message = "Your session has ended. Sign in again.";
    if (token === session()?.token) end(refusal.message);
  }
  throw refusal;
}

/** Revoke the token, and forget it whatever comes of that. A session that began meanwhile goes on; then `late` is true. */
export async function signOut() {
  const isSame = sessionCheck();
  const error = await call("logout").then(
    () => null,
    (caught) => caught,
  );
  const late = !isSame() && Boolean(session());
  if (isSame()) end();
  return { error, late };
}
