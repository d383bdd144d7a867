// The header of a clock's page: its name, id, status, expiry and frozen time.

import { nameOf, rename } from "./clock-names.js";
import { copy, h, onSubmit, say, show } from "./dom.js";
import { formatInstant, formatWait } from "./format.js";
import { DAY } from "./instants.js";

export class ClockHeader {
  #id;
  #expiresAt;
  #name = h("div", { class: "row clock-name" });
  #expiry = h("span", { class: "quiet" });
  #now = h("strong", {});
  #status;

  constructor({ id, status, expiresAt, onFork, onDelete }) {
    this.#id = id;
    this.#expiresAt = expiresAt;
    this.#status = h("span", { class: "badge ready" }, status);
    this.element = h(
      "header",
      { class: "row clock-top" },
      this.#name,
      this.#status,
      h(
        "span",
        { class: "row id" },
        h("code", { title: id }, `${id.slice(0, 14)}…`),
        h("button", { type: "button", class: "plain", onclick: () => copy(id, "the clock's id") }, "Copy id"),
      ),
      this.#expiry,
      h(
        "span",
        { class: "row deeds" },
        h("button", { type: "button", onclick: onFork }, "Fork …"),
        h("button", { type: "button", class: "danger", onclick: onDelete }, "Delete …"),
      ),
      h("p", { class: "now" }, "Now ", this.#now),
    );
    this.#drawName();
    this.drawExpiry();
  }

  setNow(instant) {
    this.#now.textContent = formatInstant(instant);
  }

  setStatus(status) {
    this.#status.textContent = status;
  }

  drawExpiry() {
    const left = this.#expiresAt - Date.now();
    this.#expiry.textContent = left > 0 ? `expires in ${formatWait(left)}` : "expired";
    this.#expiry.classList.toggle("soon", left < DAY);
  }

  #drawName() {
    const name = nameOf(this.#id);
    document.title = `${name} · Tickover`;
    const edit = h("button", { type: "button", class: "plain", onclick: () => this.#editName() }, "Rename");
    show(this.#name, h("h1", {}, name), edit);
    return edit;
  }

  #editName() {
    const field = h("input", {
      "aria-label": "Name of the clock",
      value: nameOf(this.#id),
      maxlength: "120",
      autocomplete: "off",
    });
    const close = () => this.#drawName().focus();
    const save = () => {
      rename(this.#id, field.value);
      close();
      say("The name is kept in this browser.");
    };
    show(
      this.#name,
      h(
        "form",
        { class: "row", onsubmit: onSubmit(save), onkeydown: (event) => event.key === "Escape" && close() },
        field,
        h("button", {}, "Save"),
        h("button", { type: "button", class: "plain", onclick: close }, "Cancel"),
      ),
    );
    field.select();
  }
}
