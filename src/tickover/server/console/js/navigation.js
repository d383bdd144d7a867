// Moves to another page of the console.

import { say } from "./dom.js";

/** Notify once the next page is shown, because a change of page clears the notification. */
export const sayThere = (message) =>
  addEventListener("hashchange", () => setTimeout(() => say(message)), { once: true });

/** Go to a page and notify there, even if it is the current page. */
export function goTo(hash, message) {
  sayThere(message);
  if (location.hash === hash) dispatchEvent(new Event("hashchange"));
  else location.hash = hash;
}
