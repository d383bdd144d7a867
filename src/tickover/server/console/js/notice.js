// A message on a page that stays until it is hidden, with buttons or links.

import { h, render } from "./dom.js";

export class Notice {
  #message = "";

  constructor() {
    this.element = h("div", { class: "card notice", role: "alert", hidden: true });
  }

  show(message, ...actions) {
    // A screen reader would announce the same message again.
    if (message === this.#message && !this.element.hidden) return;
    this.#message = message;
    const hadFocus = this.element.contains(document.activeElement);
    render(this.element, h("p", {}, message), actions.length > 0 && h("div", { class: "row" }, actions));
    this.element.hidden = false;
    if (hadFocus) actions[0].focus();
  }
}
