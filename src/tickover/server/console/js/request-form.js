// The form that sends an operation: its parameters as fields or JSON, and the response.

import { paramsOf } from "./api-reference.js";
import { copy, h, say, show, whileBusy } from "./dom.js";
import { saysSame } from "./params-equality.js";
import { Away, call, Refusal } from "./rpc.js";
import { objectField } from "./schema-form.js";
import { maskedResult } from "./secret-masks.js";
import { end, onEnd, session, sessionCheck } from "./session.js";
import { tabList } from "./tabs.js";

// What was typed for each operation, for as long as the tab lives: going to look at another one must not cost it.
const drafts = new Map();
// They sign in once, so nobody needs them again once they have.
const SECRETS = { loginByEmailVerification: "code", loginByEmailLink: "token" };

let current = null;

onEnd(() => {
  drafts.clear();
  current?.forget();
});

const write = (value) => JSON.stringify(value, null, 2);

/** The ids of this person's newest clocks, for operations that take one. */
async function clockIds() {
  if (!session()) return [];
  try {
    return (await call("listTestClocks", {}, { quiet: true })).clocks.map((clock) => clock.id);
  } catch (error) {
    if (error instanceof Refusal || error instanceof Away) return []; // they are a help, and nothing depends on them
    throw error;
  }
}

export async function trial(document, method) {
  const takesId = "id" in (document.components.schemas[method["x-params"].$ref.split("/").at(-1)].properties ?? {});
  const ids = takesId ? await clockIds() : [];
  current = new Trial(document, method, ids);
  return current.element;
}

class Trial {
  constructor(document, method, ids) {
    Object.assign(this, { document, method, ids });
    this.params = drafts.get(method.name) ?? this.example(0);
    this.key = h("input", {
      type: "text",
      id: "idempotency-key",
      autocomplete: "off",
      spellcheck: "false",
      maxlength: "255",
    });
    this.send = h("button", { type: "submit", class: "primary" }, "Send");
    this.outcome = h("div", { class: "outcome" });
    this.tabs = tabList(
      "Parameters",
      [
        { title: "Form", build: () => this.buildForm() },
        { title: "JSON", build: () => this.buildEditor() },
      ],
      { mayLeave: (from) => this.mayLeave(from) },
    );
    this.element = h(
      "section",
      { class: "card trial", "aria-labelledby": "try-it" },
      h("h3", { id: "try-it" }, "Try it"),
      method["x-needs-token"] &&
        h(
          "p",
          { class: "needs-token", hidden: Boolean(session()) },
          "This operation needs a token. ",
          h("a", { href: "#/" }, "Sign in"),
          " to send it as yourself; without one, the server will refuse.",
        ),
      h(
        "form",
        { novalidate: true, onsubmit: (event) => this.submit(event), oninput: () => this.keep() },
        method.examples.length > 1 && this.examplePicker(),
        this.tabs,
        method["x-takes-idempotency-key"] && this.keyField(),
        h(
          "div",
          { class: "row" },
          this.send,
          h("button", { type: "button", class: "plain", onclick: () => this.fill(0) }, "Back to the example"),
        ),
      ),
      this.outcome,
    );
  }

  /** The parameters of an example, with a clock that there is in the place of the one in the example. */
  example(number) {
    const params = paramsOf(this.method.examples[number]);
    return "id" in params && this.ids.length ? { ...params, id: this.ids[0] } : params;
  }

  fill(number) {
    this.params = this.example(number);
    drafts.delete(this.method.name);
    this.redraw();
    say("The example is filled in.");
  }

  /** What one person wrote and was answered is not for the next. */
  forget() {
    this.ids = [];
    this.params = this.example(0);
    this.key.value = "";
    show(this.outcome);
    this.redraw();
  }

  redraw() {
    this.tabs.choose(this.editor ? 1 : 0, { force: true });
  }

  examplePicker() {
    const picker = h(
      "select",
      { id: "example", onchange: () => this.fill(Number(picker.value)) },
      this.method.examples.map(({ name }, number) => h("option", { value: String(number) }, name)),
    );
    return h("div", { class: "form-field" }, h("label", { for: "example" }, "Example"), picker);
  }

  keyField() {
    const fresh = () => {
      this.key.value = [...crypto.getRandomValues(new Uint8Array(12))]
        .map((byte) => byte.toString(16).padStart(2, "0"))
        .join("");
      this.key.focus();
    };
    this.key.setAttribute("aria-describedby", "idempotency-key-about");
    return h(
      "div",
      { class: "form-field" },
      h(
        "label",
        { for: "idempotency-key" },
        h("code", {}, "Idempotency-Key"),
        " ",
        h("span", { class: "quiet" }, "header"),
      ),
      h("div", { class: "with-button" }, this.key, h("button", { type: "button", onclick: fresh }, "New key")),
      h(
        "p",
        { class: "hint", id: "idempotency-key-about" },
        "Left empty, it is not sent. The same key with the same parameters answers with the same clock.",
      ),
    );
  }

  buildForm() {
    this.editor = null;
    this.form = objectField(this.document, this.method["x-params"], this.params, { lists: { id: this.ids } });
    const isEmpty = !this.form.element.children.length;
    return isEmpty ? h("p", { class: "quiet" }, "It takes no parameters.") : this.form.element;
  }

  buildEditor() {
    this.form = null;
    this.editor = h("textarea", {
      id: "params-json",
      class: "mono",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "none",
      rows: String(Math.min(30, Math.max(6, write(this.params).split("\n").length + 1))),
    });
    this.editor.value = write(this.params);
    this.jsonFault = h("p", { class: "error", id: "json-fault", hidden: true });
    this.editor.setAttribute("aria-describedby", "json-fault");
    return h(
      "div",
      { class: "form-field" },
      h("label", { for: "params-json" }, h("code", {}, "params"), " ", h("span", { class: "quiet" }, "JSON")),
      this.editor,
      this.jsonFault,
    );
  }

  /** Take what was typed into `params`; whether it can be read. */
  take() {
    if (this.form) {
      this.params = this.form.read();
      return true;
    }
    try {
      this.params = JSON.parse(this.editor.value.trim() || "{}");
      this.refuseJson("");
      return true;
    } catch (error) {
      this.refuseJson(`This is not JSON: ${error.message}`);
      return false;
    }
  }

  refuseJson(sentence) {
    this.jsonFault.hidden = !sentence;
    this.jsonFault.textContent = sentence;
    this.editor.toggleAttribute("aria-invalid", false);
    if (sentence) {
      this.editor.setAttribute("aria-invalid", "true");
      say(sentence, { error: true });
    }
  }

  keep() {
    if (this.form) drafts.set(this.method.name, this.form.read());
    else if (this.editor) {
      try {
        drafts.set(this.method.name, JSON.parse(this.editor.value));
      } catch {
        // half a word; the last that could be read is kept
      }
    }
  }

  /** From the form everything can be said in JSON; the other way, only what the operation takes. */
  mayLeave(from) {
    if (!this.take()) return false;
    if (from === 0) return true;
    const { params } = this;
    const isObject = params && typeof params === "object" && !Array.isArray(params);
    if (isObject && saysSame(objectField(this.document, this.method["x-params"], params).read(), params)) return true;
    this.refuseJson("The form has no place for some of this. It can be sent as it is.");
    return false;
  }

  submit(event) {
    event.preventDefault();
    if (!this.take()) return;
    const key = this.key.value.trim();
    // A header holds nothing else, and the browser would not send it.
    if (!/^[ -~]*$/.test(key)) {
      say("An Idempotency-Key has 1 to 255 printable ASCII characters.", { error: true });
      this.key.focus();
      return;
    }
    whileBusy(this.send, () => this.call(key ? { "Idempotency-Key": key } : {}));
  }

  async call(headers) {
    const { name } = this.method;
    const began = performance.now();
    const took = () => `${Math.max(1, Math.round(performance.now() - began))} ms`;
    const isSame = sessionCheck();
    say("Sending …");
    try {
      const result = await call(name, this.params, { headers });
      if (!isSame()) return; // whoever asked has left
      const time = took();
      if (name === "logout") end(); // the token is no good any more
      this.showResult(result, time);
      say(name === "logout" ? "You are signed out: this token was revoked." : `${name} answered in ${time}.`);
    } catch (error) {
      if (session() && !isSame()) return; // likewise
      if (error instanceof Refusal) this.showRefusal(error, took());
      else if (error instanceof Away)
        show(this.outcome, h("p", { class: "error" }, error.message), h("p", {}, "Send it again when it is."));
      else throw error;
      say(error.message, { error: true });
    }
    this.outcome.scrollIntoView({ block: "nearest" });
  }

  showResult(result, took) {
    this.forgetFaults();
    this.forgetSecret();
    const clockId = result?.clock?.id;
    show(
      this.outcome,
      outcomeHead("Result", took, result),
      clockId && h("p", {}, h("a", { href: `#/clock/${encodeURIComponent(clockId)}` }, "Open this clock")),
      json("Result", maskedResult(result)),
    );
  }

  showRefusal({ code, reason, message, data }, took) {
    this.forgetFaults();
    const faults = data.errors ?? [];
    for (const fault of faults) this.form?.mark(fault.path, fault.message);
    show(
      this.outcome,
      outcomeHead("Refused", took, { code, message, data }),
      h("p", {}, h("span", { class: "badge error" }, reason), " ", message),
      faults.length > 0 &&
        h(
          "ul",
          { class: "faults" },
          faults.map((fault) => h("li", {}, h("code", {}, fault.path), " ", fault.message)),
        ),
      json("Error", { code, message, data }),
    );
  }

  forgetFaults() {
    for (const marked of this.tabs.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
    for (const line of this.tabs.querySelectorAll("p.error")) line.hidden = true;
  }

  forgetSecret() {
    const secret = SECRETS[this.method.name];
    if (!secret || !(secret in this.params)) return;
    this.params = { ...this.params, [secret]: "" };
    drafts.delete(this.method.name);
    this.redraw();
  }
}

function outcomeHead(title, took, value) {
  return h(
    "div",
    { class: "row" },
    h("h3", {}, title),
    h("span", { class: "quiet" }, took),
    h(
      "button",
      { type: "button", class: "plain", onclick: () => copy(write(value), "the answer") },
      maskedResult(value) === value ? "Copy" : "Copy with the secret",
    ),
  );
}

function json(label, value) {
  return h("pre", { class: "tall", tabindex: "0", role: "region", "aria-label": label }, write(value));
}
