// Copies to the clipboard.

import { notify } from "./notification.js";

/** Copy text to the clipboard. `description` completes "Copied …". */
export async function copyText(text, description) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${description}.`);
  } catch {
    notify("Your browser doesn't allow this page to copy.", { error: true });
  }
}
