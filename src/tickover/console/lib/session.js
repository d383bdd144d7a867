// The session of the signed-in user, which all tabs of the browser share.

import { readStored, removeStored, SESSION_KEY, writeStored } from "./storage.js";

const changes = new EventTarget();
const emit = (name, detail) => changes.dispatchEvent(new CustomEvent(name, { detail }));
// Used until the page closes if the browser blocks storage.
let unstoredSession = null;

/** Return `{ token, email, userId }` of the signed-in user, or null. */
export const currentSession = () => readStored(SESSION_KEY) ?? unstoredSession;

/** Return a function that tells whether the current session is still the same. */
export function captureSession() {
  const token = currentSession()?.token;
  return () => token === currentSession()?.token;
}

let knownToken = currentSession()?.token;

export function startSession(session) {
  if (!writeStored(SESSION_KEY, session)) unstoredSession = session;
  knownToken = session.token;
  emit("change", "");
}

/** Remove everything of the user from this browser and report why. The token stays valid; `signOut` revokes it. */
export function endSession(message = "") {
  removeStored(SESSION_KEY);
  unstoredSession = knownToken = null;
  emit("end");
  emit("change", message);
}

/** Call back when a session ends, for any reason. */
export const onSessionEnd = (callback) => changes.addEventListener("end", callback);

/** Call back with a message, possibly empty, when a user signs in or out, in this tab or another. */
export const onSessionChange = (callback) => changes.addEventListener("change", (event) => callback(event.detail));

addEventListener("storage", ({ key }) => {
  if (key !== SESSION_KEY && key !== null) return;
  const token = currentSession()?.token;
  if (knownToken && knownToken !== token) emit("end");
  knownToken = token;
  emit("change", token ? "" : "Your session ended in another tab.");
});
