// Values in sessionStorage and localStorage.

export const [TAB, DEVICE] = ["sessionStorage", "localStorage"];
// All URLs here are relative, because a proxy may serve the console below a path. Storage is shared by the whole host, so
// its keys have that path in them.
const BELOW = new URL(".", document.baseURI).pathname.slice(0, -1);
export const KEY = `tickover${BELOW}`;
export const NAMES = `tickover-names${BELOW}`;

export function read(storage, key = KEY) {
  try {
    return JSON.parse(globalThis[storage].getItem(key));
  } catch {
    // A damaged entry, or a browser that keeps nothing.
    return null;
  }
}

export function write(storage, key, value) {
  try {
    globalThis[storage].setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function forget(storage, key = KEY) {
  try {
    globalThis[storage].removeItem(key);
  } catch {
    // Nothing is kept there.
  }
}
