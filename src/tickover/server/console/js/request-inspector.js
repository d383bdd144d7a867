// The request inspector at the bottom of every page: the latest calls as JSON and as code.

import { toJson, writeSnippet } from "./call-snippets.js";
import { copyText, h, render } from "./dom.js";
import { callHistory, onCall } from "./rpc.js";
import { maskRequest, maskResponse, SECRETS } from "./secret-masks.js";
import { currentSession, onSessionEnd } from "./session.js";
import { tabList } from "./tabs.js";

const VIEWS = [
  ["json", "JSON"],
  ["curl", "curl"],
  ["python", "Python"],
  ["javascript", "JavaScript"],
];

const MAX_SHOWN_LENGTH = 20_000;

// A page reads again after a change. The inspector keeps showing the change.
const READ_METHODS = ["getTestClock", "listTestClocks", "listAccessTokens"];
const FOLLOW_UP_MS = 2000;

const outcome = ({ response }) =>
  response ? (response.error?.data?.reason ?? (response.error ? "error" : "ok")) : "no response";
const duration = ({ milliseconds }) => `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;

function codeBlock(label, text) {
  const rest = text.length - MAX_SHOWN_LENGTH;
  return h(
    "pre",
    { tabIndex: 0, role: "group", "aria-label": label },
    rest > 0 ? `${text.slice(0, MAX_SHOWN_LENGTH)}\n… ${rest} more characters. Copy includes them.` : text,
  );
}

class RequestInspector {
  #selected = null;
  #changedAt = -FOLLOW_UP_MS;
  #view = 0;
  #title = h("span", { class: "muted" });
  #body = h("div", { class: "inspector-content" });
  #details = h(
    "details",
    { ontoggle: () => this.#draw() },
    h("summary", {}, h("span", {}, "Request inspector"), this.#title),
    this.#body,
  );

  constructor(container) {
    render(container, this.#details);
    onCall(() => this.#follow(callHistory()[0]));
    onSessionEnd(() => this.#select(null));
    this.#draw();
  }

  #follow(newest) {
    const isFollowUp =
      READ_METHODS.includes(newest.method) &&
      performance.now() - this.#changedAt < FOLLOW_UP_MS &&
      callHistory().includes(this.#selected);
    if (!READ_METHODS.includes(newest.method)) this.#changedAt = performance.now();
    this.#select(isFollowUp ? this.#selected : newest);
  }

  #select(call) {
    this.#selected = call;
    this.#draw();
  }

  #draw() {
    const call = this.#selected;
    this.#title.textContent = call ? `${call.method} · ${duration(call)} · ${outcome(call)}` : "No requests yet";
    // A response can be long, so draw it only while the inspector is open.
    if (!this.#details.open) return;
    if (!call) render(this.#body, h("p", { class: "muted" }, "The console calls POST /rpc. Its requests appear here."));
    else render(this.#body, this.#callList(call), this.#callTabs(call));
  }

  #callList(selected) {
    const selectAndFocus = (call) => {
      this.#select(call);
      this.#body.querySelector('[aria-current="true"]').focus();
    };
    return h(
      "ol",
      { class: "calls", "aria-label": "Latest requests, newest first" },
      callHistory().map((call) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              "aria-current": call === selected ? "true" : undefined,
              onclick: () => selectAndFocus(call),
            },
            h("span", { class: "method" }, call.method),
            h("span", { class: "muted" }, duration(call)),
            h("span", { class: call.response && !call.response.error ? "muted" : "error" }, outcome(call)),
          ),
        ),
      ),
    );
  }

  #callTabs(call) {
    const views = VIEWS.map(([kind, title], index) => ({
      title,
      build: () => {
        this.#view = index;
        return kind === "json" ? this.#json(call) : this.#code(kind, title, call);
      },
    }));
    return tabList("Request formats", views, { selected: this.#view });
  }

  #json(call) {
    const request = toJson(maskRequest(call));
    const response = call.response ? toJson(maskResponse(call)) : "";
    return h(
      "div",
      { class: "pair" },
      h(
        "div",
        {},
        h(
          "div",
          { class: "row" },
          h("h2", {}, "Request"),
          this.#copyButton("Copy", () => request, "the request"),
        ),
        codeBlock("Request", request),
      ),
      h(
        "div",
        {},
        h(
          "div",
          { class: "row" },
          h("h2", {}, "Response"),
          response && this.#copyButton("Copy", () => response, "the response"),
        ),
        response ? codeBlock("Response", response) : h("p", { class: "error" }, "No response."),
      ),
    );
  }

  #code(kind, title, call) {
    const url = new URL("rpc", document.baseURI).href;
    const maskedCode = writeSnippet(kind, { ...call, request: maskRequest(call) }, { url });
    const secret = SECRETS[call.method];
    return h(
      "div",
      {},
      h(
        "div",
        { class: "row" },
        this.#copyButton("Copy", () => maskedCode, `the ${title} code`),
        call.authenticated &&
          currentSession() &&
          this.#copyButton(
            "Copy with my token",
            () => writeSnippet(kind, call, { url, token: currentSession().token }),
            `the ${title} code with your token`,
          ),
        secret &&
          this.#copyButton(
            secret.button,
            () => writeSnippet(kind, call, { url }),
            `the ${title} code with the ${secret.param}`,
          ),
      ),
      codeBlock(`Request as ${title}`, maskedCode),
    );
  }

  #copyButton(label, getText, description) {
    return h("button", { type: "button", onclick: () => copyText(getText(), description) }, label);
  }
}

new RequestInspector(document.getElementById("request-inspector"));
