// The session of the signed-in user. The tab stores it, or the device if the user stays signed in.

import { CHECKS_KEY, DEVICE, readStored, removeStored, SESSION_KEY, TAB, writeStored } from "./storage.js";

const changes = new EventTarget();
// Used until the page closes if the browser blocks storage.
let unstoredSession = null;

/** Return `{ token, email, userId }` of the signed-in user, or null. */
export function currentSession() {
  return readStored(TAB, SESSION_KEY) ?? readStored(DEVICE, SESSION_KEY) ?? unstoredSession;
}

/** Return a function that tells whether the current session is still the same. */
export function captureSession() {
  const token = currentSession()?.token;
  return () => token === currentSession()?.token;
}

let knownToken = currentSession()?.token;

export function startSession(session, { stay }) {
  clearTabStorage();
  if (!writeStored(stay ? DEVICE : TAB, SESSION_KEY, session)) unstoredSession = session;
  knownToken = session.token;
  emit("change", "");
}

/**
 * Remove the session from this browser and report why. The token stays valid; `signOut` revokes it.
 * A session of this device with another token stays.
 */
export function endSession(message = "") {
  const token = currentSession()?.token;
  if (readStored(DEVICE, SESSION_KEY)?.token === token) removeStored(DEVICE, SESSION_KEY);
  unstoredSession = null;
  clearTab();
  emit("change", message);
}

function clearTabStorage() {
  removeStored(TAB, SESSION_KEY);
  removeStored(TAB, CHECKS_KEY);
}

/** Remove everything in this tab that belongs to the user who signed out. */
function clearTab() {
  clearTabStorage();
  knownToken = currentSession()?.token;
  emit("end");
}

/** Call back when a session ends, for any reason. */
export const onSessionEnd = (callback) => changes.addEventListener("end", callback);

/** Call back with a message, possibly empty, when a user signs in or out, in this tab or another. */
export const onSessionChange = (callback) => changes.addEventListener("change", (event) => callback(event.detail));

function emit(name, detail) {
  changes.dispatchEvent(new CustomEvent(name, { detail }));
}

addEventListener("storage", ({ key }) => {
  if (key !== SESSION_KEY && key !== null) return;
  if (knownToken && knownToken !== currentSession()?.token) clearTab();
  knownToken = currentSession()?.token;
  emit("change", knownToken ? "" : "Your session ended in another tab.");
});
