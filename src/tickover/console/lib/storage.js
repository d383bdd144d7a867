// Values in localStorage, which the browser can block.

// A proxy can serve the console below a path, and all sites of a host share its storage. The keys include the path.
const BASE_PATH = new URL(".", document.baseURI).pathname.slice(0, -1);
export const SESSION_KEY = `tickover${BASE_PATH}`;
export const INSPECTOR_KEY = `tickover-inspector${BASE_PATH}`;
export const SCENARIOS_KEY = `tickover-scenarios${BASE_PATH}`;

/** Return the stored value, or null if it is missing or invalid, or if the browser blocks storage. */
export function readStored(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

/** Store a value. Return whether the browser allows it. */
export function writeStored(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function removeStored(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // The browser blocks storage, so nothing is stored.
  }
}
