// The session: the token of the signed-in user, kept in this tab or on this device.

import { DEVICE, forget, KEY, NAMES, read, TAB, write } from "./storage.js";

const news = new EventTarget();
// For a browser that keeps nothing: until the page is left.
let unkept = null;

export function on(name, callback) {
  news.addEventListener(name, callback);
}

export function tell(name, detail) {
  news.dispatchEvent(new CustomEvent(name, { detail }));
}

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
