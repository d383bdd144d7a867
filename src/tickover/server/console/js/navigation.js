// Navigates between pages of the console.

import { notify } from "./dom.js";

/** Notify once the next page is shown, because a change of page clears the notification. */
export const notifyAfterNavigation = (message) =>
  addEventListener("hashchange", () => setTimeout(() => notify(message)), { once: true });

/** Go to a page and notify there, even if it is the current page. */
export function navigate(hash, message) {
  notifyAfterNavigation(message);
  if (location.hash === hash) dispatchEvent(new Event("hashchange"));
  else location.hash = hash;
}
