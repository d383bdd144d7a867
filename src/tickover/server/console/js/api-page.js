// <tick-api>: the reference made from rpc.discover, with a form to try each operation.

import { badges, reference } from "./api-reference.js";
import { h, say, show } from "./dom.js";
import { trial } from "./request-form.js";
import { Away, call, Refusal } from "./rpc.js";
import { breakable, prose } from "./schema-text.js";
import { onSessionChange, session } from "./session.js";

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
