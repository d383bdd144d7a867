// The form that sends an operation: its parameters as fields or JSON.

import { newIdempotencyKey, sameParams } from "../clock/create-clock.js";
import { toJson } from "../lib/code-block.js";
import { h, notify, render, withBusyState } from "../lib/dom.js";
import { field } from "../lib/form-fields.js";
import { CallError, call, callHistory, onCall, RpcError, ServerUnavailable } from "../lib/rpc.js";
import { captureSession, currentSession, endSession, onSessionEnd } from "../lib/session.js";
import { tabList } from "../lib/tabs.js";
import { paramsOf } from "./api-reference.js";
import { callList, duration, maskRequest, SECRETS } from "./call-list.js";
import { RequestResponse } from "./request-response.js";
import { objectField } from "./schema-form.js";

// Unsent parameters of each operation, until the tab closes.
const drafts = new Map();
let shownForm = null;

onSessionEnd(() => {
  drafts.clear();
  shownForm?.reset();
});
onCall(() => shownForm?.drawHistory());

/** Return the ids of the user's newest clocks, which the form suggests. */
async function recentClockIds() {
  if (!currentSession()) return [];
  try {
    return (await call("listTestClocks", {}, { quiet: true })).clocks.map((clock) => clock.id);
  } catch (error) {
    if (error instanceof CallError) return [];
    throw error;
  }
}

/** Create the form for an operation: `{ element, response }`. */
export async function requestForm(document, method) {
  const takesId = "id" in (document.components.schemas[method["x-params"].$ref.split("/").at(-1)].properties ?? {});
  const ids = takesId ? await recentClockIds() : [];
  shownForm = new RequestForm(document, method, ids);
  return shownForm;
}

class RequestForm {
  constructor(document, method, ids) {
    Object.assign(this, { document, method, ids });
    this.params = drafts.get(method.name) ?? this.exampleParams(0);
    this.keyInput = h("input", {
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: "255",
    });
    this.sendButton = h("button", { class: "primary" }, "Send");
    this.history = h("details");
    this.response = new RequestResponse(this.history);
    this.drawHistory();
    this.tabs = tabList(
      "Parameters",
      [
        { title: "Form", build: () => this.buildForm() },
        { title: "JSON", build: () => this.buildEditor() },
      ],
      { canLeave: (from) => this.canLeave(from) },
    );
    this.element = h(
      "section",
      { class: "card request-form", "aria-labelledby": "try-it" },
      h("h3", { id: "try-it" }, "Try it"),
      method["x-needs-token"] &&
        h(
          "p",
          { class: "needs-token", hidden: Boolean(currentSession()) },
          "This operation needs a token. ",
          h("a", { href: "#/" }, "Sign in"),
          " first. Without a token, the server rejects the request.",
        ),
      h(
        "form",
        { novalidate: true, onsubmit: (event) => this.submit(event), oninput: () => this.saveDraft() },
        method.examples.length > 1 && this.exampleSelect(),
        this.tabs,
        method["x-takes-idempotency-key"] && this.buildKeyField(),
        h(
          "div",
          { class: "row submit-row" },
          this.sendButton,
          h("button", { class: "plain", onclick: () => this.fillExample(0) }, "Reset to example"),
        ),
      ),
    );
    this.showRequest();
  }

  showRequest(params = this.params) {
    const { name: method, "x-needs-token": authenticated } = this.method;
    this.response.showRequest({ method, params, authenticated, headers: this.headers() });
  }

  headers() {
    const key = this.keyInput.value.trim();
    return key ? { "Idempotency-Key": key } : {};
  }

  /** List the requests of this tab to the operation. */
  drawHistory() {
    const calls = callHistory().filter(({ method }) => method === this.method.name);
    const list = callList("Requests, newest first", calls, {
      textOf: (call) => JSON.stringify(maskRequest(call).params),
      onSelect: (call) => this.restore(call),
    });
    // Details without a summary would show one of the browser.
    this.history.hidden = calls.length === 0;
    render(this.history, calls.length > 0 && [h("summary", {}, `History (${calls.length})`), list]);
  }

  /** Fill in an earlier request and show its response. A code or login token works once, so it stays empty. */
  restore({ request, response, ...call }) {
    const secret = SECRETS[request.method]?.param;
    this.params = secret ? { ...request.params, [secret]: "" } : request.params;
    drafts.set(this.method.name, this.params);
    this.tabs.select(this.editor || !this.fitsForm() ? 1 : 0, { force: true });
    this.response.showMessage("");
    if (response?.error) this.showRpcError(new RpcError(response.error), duration(call));
    else if (response) this.showResult(response.result, duration(call));
    notify("Filled in the earlier request.");
  }

  /** Return the parameters of an example, with the id of one of the user's clocks. */
  exampleParams(index) {
    const params = paramsOf(this.method.examples[index]);
    return "id" in params && this.ids.length ? { ...params, id: this.ids[0] } : params;
  }

  fillExample(index) {
    this.params = this.exampleParams(index);
    drafts.delete(this.method.name);
    this.redraw();
    this.showRequest();
    notify("Filled in the example.");
  }

  /** Remove everything that belongs to the user who signed out. */
  reset() {
    this.ids = [];
    this.params = this.exampleParams(0);
    this.keyInput.value = "";
    this.response.clear();
    this.showRequest();
    this.redraw();
    this.drawHistory();
  }

  redraw() {
    this.tabs.select(this.editor ? 1 : 0, { force: true });
  }

  exampleSelect() {
    const select = h(
      "select",
      { onchange: () => this.fillExample(Number(select.value)) },
      this.method.examples.map(({ name }, index) => h("option", { value: String(index) }, name)),
    );
    return field("example", "Example", select);
  }

  buildKeyField() {
    const newKey = () => {
      this.keyInput.value = newIdempotencyKey();
      this.keyInput.focus();
      this.saveDraft();
    };
    this.keyField = field(
      "idempotency-key",
      [h("code", {}, "Idempotency-Key"), " ", h("span", { class: "muted" }, "header, optional")],
      this.keyInput,
      undefined,
      h("p", { class: "visually-hidden" }, "A second request with the same key and parameters returns the same clock."),
    );
    const box = h("div", { class: "with-button" });
    this.keyInput.replaceWith(box);
    box.append(this.keyInput, h("button", { onclick: newKey }, "New key"));
    return this.keyField;
  }

  buildForm() {
    this.editor = null;
    this.form = objectField(this.document, this.method["x-params"], this.params, { suggestions: { id: this.ids } });
    const isEmpty = !this.form.element.children.length;
    return isEmpty ? h("p", { class: "muted" }, "This operation has no parameters.") : this.form.element;
  }

  buildEditor() {
    this.form = null;
    const text = toJson(this.params);
    this.editor = h(
      "textarea",
      {
        class: "mono",
        spellcheck: "false",
        autocapitalize: "none",
        rows: Math.min(30, Math.max(6, text.split("\n").length + 1)),
      },
      text,
    );
    const label = [h("code", {}, "params"), " ", h("span", { class: "muted" }, "JSON")];
    this.editorField = field("params", label, this.editor);
    return this.editorField;
  }

  /** Read the form or the JSON into `params`. Return whether that succeeds. */
  readParams() {
    if (this.form) {
      this.params = this.form.read();
      return true;
    }
    try {
      this.params = JSON.parse(this.editor.value.trim() || "{}");
      this.showJsonError("");
      return true;
    } catch (error) {
      this.showJsonError(`Invalid JSON: ${error.message}`);
      return false;
    }
  }

  showJsonError(message) {
    this.editorField.setFault(message);
    if (message) this.editor.focus();
  }

  saveDraft() {
    this.writeDraft();
    this.showRequest(drafts.get(this.method.name));
  }

  writeDraft() {
    if (this.form) drafts.set(this.method.name, this.form.read());
    else if (this.editor) {
      try {
        drafts.set(this.method.name, JSON.parse(this.editor.value));
      } catch {
        // The draft keeps the last valid JSON.
      }
    }
  }

  /** Return whether the other tab can show the parameters. The form can't show all JSON. */
  canLeave(from) {
    if (!this.readParams()) return false;
    if (from === 0 || this.fitsForm()) return true;
    this.showJsonError("The form can't show all of this JSON. You can send it from here.");
    return false;
  }

  fitsForm() {
    const { params } = this;
    const isObject = params && typeof params === "object" && !Array.isArray(params);
    return isObject && sameParams(objectField(this.document, this.method["x-params"], params).read(), params);
  }

  submit(event) {
    event.preventDefault();
    if (!this.readParams()) return undefined;
    // Browsers reject other characters in a header.
    if (!/^[ -~]*$/.test(this.keyInput.value)) {
      this.keyField.setFault("must have 1 to 255 printable ASCII characters");
      return this.keyInput.focus();
    }
    return withBusyState(this.sendButton, () => this.call(this.headers()));
  }

  async call(headers) {
    const { name } = this.method;
    const { params } = this;
    // The end of the session has cleared the history.
    const elapsed = () =>
      callHistory()
        .filter(({ request }) => request.params === params)
        .map(duration)[0] ?? "";
    const isSameSession = captureSession();
    notify("Sending…");
    try {
      const result = await call(name, params, { headers });
      if (!isSameSession()) return;
      const time = elapsed();
      if (name === "logout") endSession();
      this.showResult(result, time);
      notify(name === "logout" ? "The token was revoked. You are signed out." : `${name} responded in ${time}.`);
    } catch (error) {
      if (currentSession() && !isSameSession()) return;
      if (error instanceof RpcError) this.showRpcError(error, elapsed());
      else if (error instanceof ServerUnavailable)
        this.response.showMessage(`${error.message} Send the request again when it is.`);
      else throw error;
      // An invalid field describes its fault itself.
      notify(this.invalidField() ? "" : error.message, { error: true });
    }
    if (this.invalidField()) this.invalidField().focus();
    else this.response.scrollIntoView();
  }

  showResult(result, time) {
    this.clearFaults();
    this.clearOneTimeParam();
    this.response.showResult(result, time);
  }

  showRpcError(error, time) {
    this.clearFaults();
    for (const { path, message } of error.data.errors ?? []) this.form?.showFault(path, message);
    this.response.showError(error, time);
  }

  invalidField() {
    return this.tabs.querySelector("[aria-invalid]");
  }

  clearFaults() {
    for (const invalid of this.tabs.querySelectorAll("[aria-invalid]")) invalid.removeAttribute("aria-invalid");
    for (const fault of this.tabs.querySelectorAll(".fault")) fault.textContent = "";
  }

  /** Clear a code or login token, because it works once. */
  clearOneTimeParam() {
    const param = SECRETS[this.method.name]?.param;
    if (!param || !(param in this.params)) return;
    this.params = { ...this.params, [param]: "" };
    drafts.delete(this.method.name);
    this.redraw();
  }
}
