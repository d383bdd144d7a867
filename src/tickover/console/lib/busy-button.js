// Buttons that are disabled while their work runs.

import { h } from "./dom.js";

/** Disable a button while `work` runs. A disabled button loses the focus, so restore it afterwards. */
export async function withBusyState(button, work) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
    if (hadFocus && button.isConnected && [null, document.body].includes(document.activeElement))
      button.focus({ preventScroll: true });
  }
}

/** Create a button that is disabled while its work runs. */
export const busyButton = (selector, text, work) =>
  h(selector, { onclick: ({ currentTarget }) => withBusyState(currentTarget, work) }, text);
