// Values in sessionStorage and localStorage, and the session of the signed-in user. The tab stores the session, or the
// device if the user stays signed in. The server doesn't store the opening balances and expectations of a clock.

export const [TAB, DEVICE] = ["sessionStorage", "localStorage"];

// A proxy can serve the console below a path, and all sites of a host share its storage. The keys include the path.
const BASE_PATH = new URL(".", document.baseURI).pathname.slice(0, -1);
export const SESSION_KEY = `tickover${BASE_PATH}`;
export const CHECKS_KEY = `tickover-checks${BASE_PATH}`;
export const SCENARIOS_KEY = `tickover-scenarios${BASE_PATH}`;

/** Return the stored value, or null if it is missing or invalid, or if the browser blocks storage. */
export function readStored(storage, key) {
  try {
    return JSON.parse(globalThis[storage].getItem(key));
  } catch {
    return null;
  }
}

/** Store a value. Return whether the browser allows it. */
export function writeStored(storage, key, value) {
  try {
    globalThis[storage].setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function removeStored(storage, key) {
  try {
    globalThis[storage].removeItem(key);
  } catch {
    // The browser blocks storage, so nothing is stored.
  }
}

const MAX_CLOCKS_WITH_CHECKS = 200;

/** Return `{ opening, expectations }` of a clock, as in the parameters of checkTestClock. */
export function readChecks(id) {
  const stored = readStored(TAB, CHECKS_KEY)?.[id] ?? readStored(DEVICE, CHECKS_KEY)?.[id];
  return { opening: stored?.opening ?? {}, expectations: stored?.expectations ?? [] };
}

/** Store the checks of a clock. Empty checks remove them. */
export function writeChecks(id, { opening = {}, expectations = [] }) {
  const storage = readStored(TAB, SESSION_KEY) ? TAB : DEVICE;
  const checks = { ...readStored(storage, CHECKS_KEY), [id]: { opening, expectations } };
  if (!Object.keys(opening).length && !expectations.length) delete checks[id];
  // Ids start with the time of creation, so the first ids are the oldest.
  const newest = Object.entries(checks).sort().slice(-MAX_CLOCKS_WITH_CHECKS);
  writeStored(storage, CHECKS_KEY, Object.fromEntries(newest));
}

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
