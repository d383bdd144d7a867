// The reference made from rpc.discover: what operations take, in words and as fields, and a form to try each.

import { maskedResult } from "./behind.js";
import { saysSame } from "./clocks-page.js";
import { copy, h, s, say, show, tabList, whileBusy } from "./dom.js";
import { Away, call, end, onEnd, onSessionChange, Refusal, session, sessionCheck } from "./rpc.js";

// What the JSON Schemas of the OpenRPC document say, in words, as the page at /docs says it.

const KINDS = { array: "array of objects", "date-time": "timestamp", email: "e-mail address", integer: "whole number" };
const count = new Intl.NumberFormat("en");

/** A schema itself, wherever in the document it is. */
function resolve(document, schema) {
  if (!schema.$ref) return schema;
  return schema.$ref
    .slice(2)
    .split("/")
    .reduce((found, name) => found[name], document);
}

function anyOf(choices, only = "") {
  if (choices.length < 2) return choices.map((choice) => only + choice).join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

function range(least, most, one = "", many = "") {
  const counted = (number) => `${count.format(number)} ${number === 1 ? one : many}`.trim();
  if (most === undefined) return least === undefined ? "" : `at least ${counted(least)}`;
  if (least === undefined) return `at most ${counted(most)}`;
  return least === most ? "" : `${count.format(least)} to ${counted(most)}`;
}

/** The type of a schema in a word or two. */
function kindOf(schema) {
  if (schema.anyOf && !schema.type) return anyOf(schema.anyOf.map(kindOf));
  const kind = schema.format ?? schema.type ?? "object";
  return KINDS[kind] ?? kind;
}

/** The bounds of a schema. What a pattern asks for is in the description. */
function rulesOf(schema) {
  const rules = [
    "exclusiveMinimum" in schema && `more than ${count.format(schema.exclusiveMinimum)}`,
    anyOf(
      (schema.enum ?? []).map((value) => `\`${value}\``),
      "always ",
    ),
    range(schema.minLength, schema.maxLength, "character", "characters"),
    range(schema.minimum, schema.maximum),
    range(undefined, schema.maxItems, "entry", "entries"),
    "default" in schema && `by default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter(Boolean)
    .join(", ");
  return rules && `${rules[0].toUpperCase()}${rules.slice(1)}.`;
}

/** Text in which some words stand between backticks; whatever else is in it stays text. */
function prose(text) {
  return text.split("`").map((piece, at) => (at % 2 ? h("code", {}, piece) : piece));
}

/** A long name, which may be broken where a reader would break it. */
function breakable(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])|(?<=[_.])/).flatMap((piece, at) => (at ? [h("wbr"), piece] : [piece]));
}

// A form for any parameters, made from their JSON Schema. Each field is `{ element, read, mark }`: `read()` gives the value,
// or undefined for what is left out, and `mark(path, message)` shows a fault at its path, counted from this field's object, and says whether there was a place for it.

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INPUTS = {
  "date-time": { placeholder: "2027-01-31T09:00:00Z" },
  email: { type: "email", inputmode: "email" },
  number: { inputmode: "decimal" },
  integer: { inputmode: "numeric" },
};

let made = 0;

/**
 * A form for an object. `lists` holds suggestions by the name of a field, as `{ id: [...] }`. One of many such objects says
 * less to the eye, because the reference says it, and all of it to those who listen.
 */
function objectField(document, schema, value = {}, { lists = {}, isOneOfMany = false } = {}) {
  const found = resolve(document, schema);
  const members = Object.entries(found.properties ?? {}).map(([name, member]) => {
    const build = member.type === "array" ? arrayField : scalarField;
    return [
      name,
      build(document, member, value[name], {
        name,
        lists,
        isOneOfMany,
        isRequired: found.required?.includes(name) ?? false,
      }),
    ];
  });
  return {
    element: h(
      "div",
      { class: isOneOfMany ? "form-fields close" : "form-fields" },
      members.map(([, field]) => field.element),
    ),
    read: () =>
      Object.fromEntries(
        members.map(([name, field]) => [name, field.read()]).filter(([, written]) => written !== undefined),
      ),
    mark: (at, message) => members.some(([, field]) => field.mark(at, message)),
  };
}

function scalarField(_document, schema, value, { name, isRequired, lists, isOneOfMany }) {
  const id = `field-${++made}`;
  const suggestions = lists[name];
  const control = schema.enum ? choice(schema, value, id) : line(schema, value, id, suggestions);
  const fault = h("p", { class: "error", id: `${id}-fault`, hidden: true });
  control.setAttribute("aria-describedby", `${id}-about ${id}-fault`);
  if (isRequired) control.setAttribute("aria-required", "true");
  const forget = () => {
    control.removeAttribute("aria-invalid");
    fault.hidden = true;
  };
  control.addEventListener("input", forget);
  const marks = isOneOfMany
    ? !isRequired && "optional"
    : [kindOf(schema), isRequired && "required"].filter(Boolean).join(", ");
  return {
    element: h(
      "div",
      { class: schema.format === "date-time" ? "form-field wide" : "form-field" },
      h("label", { for: id }, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, marks)),
      control,
      suggestions &&
        h(
          "datalist",
          { id: `${id}-list` },
          suggestions.map((one) => h("option", { value: one })),
        ),
      fault,
      h(
        "p",
        { class: isOneOfMany ? "unseen" : "hint", id: `${id}-about` },
        prose([schema.description, rulesOf(schema)].filter(Boolean).join(" ")),
      ),
    ),
    read: () => readScalar(schema, control.value),
    mark(at, message) {
      if (at !== name) return false;
      control.setAttribute("aria-invalid", "true");
      fault.textContent = message;
      fault.hidden = false;
      return true;
    },
  };
}

function line(schema, value, id, suggestions) {
  return h("input", {
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "none",
    ...INPUTS[schema.format ?? schema.type],
    value: value === undefined ? undefined : String(value),
    list: suggestions && `${id}-list`,
  });
}

function choice(schema, value, id) {
  return h(
    "select",
    { id },
    h("option", { value: "" }, "(left out)"),
    schema.enum.map((one) => h("option", { value: one, selected: one === value }, one)),
  );
}

// What is no number is sent as it was written: the server says best what is wrong with it.
function readScalar(schema, written) {
  if (written === "") return undefined;
  const isNumber = schema.type === "number" || schema.type === "integer";
  return isNumber && NUMBER.test(written.trim()) ? Number(written) : written;
}

function arrayField(document, schema, value, { name, lists }) {
  const itemSchema = resolve(document, schema.items);
  const one = (itemSchema.title ?? "item").replace(/Entry$/, "").toLowerCase();
  const items = [];
  // An empty list is something else than one that was left out.
  let isGiven = value !== undefined;
  const fault = h("p", { class: "error", hidden: true });
  const holder = h("div", { class: "form-items" });
  const add = h("button", { type: "button", onclick: () => append({}).focus() }, `Add a ${one}`);
  const element = h(
    "fieldset",
    { class: "form-array" },
    h("legend", {}, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, kindOf(schema))),
    h("p", { class: "hint" }, prose([schema.description, rulesOf(schema)].filter(Boolean).join(" "))),
    fault,
    holder,
    add,
  );

  function append(written) {
    const number = items.length;
    isGiven = true;
    // Its place may change, and with it its path.
    const item = {
      field: objectField(document, itemSchema, written, { lists, isOneOfMany: true }),
      at: () => `${name}[${items.indexOf(item)}]`,
    };
    item.title = h("legend", {}, `${one} ${number + 1}`);
    item.element = h(
      "fieldset",
      { class: "form-item" },
      item.title,
      item.field.element,
      h("button", { type: "button", class: "plain", onclick: () => remove(item) }, `Remove this ${one}`),
    );
    items.push(item);
    holder.append(item.element);
    return { focus: () => item.element.querySelector("input, select")?.focus() };
  }

  function remove(item) {
    const number = items.indexOf(item);
    items.splice(number, 1);
    item.element.remove();
    items.forEach((left, at) => {
      left.title.textContent = `${one} ${at + 1}`;
    });
    // The button that was pressed is gone; the focus goes to the one in its place.
    (items[number]?.element.querySelector(":scope > button") ?? add).focus();
  }

  for (const written of Array.isArray(value) ? value : []) append(written ?? {});
  return {
    element,
    read: () => (isGiven ? items.map((item) => item.field.read()) : undefined),
    mark(at, message) {
      if (at === name || items.some((item) => at === item.at())) {
        fault.textContent = at === name ? message : `${at}: ${message}`;
        fault.hidden = false;
        return true;
      }
      return items.some(
        (item) => at.startsWith(`${item.at()}.`) && item.field.mark(at.slice(item.at().length + 1), message),
      );
    },
  };
}

// A form to try an operation: its parameters as fields or as JSON, what is sent, and what comes back.

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

async function trial(document, method) {
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

// The reference of one operation, made from the OpenRPC document.

function key() {
  return s(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, class: "key", "aria-hidden": "true" },
    s("path", {
      d: "M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.4-1.8H15M12 8.7v2.4M14.2 8.7v1.8",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.6,
    }),
  );
}

/** Whether an operation was added to the interface, and whether it needs a token; where there is little room, as a key. */
function badges(method, { short = false } = {}) {
  const needsToken = short
    ? [key(), h("span", { class: "unseen" }, "needs a token")]
    : h("span", { class: "badge" }, key(), " needs a token");
  return [method["x-extension"] && h("span", { class: "badge" }, "extension"), method["x-needs-token"] && needsToken];
}

/** The example's parameters by name. */
function paramsOf(example) {
  return Object.fromEntries((example?.params ?? []).map(({ name, value }) => [name, value]));
}

/** The members of an object, or of the objects in an array, with the members that they have themselves. */
function fields(document, schema, isSent) {
  const found = resolve(document, schema.items ?? schema);
  const members = Object.entries(found.properties ?? {});
  if (!members.length) return null;
  return h(
    "dl",
    { class: "fields" },
    members.map(([name, member]) => {
      const isRequired = found.required?.includes(name);
      const mark = isSent ? isRequired && "required" : !isRequired && "may be left out";
      const about = resolve(document, member).description ?? "";
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakable(name)),
          " ",
          h("span", { class: "quiet" }, [kindOf(member), mark].filter(Boolean).join(", ")),
        ),
        h(
          "dd",
          {},
          h("p", {}, prose([about, rulesOf(member)].filter(Boolean).join(" "))),
          fields(document, member, isSent),
        ),
      );
    }),
  );
}

function reasons(document, method) {
  return h(
    "dl",
    { class: "fields reasons" },
    method["x-reasons"].map((name) => {
      const about = document["x-reasons"][name];
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakable(name)),
          " ",
          h("span", { class: "quiet" }, `${about.code}, HTTP ${about.httpStatus}`),
        ),
        h("dd", {}, h("p", {}, prose(about.description))),
      );
    }),
  );
}

function example(method, { name, params, result }) {
  const request = { jsonrpc: "2.0", id: 1, method: method.name, params: paramsOf({ params }) };
  // The answer of rpc.discover is the document itself, which is all around it.
  const answer =
    method.name === "rpc.discover"
      ? "The document that this page is made from."
      : JSON.stringify(result.value, null, 2);
  return h(
    "details",
    {},
    h("summary", {}, `Example: ${name}`),
    h("h4", {}, "Request"),
    h("pre", {}, JSON.stringify(request, null, 2)),
    h("h4", {}, "Result"),
    h("pre", { class: "tall", tabindex: "0", role: "region", "aria-label": `Result of ${name}` }, answer),
  );
}

function reference(document, method) {
  return h(
    "section",
    { class: "card reference-of", "aria-label": "Reference" },
    h("h3", {}, "Parameters"),
    fields(document, method["x-params"], true) ?? h("p", { class: "quiet" }, "None."),
    h("h3", {}, "Result"),
    h("p", {}, prose(method.result.description)),
    h(
      "details",
      {},
      h("summary", {}, "Fields of the result"),
      fields(document, method.result.schema, false) ?? h("p", {}, "An OpenRPC document."),
    ),
    h("details", {}, h("summary", {}, `Reasons to refuse (${method["x-reasons"].length})`), reasons(document, method)),
    method.examples.map((one) => example(method, one)),
  );
}

// <tick-api>: the reference made from rpc.discover, and a form to try each operation.

// It does not change while the server runs; one that is refused is asked for again.
let description = null;

function describe() {
  description ??= call("rpc.discover", {}, { quiet: true }).catch((error) => {
    description = null;
    throw error;
  });
  return description;
}

class Api extends HTMLElement {
  connectedCallback() {
    this.heading = h("h1", { class: "page-title" }, "API");
    this.content = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
    show(this, this.heading, this.content);
    this.draw();
  }

  sessionChanged() {
    for (const note of this.querySelectorAll(".needs-token")) note.hidden = Boolean(session());
  }

  async draw() {
    let description;
    try {
      description = await describe();
    } catch (error) {
      if (!(error instanceof Away || error instanceof Refusal)) throw error;
      if (this.isConnected) this.showTrouble(error);
      return;
    }
    const chosen = description.methods.find((method) => method.name === this.argument);
    const content = chosen ? await methodPage(description, chosen) : overview(description, this.argument);
    if (!this.isConnected) return;
    if (chosen) document.title = `${chosen.name} · API · Tickover`;
    show(
      this.content,
      h(
        "div",
        { class: chosen ? "panes with-choice" : "panes" },
        h(
          "nav",
          { class: "pane-list card", "aria-label": "Operations" },
          methodList(description, chosen),
          h("p", { class: "hint" }, links()),
        ),
        h("div", { class: "pane-choice" }, content),
      ),
    );
    // Whoever came by a link goes on reading at the operation, not before the list.
    if (chosen && document.activeElement === this.heading) this.querySelector("h2").focus();
  }

  showTrouble(error) {
    const again = () => {
      say("");
      this.draw();
    };
    show(
      this.content,
      h(
        "div",
        { class: "card" },
        h("p", { class: "error" }, error.message),
        h("p", { class: "row" }, h("button", { type: "button", class: "primary", onclick: again }, "Try again")),
      ),
    );
    say(error.message, { error: true });
  }
}

function links() {
  return [
    h("a", { href: "docs" }, "The whole reference on one page"),
    " · ",
    h("a", { href: "openrpc.json" }, "openrpc.json"),
  ];
}

function methodList(description, chosen) {
  return h(
    "ul",
    { class: "method-list" },
    description.methods.map((method) =>
      h(
        "li",
        {},
        h(
          "a",
          { href: `#/api/${encodeURIComponent(method.name)}`, "aria-current": method === chosen ? "true" : undefined },
          h(
            "span",
            { class: "row" },
            h("span", { class: "mono" }, breakable(method.name)),
            badges(method, { short: true }),
          ),
          h("span", { class: "quiet" }, method.summary),
        ),
      ),
    ),
  );
}

function overview(description, unknown) {
  return h(
    "section",
    { class: "card overview", "aria-label": "About" },
    unknown && h("p", { class: "error" }, `There is no operation named “${unknown}”.`),
    h("h2", {}, "Calling"),
    description.info.description.split("\n\n").map((paragraph) => h("p", {}, prose(paragraph))),
    h("p", {}, "Choose an operation to read about it and to try it."),
  );
}

async function methodPage(description, method) {
  const tryIt = await trial(description, method);
  return [
    h(
      "div",
      { class: "card method-head" },
      h("a", { class: "back", href: "#/api" }, "‹ All operations"),
      h("div", { class: "row" }, h("h2", { tabindex: "-1", class: "mono" }, breakable(method.name)), badges(method)),
      h("p", { class: "lead" }, `${method.summary}.`),
      h("p", {}, prose(method.description)),
    ),
    h("div", { class: "method-body" }, tryIt, reference(description, method)),
  ];
}

customElements.define("tick-api", Api);
onSessionChange(() => document.querySelector("tick-api")?.sessionChanged());
