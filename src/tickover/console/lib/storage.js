// Values in sessionStorage and localStorage. The browser can block both.

export const [TAB, DEVICE] = ["sessionStorage", "localStorage"];

// A proxy can serve the console below a path, and all sites of a host share its storage. The keys include the path.
const BASE_PATH = new URL(".", document.baseURI).pathname.slice(0, -1);
export const SESSION_KEY = `tickover${BASE_PATH}`;
export const CHECKS_KEY = `tickover-checks${BASE_PATH}`;
export const INSPECTOR_KEY = `tickover-inspector${BASE_PATH}`;
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
