// The top of a clock's page: its name, labels, counts and expiry, and a menu of actions.

import { FORK_LABEL } from "../clock/clock-calls.js";
import { toParams } from "../clock/clock-model.js";
import { clockName, countKinds } from "../clock/clock-text.js";
import { withName } from "../clock/create-clock.js";
import { breadcrumb } from "../lib/card.js";
import { copyText } from "../lib/clipboard.js";
import { h, render } from "../lib/dom.js";
import { downloadFile } from "../lib/files.js";
import { formatDuration } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { DAY } from "../lib/instants.js";
import { menuButton } from "../lib/menu.js";
import { notify } from "../lib/notification.js";
import { call } from "../lib/rpc.js";
import { askExport, PARAMS } from "./clock-dialogs.js";
import { showRenameForm } from "./rename-form.js";

const exportClock = ({ id }, choice) => call("exportTestClock", { id, ...choice });

const paramsFile = (model) => ({
  fileName: `${model.id}.json`,
  mediaType: "application/json",
  text: `${JSON.stringify(withName(toParams(model), model.name), null, 2)}\n`,
});

export class ClockHeader {
  #model;
  #rename;
  #onError;
  #name = h("div.row.clock-name");
  #status = h("span.chip.status", { hidden: true });
  #counts = h("span.counts");
  #expiry = h("span.expiry");
  #menu;

  /** `onRename(name)` returns the clock. */
  constructor(model, { onFork, onReconcile, onDelete, onRename, onError }) {
    this.#model = model;
    this.#onError = onError;
    this.#rename = onRename;
    const id = encodeURIComponent(model.id);
    const original = model.labels[FORK_LABEL];
    const comparison = `#/compare/${original ? `${encodeURIComponent(original)}?with=${id}` : id}`;
    this.#menu = menuButton({ label: "More actions", content: icon("more"), className: "icon-button" }, [
      { text: "Rename", onSelect: () => this.#editName() },
      { text: "Copy ID", onSelect: () => copyText(model.id, "the ID of the clock") },
      { text: "Export…", onSelect: () => this.#export() },
      { text: "Reconcile…", onSelect: onReconcile },
      { text: "Compare…", isNarrow: true, onSelect: () => (location.hash = comparison) },
      null,
      { text: "Delete…", danger: true, onSelect: onDelete },
    ]);
    this.element = h(
      "header.row.clock-header",
      breadcrumb(),
      this.#name,
      original && h("a.origin", { href: `#/clock/${encodeURIComponent(original)}` }, "Original clock"),
      this.#status,
      this.#counts,
      this.#expiry,
      h(
        "div.row.actions",
        h("a.button.quiet.compare-link", { href: comparison }, icon("swap"), "Compare…"),
        h("button", { onclick: onFork }, icon("fork"), "Fork…"),
        this.#menu,
      ),
    );
    this.#drawName();
    this.drawExpiry();
  }

  setModel(model) {
    this.#counts.textContent = countKinds(model.items).join(", ") || "no events";
    const isRenamed = model.name !== this.#model.name;
    this.#model = model;
    // A name that is being edited stays.
    if (isRenamed && this.#name.querySelector("h1")) this.#drawName();
  }

  /** Show that the clock is gone. A living clock has no status. */
  setStatus(status) {
    this.#status.textContent = status;
    this.#status.hidden = false;
    this.#expiry.hidden = true;
  }

  drawExpiry() {
    const left = this.#model.expiresAt - Date.now();
    this.#expiry.textContent = left > 0 ? `Expires in ${formatDuration(left)}` : "Expired";
    this.#expiry.classList.toggle("soon", left < DAY);
  }

  #drawName() {
    const name = clockName(this.#model);
    document.title = `${name} · Tickover`;
    render(
      this.#name,
      h("h1", name),
      !this.#model.name && h("button.plain", { onclick: () => this.#editName() }, "Add a name"),
      Object.entries(this.#model.labels)
        .filter(([key]) => key !== FORK_LABEL)
        .map(([key, value]) => h("span.chip", `${key}=${value}`)),
    );
  }

  #editName() {
    const rename = async (text) => {
      const { name } = await this.#rename(text);
      this.#model = { ...this.#model, name };
      notify(name ? "Renamed." : "The name was removed.");
    };
    const close = () => {
      this.#drawName();
      this.#menu.button.focus();
    };
    showRenameForm(this.#name, this.#model, { rename, close, onError: this.#onError });
  }

  async #export() {
    const model = this.#model;
    const choice = await askExport(this.#model);
    if (!choice) return;
    try {
      const file = choice.format === PARAMS ? paramsFile(model) : await exportClock(model, choice);
      downloadFile(file);
      notify(`Exported “${file.fileName}”.`);
    } catch (error) {
      this.#onError(error);
    }
  }
}
