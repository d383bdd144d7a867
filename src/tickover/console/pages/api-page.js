// <tick-api>: the reference made from rpc.discover, with a form to try each operation.

import { h, render } from "../lib/dom.js";
import { showFailure } from "../lib/failure.js";
import { CallError, call } from "../lib/rpc.js";
import { currentSession, onSessionChange } from "../lib/session.js";
import { badge, badges, breakableName, reference, withInlineCode } from "./api-reference.js";
import { requestForm } from "./request-form.js";

// The scroll position of the list of operations, which the next page continues.
let listPosition = 0;
// The OpenRPC document. It doesn't change while the server runs.
let documentRequest = null;

function loadDocument() {
  documentRequest ??= call("rpc.discover", {}, { quiet: true }).catch((error) => {
    documentRequest = null;
    throw error;
  });
  return documentRequest;
}

class ApiPage extends HTMLElement {
  connectedCallback() {
    this.heading = h("h1", { class: "page-title" }, "API");
    this.content = h("div", {}, h("p", { class: "muted" }, "Loading…"));
    render(this, this.heading, this.content);
    this.draw();
  }

  sessionChanged() {
    for (const note of this.querySelectorAll(".needs-token")) note.hidden = Boolean(currentSession());
  }

  async draw() {
    let openrpc;
    try {
      openrpc = await loadDocument();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (this.isConnected) this.showError(error);
      return;
    }
    const selected = openrpc.methods.find((method) => method.name === this.argument);
    const content = selected ? await operationPage(openrpc, selected) : overview(openrpc, this.argument);
    if (!this.isConnected) return;
    if (selected) document.title = `${selected.name} · API · Tickover`;
    render(
      this.content,
      selected
        ? h(
            "div",
            { class: "panes with-selection" },
            h(
              "nav",
              { class: "pane-list card", "aria-label": "Operations" },
              operationLists(openrpc, selected),
              h("p", { class: "hint" }, docsLinks()),
            ),
            h("div", { class: "pane-detail" }, content),
          )
        : content,
    );
    const list = this.querySelector(".pane-list");
    if (list) {
      const { offsetTop: top } = list.querySelector("[aria-current]");
      const isInView = top > listPosition && top < listPosition + list.clientHeight / 2;
      list.scrollTop = isInView ? listPosition : top - list.clientHeight / 3;
      list.addEventListener("scroll", () => (listPosition = list.scrollTop));
    }
    // After a navigation, move the focus from the page heading to the operation.
    if (selected && document.activeElement === this.heading) this.querySelector(".method-head h2").focus();
  }

  showError(error) {
    showFailure(this.content, error.message, [
      h("button", { class: "primary", onclick: () => this.draw() }, "Try again"),
    ]);
  }
}

function docsLinks() {
  return [h("a", { href: "docs" }, "Full reference"), " · ", h("a", { href: "openrpc.json" }, "openrpc.json")];
}

/** List all operations in groups. With a selected one, show only their names. */
function operationLists({ methods }, selected) {
  const link = (method) =>
    h(
      "a",
      { href: `#/api/${encodeURIComponent(method.name)}`, "aria-current": method === selected ? "true" : undefined },
      h("span", { class: "mono" }, breakableName(method.name)),
      !selected && [badges(method), " ", h("span", { class: "muted" }, method.summary)],
    );
  return [...new Set(methods.map((method) => method["x-group"]))].map((title) => [
    h("h2", {}, title),
    h(
      "ul",
      { class: "method-list" },
      methods.filter((method) => method["x-group"] === title).map((method) => h("li", {}, link(method))),
    ),
  ]);
}

/** Show all operations, and the rules for requests below. */
function overview(openrpc, unknownName) {
  return h(
    "div",
    { class: "overview" },
    unknownName && h("p", { class: "error" }, `Operation not found: “${unknownName}”.`),
    h(
      "p",
      { class: "muted" },
      "Select an operation to read its reference and try it. The badge ",
      badge("core"),
      " marks the four operations of the basic interface; all others are extensions. ",
      badge("no token"),
      " marks operations that need no token. ",
      docsLinks(),
    ),
    h("nav", { class: "card", "aria-label": "Operations" }, operationLists(openrpc)),
    h(
      "section",
      { class: "card", "aria-labelledby": "rules-title" },
      h("h2", { id: "rules-title" }, "Rules for all requests"),
      openrpc.info.description.split("\n\n").map((paragraph) => h("p", {}, withInlineCode(paragraph))),
    ),
  );
}

async function operationPage(openrpc, method) {
  const form = await requestForm(openrpc, method);
  return [
    h(
      "div",
      { class: "card method-head" },
      h("a", { class: "back", href: "#/api" }, "‹ All operations"),
      h(
        "div",
        { class: "row" },
        h("h2", { tabindex: "-1", class: "mono" }, breakableName(method.name)),
        badges(method),
      ),
      h("p", { class: "lead" }, `${method.summary}.`),
      h("p", {}, withInlineCode(method.description)),
    ),
    h(
      "div",
      { class: "method-body" },
      form.element,
      h("div", { class: "card method-side" }, form.response.element, reference(openrpc, method)),
    ),
  ];
}

customElements.define("tick-api", ApiPage);
onSessionChange(() => document.querySelector("tick-api")?.sessionChanged());
