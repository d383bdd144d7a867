// The server: who is signed in there, POST /rpc, and what else it has. Names of clocks, which it has not, are here too.

const [TAB, DEVICE] = ["sessionStorage", "localStorage"];
// All URLs here are relative, because a proxy may serve the console below a path. Storage is shared by the whole host, so
// its keys have that path in them.
const BELOW = new URL(".", document.baseURI).pathname.slice(0, -1);
const KEY = `tickover${BELOW}`;
const NAMES = `tickover-names${BELOW}`;
const news = new EventTarget();
// For a browser that keeps nothing: until the page is left.
let unkept = null;

function read(storage, key = KEY) {
  try {
    return JSON.parse(globalThis[storage].getItem(key));
  } catch {
    // A damaged entry, or a browser that keeps nothing.
    return null;
  }
}

function write(storage, key, value) {
  try {
    globalThis[storage].setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

function forget(storage, key = KEY) {
  try {
    globalThis[storage].removeItem(key);
  } catch {
    // Nothing is kept there.
  }
}

function on(name, callback) {
  news.addEventListener(name, callback);
}

function tell(name, detail) {
  news.dispatchEvent(new CustomEvent(name, { detail }));
}

// Who is signed in. The token lives in this tab, unless the person says to stay signed in.

/** `{ token, email, userId }` of whoever is signed in, or null. */
export function session() {
  return read(TAB) ?? read(DEVICE) ?? unkept;
}

/** Return a function that tells whether the session is still the one of this call. */
export function sessionCheck() {
  const token = session()?.token;
  return () => token === session()?.token;
}

let known = session()?.token;

export function begin(session, { stay }) {
  forgetTab();
  if (!write(stay ? DEVICE : TAB, KEY, session)) unkept = session;
  known = session.token;
  tell("change", "");
}

/**
 * Forget the token here, and say why. Who stays signed in on this device under another token is not touched.
 * To revoke it is the server's business: see `signOut`.
 */
export function end(sentence = "") {
  const token = session()?.token;
  if (read(DEVICE)?.token === token) forget(DEVICE);
  unkept = null;
  clear();
  tell("change", sentence);
}

function forgetTab() {
  forget(TAB);
  forget(TAB, NAMES);
}

/** What one person did in this tab is not for the next. */
function clear() {
  forgetTab();
  exchanges.length = 0;
  known = session()?.token;
  tell("end");
}

/** Call back whenever somebody's session has ended, however it did. */
export const onEnd = (callback) => on("end", callback);

/** Call back, with a sentence or none, whenever somebody has signed in or out: here, or in another tab of those who stay. */
export const onSessionChange = (callback) => on("change", (event) => callback(event.detail));

addEventListener("storage", ({ key }) => {
  if (key !== KEY && key !== null) return;
  if (known && known !== session()?.token) clear();
  known = session()?.token;
  tell("change", known ? "" : "Your session was ended in another tab.");
});

// POST /rpc, the one thing that this console speaks. Every exchange is kept for those who want to see the call behind it.

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

// Names of clocks. The API has none, so they stay in this browser, where the token is.

const MOST_NAMES = 500;

/** The end of an id is what tells it from others. */
const shortId = (id) => `clock …${id.slice(-6)}`;

export function nameOf(id) {
  const name = read(TAB, NAMES)?.[id] ?? read(DEVICE, NAMES)?.[id];
  return typeof name === "string" && name ? name : shortId(id);
}

/** Without a name it goes by its short id again. */
export function rename(id, name) {
  const storage = read(TAB) ? TAB : DEVICE;
  // Ids begin with the time of creation, so the first are the oldest.
  const kept = Object.entries({ ...read(storage, NAMES), [id]: name.trim() })
    .sort()
    .slice(-MOST_NAMES);
  write(storage, NAMES, Object.fromEntries(kept));
}

// What this server has beside POST /rpc: the development mailbox, and the scenarios that come with it.

let about;

/** `{ mailbox, resendSeconds }`: whether mail stays in the development outbox, and how long the next letter has to wait. */
export function site() {
  about ??= fetch("site.json", { credentials: "omit" })
    .then((answer) => answer.json())
    .catch(() => ({ mailbox: false, resendSeconds: 60 }));
  return about;
}

let gallery;

/** The scenarios, each `{ name, title, about, params }` with what createTestClock takes. Throws without a server. */
export async function scenarios() {
  if (!gallery) {
    const answer = await fetch("scenarios.json", { credentials: "omit" });
    if (!answer.ok) throw new Error("There are no scenarios.");
    gallery = await answer.json();
  }
  return gallery;
}

/** The newest letter to an address, or null. */
export async function latestLetter(email) {
  const answer = await fetch(`mailbox/latest?to=${encodeURIComponent(email)}`, {
    credentials: "omit",
    cache: "no-store",
  });
  return answer.ok ? answer.json() : null;
}
