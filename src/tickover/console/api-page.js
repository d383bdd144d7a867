// The reference of one operation, made from the OpenRPC document.

import { breakable, kindOf, prose, resolve, rulesOf } from "./api-form.js";
import { trial } from "./api-try.js";
import { h, s, say, show } from "./dom.js";
import { Away, call, Refusal } from "./rpc.js";
import { onSessionChange, session } from "./session.js";

function key() {
  return s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, class: "key", "aria-hidden": "true" },
    s("path", { d: "M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.4-1.8H15M12 8.7v2.4M14.2 8.7v1.8", fill: "none", stroke: "currentColor", "stroke-width": 1.6 }));
}

/** Whether an operation was added to the interface, and whether it needs a token; where there is little room, as a key. */
export function badges(method, { short = false } = {}) {
  const needsToken = short ? [key(), h("span", { class: "unseen" }, "needs a token")] : h("span", { class: "badge" }, key(), " needs a token");
  return [method["x-extension"] && h("span", { class: "badge" }, "extension"), method["x-needs-token"] && needsToken];
}

/** The example's parameters by name. */
export function paramsOf(example) {
  return Object.fromEntries((example?.params ?? []).map(({ name, value }) => [name, value]));
}

/** The members of an object, or of the objects in an array, with the members that they have themselves. */
function fields(document, schema, isSent) {
  const found = resolve(document, schema.items ?? schema);
  const members = Object.entries(found.properties ?? {});
  if (!members.length) return null;
  return h("dl", { class: "fields" }, members.map(([name, member]) => {
    const isRequired = found.required?.includes(name);
    const mark = isSent ? isRequired && "required" : !isRequired && "may be left out";
    const about = resolve(document, member).description ?? "";
    return h("div", {},
      h("dt", {}, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, [kindOf(member), mark].filter(Boolean).join(", "))),
      h("dd", {}, h("p", {}, prose([about, rulesOf(member)].filter(Boolean).join(" "))), fields(document, member, isSent)));
  }));
}

function reasons(document, method) {
  return h("dl", { class: "fields reasons" }, method["x-reasons"].map((name) => {
    const about = document["x-reasons"][name];
    return h("div", {},
      h("dt", {}, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, `${about.code}, HTTP ${about.httpStatus}`)),
      h("dd", {}, h("p", {}, prose(about.description))));
  }));
}

function example(method, { name, params, result }) {
  const request = { jsonrpc: "2.0", id: 1, method: method.name, params: paramsOf({ params }) };
  // The answer of rpc.discover is the document itself, which is all around it.
  const answer = method.name === "rpc.discover" ? "The document that this page is made from." : JSON.stringify(result.value, null, 2);
  return h("details", {}, h("summary", {}, `Example: ${name}`),
    h("h4", {}, "Request"), h("pre", {}, JSON.stringify(request, null, 2)),
    h("h4", {}, "Result"), h("pre", { class: "tall", tabindex: "0", role: "region", "aria-label": `Result of ${name}` }, answer));
}

export function reference(document, method) {
  return h("section", { class: "card reference-of", "aria-label": "Reference" },
    h("h3", {}, "Parameters"),
    fields(document, method["x-params"], true) ?? h("p", { class: "quiet" }, "None."),
    h("h3", {}, "Result"),
    h("p", {}, prose(method.result.description)),
    h("details", {}, h("summary", {}, "Fields of the result"), fields(document, method.result.schema, false) ?? h("p", {}, "An OpenRPC document.")),
    h("details", {}, h("summary", {}, `Reasons to refuse (${method["x-reasons"].length})`), reasons(document, method)),
    method.examples.map((one) => example(method, one)));
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
      h("div", { class: chosen ? "panes with-choice" : "panes" },
        h("nav", { class: "pane-list card", "aria-label": "Operations" }, methodList(description, chosen), h("p", { class: "hint" }, links())),
        h("div", { class: "pane-choice" }, content)),
    );
    // Whoever came by a link goes on reading at the operation, not before the list.
    if (chosen && document.activeElement === this.heading) this.querySelector("h2").focus();
  }

  showTrouble(error) {
    const again = () => {
      say("");
      this.draw();
    };
    show(this.content, h("div", { class: "card" },
      h("p", { class: "error" }, error.message),
      h("p", { class: "row" }, h("button", { type: "button", class: "primary", onclick: again }, "Try again"))));
    say(error.message, { error: true });
  }
}

function links() {
  return [h("a", { href: "/docs" }, "The whole reference on one page"), " · ", h("a", { href: "/openrpc.json" }, "openrpc.json")];
}

function methodList(description, chosen) {
  return h("ul", { class: "method-list" }, description.methods.map((method) =>
    h("li", {}, h("a", { href: `#/api/${encodeURIComponent(method.name)}`, "aria-current": method === chosen ? "true" : undefined },
      h("span", { class: "row" }, h("span", { class: "mono" }, breakable(method.name)), badges(method, { short: true })),
      h("span", { class: "quiet" }, method.summary)))));
}

function overview(description, unknown) {
  return h("section", { class: "card overview", "aria-label": "About" },
    unknown && h("p", { class: "error" }, `There is no operation named “${unknown}”.`),
    h("h2", {}, "Calling"),
    description.info.description.split("\n\n").map((paragraph) => h("p", {}, prose(paragraph))),
    h("p", {}, "Choose an operation to read about it and to try it."));
}

async function methodPage(description, method) {
  const tryIt = await trial(description, method);
  return [
    h("div", { class: "card method-head" },
      h("a", { class: "back", href: "#/api" }, "‹ All operations"),
      h("div", { class: "row" }, h("h2", { tabindex: "-1", class: "mono" }, breakable(method.name)), badges(method)),
      h("p", { class: "lead" }, `${method.summary}.`),
      h("p", {}, prose(method.description))),
    h("div", { class: "method-body" }, tryIt, reference(description, method)),
  ];
}

customElements.define("tick-api", Api);
onSessionChange(() => document.querySelector("tick-api")?.sessionChanged());
