// <tick-account>: the access tokens of the signed-in user.

import { faultList, faultsIn } from "../clock/create-clock.js";
import { card, listEntry } from "../lib/card.js";
import { secretBox } from "../lib/code-block.js";
import { busyButton, h, notify, onSubmit, render, withBusyState } from "../lib/dom.js";
import { field, textInput } from "../lib/form-fields.js";
import { formatDay } from "../lib/format.js";
import { CallError, call } from "../lib/rpc.js";
import { currentSession } from "../lib/session.js";
import { confirmAction } from "./clock-dialogs.js";

const MAX_TOKEN_NAME_LENGTH = 100;
const [DEFAULT_DAYS, MAX_DAYS] = [90, 365];

const formatDate = (text) => formatDay(Date.parse(text));

class AccountPage extends HTMLElement {
  #abortController = new AbortController();
  #list = h("div.token-list");
  #created = h("div", { "aria-live": "polite" });
  #error = h("div.error", { role: "alert" });
  #name = textInput("", { required: true, maxLength: MAX_TOKEN_NAME_LENGTH, placeholder: "ci" });
  #days = textInput(DEFAULT_DAYS, { type: "number", required: true, min: "1", max: `${MAX_DAYS}` });
  #readOnly = h("input", { type: "checkbox" });
  #button = h("button.primary", "Create token");

  connectedCallback() {
    const { email, userId } = currentSession();
    render(
      this,
      h("h1.page-title", "Account"),
      h(
        "p.row.muted",
        `You are signed in as ${email || userId}.`,
        // The header of a phone has no room for this button.
        h("button.on-phones", { onclick: () => document.querySelector(".sign-out").click() }, "Sign out"),
      ),
      card(
        { title: "Access tokens" },
        h(
          "p.hint.muted",
          "A program signs in with an access token, without an email. Set it as ",
          h("code", "TICKOVER_TOKEN"),
          " in your CI. The program acts as you, but can't manage tokens.",
        ),
        h(
          "form.token-form",
          { onsubmit: onSubmit(() => withBusyState(this.#button, () => this.#create())) },
          field("name", "Name", this.#name),
          field("days", "Expires after (days)", this.#days),
          h("label.row", this.#readOnly, "Read only"),
          this.#button,
        ),
        this.#error,
        this.#created,
        this.#list,
      ),
    );
    this.#load();
  }

  disconnectedCallback() {
    this.#abortController.abort();
    document.querySelector("dialog")?.close("");
  }

  #call = (method, params) => call(method, params, { signal: this.#abortController.signal });

  /** Show an error, unless the user has left the page. */
  #showError(error, ...actions) {
    if (this.#abortController.signal.aborted) return;
    if (!(error instanceof CallError)) throw error;
    render(this.#error, h("p", error.message), faultList(faultsIn(error)), actions);
  }

  async #load() {
    try {
      const { tokens } = await this.#call("listAccessTokens");
      render(this.#error);
      const rows = tokens.map((token) => this.#row(token));
      render(this.#list, rows.length ? h("ul", rows) : h("p.muted", "You have no access tokens."));
    } catch (error) {
      this.#showError(
        error,
        busyButton("button", "Try again", () => this.#load()),
      );
    }
  }

  #row({ id, name, readOnly, createdAt, expiresAt, lastUsedOn }) {
    const revoke = async () => {
      if (!(await confirmAction(`Revoke “${name}”?`, "Programs that use this token stop working.", "Revoke token")))
        return;
      await withBusyState(button, () => this.#revoke(id, name));
    };
    const button = h("button", { "aria-label": `Revoke “${name}”`, onclick: revoke }, "Revoke");
    const dates = [
      `Created ${formatDate(createdAt)}`,
      lastUsedOn ? `last used ${formatDate(lastUsedOn)}` : "never used",
      `expires ${formatDate(expiresAt)}`,
    ];
    const title = [h("strong", name), readOnly && h("span.chip", "read only")];
    return listEntry(title, h("p.hint.muted", dates.join(" · ")), button);
  }

  async #create() {
    render(this.#error);
    const params = {
      name: this.#name.value,
      expiresInDays: this.#days.valueAsNumber,
      readOnly: this.#readOnly.checked,
    };
    try {
      const { token } = await this.#call("createAccessToken", params);
      this.#name.value = "";
      render(this.#created, secretBox(`Copy the token “${params.name}” now. It isn't shown again.`, token));
      await this.#load();
    } catch (error) {
      this.#showError(error);
    }
  }

  async #revoke(id, name) {
    try {
      await this.#call("revokeAccessToken", { id });
      render(this.#created);
      await this.#load();
      this.#name.focus();
      notify(`Revoked “${name}”.`);
    } catch (error) {
      this.#showError(error);
    }
  }
}

customElements.define("tick-account", AccountPage);
