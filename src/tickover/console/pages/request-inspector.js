// The request inspector at the bottom of every page: the latest calls as JSON and as code.

import { writeSnippet } from "../clock/call-snippets.js";
import { codeBlock, toJson } from "../lib/code-block.js";
import { copyText, h, render } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { callHistory, onCall } from "../lib/rpc.js";
import { currentSession, onSessionChange, onSessionEnd } from "../lib/session.js";
import { tabList } from "../lib/tabs.js";
import { callList, describeCall, maskRequest, maskResponse, SECRETS } from "./call-list.js";

const VIEWS = [
  ["curl", "curl"],
  ["cli", "CLI"],
  ["python", "Python"],
  ["json", "JSON"],
];

// The command for the main button of the page.
const nextCommand = h("code", { class: "next-command", "aria-hidden": "true" });
const copyCommand = h(
  "button",
  {
    class: "quiet icon-button copy-command",
    "aria-label": "Copy the command",
    title: "Copy the command",
    hidden: true,
    onclick: () => copyText(nextCommand.textContent, "the command"),
  },
  icon("copy"),
);

/** Show the command that the main button of the page will run, or an empty text. */
export function showNextCommand(command) {
  nextCommand.textContent = command;
  copyCommand.hidden = !command;
}

// A page reads again after a change. The inspector keeps showing the change.
const READ_METHODS = ["getTestClock", "listTestClocks", "listAccessTokens"];
const FOLLOW_UP_MS = 2000;

class RequestInspector {
  #container;
  #selected = null;
  #changedAt = -FOLLOW_UP_MS;
  #view = 0;
  #title = h("span", { class: "muted" });
  #body = h("div", { class: "inspector-content" });
  #lastUsed = null;
  #details = h(
    "details",
    {
      ontoggle: () => {
        this.#draw();
        this.#showElementInUse();
      },
    },
    h("summary", {}, h("span", {}, "Request inspector"), this.#title, nextCommand),
    this.#body,
  );

  constructor(container) {
    this.#container = container;
    render(container, this.#details, copyCommand);
    document.getElementById("main").addEventListener("focusin", ({ target }) => (this.#lastUsed = target));
    onCall(() => this.#follow(callHistory()[0]));
    onSessionEnd(() => {
      this.#view = 0;
      this.#select(null);
    });
    onSessionChange(() => this.#draw());
    this.#draw();
  }

  /** Scroll the page so that the element in use stays visible. */
  #showElementInUse() {
    if (!this.#details.open) return;
    // On phones, the inspector is at the end of the page.
    const isFixed = getComputedStyle(this.#container).position === "sticky";
    const visible = isFixed ? this.#lastUsed : this.#details;
    if (visible?.isConnected) visible.scrollIntoView({ block: "nearest" });
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
    // A new user has nothing to inspect before the first request.
    this.#container.hidden = !call && !currentSession();
    // The open inspector lists the calls with their durations.
    this.#title.textContent = call && !this.#details.open ? `${call.method} · ${describeCall(call)}` : "";
    // A response can be long, so draw it only while the inspector is open.
    if (!this.#details.open) return;
    if (!call) render(this.#body, h("p", { class: "muted" }, "The console calls POST /rpc. Its requests appear here."));
    else render(this.#body, this.#callList(call), this.#callTabs(call));
  }

  #callList(selected) {
    const onSelect = (call) => {
      this.#select(call);
      this.#body.querySelector('[aria-current="true"]').focus();
    };
    const textOf = ({ method }) => method;
    return callList("Latest requests, newest first", callHistory(), { selected, textOf, onSelect });
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
    const pane = (title, text) =>
      h(
        "div",
        {},
        h(
          "div",
          { class: "row" },
          h("h2", {}, title),
          text && this.#copyButton("Copy", () => text, `the ${title.toLowerCase()}`),
        ),
        text ? codeBlock(title, text) : h("p", { class: "error" }, "No response."),
      );
    const response = call.response ? toJson(maskResponse(call)) : "";
    return h("div", { class: "pair" }, pane("Request", toJson(maskRequest(call))), pane("Response", response));
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
    return h("button", { onclick: () => copyText(getText(), description) }, label);
  }
}

new RequestInspector(document.getElementById("request-inspector"));
