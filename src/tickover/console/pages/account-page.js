// <tick-account>: the access tokens of the signed-in user, and the end of all sessions or of the user.

import { showErrors } from "../clock/create-clock.js";
import { busyButton, withBusyState } from "../lib/busy-button.js";
import { card, listEntry } from "../lib/card.js";
import { secretBox } from "../lib/code-block.js";
import { confirmAction } from "../lib/dialog.js";
import { h, render } from "../lib/dom.js";
import { field, onSubmit, textInput } from "../lib/form-fields.js";
import { formatDay } from "../lib/format.js";
import { notify } from "../lib/notification.js";
import { call } from "../lib/rpc.js";
import { currentSession, endSession } from "../lib/session.js";

const MAX_TOKEN_NAME_LENGTH = 100;
const [DEFAULT_DAYS, MAX_DAYS] = [90, 365];

const formatDate = (text) => formatDay(Date.parse(text));

class AccountPage extends HTMLElement {
  #list = h("div.token-list");
  #created = h("div", { "aria-live": "polite" });
  #error = h("p.error", { role: "alert" });
  #name = textInput("", { required: true, maxLength: MAX_TOKEN_NAME_LENGTH, placeholder: "ci" });
  #days = textInput(DEFAULT_DAYS, { type: "number", required: true, min: "1", max: `${MAX_DAYS}` });
  #readOnly = h("input", { type: "checkbox" });
  #button = h("button.primary", "Create token");
  #endError = h("p.error", { role: "alert" });

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
      card(
        { title: "Sessions and data" },
        h("p.hint.muted", "Sign out in all browsers and programs. Access tokens stay valid."),
        busyButton("button", "Sign out everywhere", () =>
          this.#end("logout", { everywhere: true }, "You are signed out everywhere."),
        ),
        h("p.hint.muted", "Delete your user with all clocks, connections and tokens. This can't be undone."),
        h("button.danger", { onclick: () => this.#deleteUser() }, "Delete account"),
        this.#endError,
      ),
    );
    this.#load();
  }

  disconnectedCallback() {
    document.querySelector("dialog")?.close("");
  }

  async #load() {
    await showErrors(this.#error, async () => {
      const { tokens } = await call("listAccessTokens");
      const rows = tokens.map((token) => this.#row(token));
      render(this.#list, rows.length ? h("ul", rows) : h("p.muted", "You have no access tokens."));
    });
    const retry = () => this.#load();
    if (this.#error.textContent) this.#error.append(" ", busyButton("button", "Try again", retry));
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

  #create() {
    const params = {
      name: this.#name.value,
      expiresInDays: this.#days.valueAsNumber,
      readOnly: this.#readOnly.checked,
    };
    return showErrors(this.#error, async () => {
      const { token } = await call("createAccessToken", params);
      this.#name.value = "";
      render(this.#created, secretBox(`Copy the token “${params.name}” now. It isn't shown again.`, token));
      await this.#load();
    });
  }

  async #deleteUser() {
    const { email, userId } = currentSession();
    const question = `Delete the account of ${email || userId}?`;
    if (await confirmAction(question, "All your clocks, connections and tokens are deleted.", "Delete account"))
      await this.#end("deleteCurrentUser", {}, "Your account was deleted.");
  }

  /** End the session by a call. If it fails, the session continues. */
  #end(method, params, message) {
    return showErrors(this.#endError, async () => {
      await call(method, params);
      endSession(message);
    });
  }

  #revoke(id, name) {
    return showErrors(this.#error, async () => {
      await call("revokeAccessToken", { id });
      render(this.#created);
      await this.#load();
      this.#name.focus();
      notify(`Revoked “${name}”.`);
    });
  }
}

customElements.define("tick-account", AccountPage);
