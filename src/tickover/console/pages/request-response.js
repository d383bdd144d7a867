// Beside the form of an operation: the request as curl, and then the response.

import { writeSnippet } from "../clock/call-snippets.js";
import { faultList } from "../clock/create-clock.js";
import { codeBlock, toJson } from "../lib/code-block.js";
import { copyText, h, render } from "../lib/dom.js";
import { maskRequest, maskResult } from "./call-list.js";

export class RequestResponse {
  #content = h("div");
  #hasResponse = false;

  constructor(history) {
    this.element = h("section", { class: "response", "aria-label": "Request and response" }, this.#content, history);
  }

  /** Remove the response. */
  clear() {
    this.#hasResponse = false;
    render(this.#content);
  }

  /** Show a call as curl, unless there is a response. */
  showRequest({ method, params, authenticated, headers }) {
    if (this.#hasResponse) return;
    const request = maskRequest({ request: { jsonrpc: "2.0", id: 1, method, params } });
    const url = new URL("rpc", document.baseURI).href;
    const code = writeSnippet("curl", { request, authenticated, headers }, { url });
    const copy = h("button", { class: "plain", onclick: () => copyText(code, "the request") }, "Copy");
    const header = h("div", { class: "row" }, h("h3", {}, "Request"), copy);
    render(this.#content, header, codeBlock("Request as curl", code));
  }

  #show(...content) {
    this.#hasResponse = true;
    render(this.#content, content);
  }

  showMessage(message) {
    this.#show(message && h("p", { class: "error" }, message));
  }

  showResult(result, time) {
    const clockId = result?.clock?.id;
    this.#show(
      responseHeader("Result", time, result),
      clockId && h("p", {}, h("a", { href: `#/clock/${encodeURIComponent(clockId)}` }, "Open this clock")),
      codeBlock("Result", toJson(maskResult(result)), "region"),
    );
  }

  showError({ code, reason, message, data }, time) {
    this.#show(
      responseHeader("Error", time, { code, message, data }),
      h("p", {}, h("span", { class: "chip error" }, reason), " ", message),
      faultList(data.errors ?? []),
      codeBlock("Error", toJson({ code, message, data }), "region"),
    );
  }

  /** Scroll to the response, unless it is already beside the form. */
  scrollIntoView() {
    this.element.parentElement.scrollTop = 0;
    const { top } = this.element.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) this.element.scrollIntoView();
  }
}

function responseHeader(title, time, value) {
  return h(
    "div",
    { class: "row" },
    h("h3", {}, title),
    h("span", { class: "muted" }, time),
    h(
      "button",
      { class: "plain", onclick: () => copyText(toJson(value), "the response") },
      maskResult(value) === value ? "Copy" : "Copy with secrets",
    ),
  );
}
