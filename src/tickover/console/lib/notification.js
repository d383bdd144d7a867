// Messages over a page and on it.

import { h, render } from "./dom.js";
import { withAmounts } from "./nowrap.js";

const NOTIFICATION_MS = 4_000;
const ERROR_MS = 10_000;
let notificationTimer = 0;

/** Show a message over the page for some seconds. Screen readers announce it. */
export function notify(message, { error = false } = {}) {
  const notification = document.getElementById("notification");
  notification.classList.toggle("error", error);
  notification.classList.toggle("shown", message !== "");
  render(notification, withAmounts(message));
  clearTimeout(notificationTimer);
  notificationTimer = setTimeout(() => notification.classList.remove("shown"), error ? ERROR_MS : NOTIFICATION_MS);
}

/** A message on a page that stays until it is hidden, with buttons or links. */
export class Notice {
  #message = "";

  constructor() {
    this.element = h("div.card.notice", { role: "alert", hidden: true });
  }

  show(message, ...actions) {
    // A screen reader would announce the same message again.
    if (message === this.#message && !this.element.hidden) return;
    this.#message = message;
    const hadFocus = this.element.contains(document.activeElement);
    render(this.element, h("p", message), actions.length > 0 && h("div.row", actions));
    this.element.hidden = false;
    if (hadFocus) actions[0].focus();
  }
}
