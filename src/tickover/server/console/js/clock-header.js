// The header of a clock's page: its name, id, status, expiry and frozen time.

import { clockName, renameClock } from "./clock-names.js";
import { copyText, h, notify, onSubmit, render } from "./dom.js";
import { formatDuration, formatInstant } from "./format.js";
import { DAY } from "./instants.js";

export class ClockHeader {
  #id;
  #expiresAt;
  #name = h("div", { class: "row clock-name" });
  #expiry = h("span", { class: "muted" });
  #now = h("strong", {});
  #status;

  constructor({ id, status, expiresAt, onFork, onDelete }) {
    this.#id = id;
    this.#expiresAt = expiresAt;
    this.#status = h("span", { class: "badge ready" }, status);
    this.element = h(
      "header",
      { class: "row clock-header" },
      this.#name,
      this.#status,
      h(
        "span",
        { class: "row id" },
        h("code", { title: id }, `${id.slice(0, 14)}…`),
        h("button", { type: "button", class: "plain", onclick: () => copyText(id, "the clock id") }, "Copy id"),
      ),
      this.#expiry,
      h(
        "span",
        { class: "row actions" },
        h("button", { type: "button", onclick: onFork }, "Fork…"),
        h("button", { type: "button", class: "danger", onclick: onDelete }, "Delete…"),
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
    this.#expiry.textContent = left > 0 ? `expires in ${formatDuration(left)}` : "expired";
    this.#expiry.classList.toggle("soon", left < DAY);
  }

  #drawName() {
    const name = clockName(this.#id);
    document.title = `${name} · Tickover`;
    const edit = h("button", { type: "button", class: "plain", onclick: () => this.#editName() }, "Rename");
    render(this.#name, h("h1", {}, name), edit);
    return edit;
  }

  #editName() {
    const field = h("input", {
      "aria-label": "Clock name",
      value: clockName(this.#id),
      maxlength: "120",
      autocomplete: "off",
    });
    const close = () => this.#drawName().focus();
    const save = () => {
      renameClock(this.#id, field.value);
      close();
      notify("This browser stores the name.");
    };
    render(
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
