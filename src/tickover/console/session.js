// Who is signed in. The token lives in this tab, unless the person says to stay signed in.

const KEY = "tickover";
const changes = new EventTarget();
let unkept = null; // for a browser that keeps nothing: until the page is left

function read(storage) {
  try {
    return JSON.parse(globalThis[storage].getItem(KEY));
  } catch {
    return null; // a damaged entry, or a browser that keeps nothing
  }
}

function forget(storage) {
  try {
    globalThis[storage].removeItem(KEY);
  } catch {
    // Nothing is kept there.
  }
}

function tell(sentence) {
  changes.dispatchEvent(new CustomEvent("change", { detail: sentence }));
}

/** `{ token, email, userId }` of whoever is signed in, or null. */
export function session() {
  return read("sessionStorage") ?? read("localStorage") ?? unkept;
}

export function begin(session, { stay }) {
  forget("sessionStorage");
  try {
    globalThis[stay ? "localStorage" : "sessionStorage"].setItem(KEY, JSON.stringify(session));
  } catch {
    unkept = session;
  }
  tell("");
}

/**
 * Forget the token here, and say why. Who stays signed in on this device under another token is not touched.
 * To revoke it is the server's business: see `signOut` in rpc.js.
 */
export function end(sentence = "") {
  const token = session()?.token;
  if (read("localStorage")?.token === token) forget("localStorage");
  forget("sessionStorage");
  unkept = null;
  tell(sentence);
}

/** Call back, with a sentence or none, whenever somebody has signed in or out: here, or in another tab of those who stay. */
export function onSessionChange(callback) {
  changes.addEventListener("change", (event) => callback(event.detail));
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) callback(session() ? "" : "Your session was ended in another tab.");
  });
}
