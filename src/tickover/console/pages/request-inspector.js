// The request inspector, a panel beside every page: the latest calls for curl and as JSON.

import { copyText } from "../lib/clipboard.js";
import { codeBlock, toJson } from "../lib/code-block.js";
import { writeCurl } from "../lib/curl.js";
import { h, render } from "../lib/dom.js";
import { icon, iconButton } from "../lib/icons.js";
import { callHistory, onCall } from "../lib/rpc.js";
import { currentSession, onSessionChange, onSessionEnd } from "../lib/session.js";
import { listenToShortcuts } from "../lib/shortcuts.js";
import { INSPECTOR_KEY, readStored, writeStored } from "../lib/storage.js";
import { tabList } from "../lib/tabs.js";
import { callList, maskRequest, maskResponse } from "./call-list.js";

const panel = document.getElementById("request-inspector");
const isBeside = matchMedia("(min-width: 64rem)"); // as in request-inspector.css

/** The button in the header that opens and closes the panel. */
export const inspectorButton = h(
  "button.quiet.requests",
  {
    title: "Request inspector",
    "aria-controls": panel.id,
    "aria-keyshortcuts": "r",
    onclick: () => inspector.toggle(),
  },
  icon("code"),
  "Requests",
  h("kbd", { "aria-hidden": "true" }, "R"),
);

// A page reads again after a change. The inspector keeps showing the change.
const READ_METHODS = ["getTestClock", "listTestClocks", "listAccessTokens", "listTestClockConnections"];
const FOLLOW_UP_MS = 2000;

class RequestInspector {
  #selected = null;
  #changedAt = -FOLLOW_UP_MS;
  #state = { isOpen: false, view: 0, ...readStored(INSPECTOR_KEY) };
  #heading = h("h2", { tabIndex: -1, id: "inspector-title" }, "Request inspector");
  #body = h("div.inspector-content");

  constructor() {
    const close = iconButton("close", "Close", { onclick: () => this.toggle() });
    render(panel, h("div.row", this.#heading, close), this.#body);
    listenToShortcuts(({ key }) => key === "r" && !inspectorButton.hidden && this.toggle());
    onCall(() => this.#follow(callHistory()[0]));
    onSessionEnd(() => {
      this.#state.view = 0;
      this.#select(null);
    });
    onSessionChange(() => this.#draw());
    this.#draw();
  }

  /** Open or close the panel, and move the focus into it or out of it. Return true. */
  toggle() {
    this.#store({ isOpen: panel.hidden });
    this.#draw();
    if (panel.hidden) inspectorButton.focus();
    else this.#heading.focus({ preventScroll: isBeside.matches });
    return true;
  }

  #store(change) {
    this.#state = { ...this.#state, ...change };
    writeStored(INSPECTOR_KEY, this.#state);
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
    inspectorButton.hidden = !call && !currentSession();
    panel.hidden = inspectorButton.hidden || !this.#state.isOpen;
    inspectorButton.setAttribute("aria-expanded", String(!panel.hidden));
    // A response can be long, so draw it only while the inspector is open.
    if (panel.hidden) return;
    if (!call) render(this.#body, h("p.muted", "The console calls POST /rpc. Its requests appear here."));
    else render(this.#body, this.#callList(call), this.#callTabs(call));
  }

  #callList(selected) {
    const onSelect = (call) => {
      this.#select(call);
      this.#body.querySelector('[aria-current="true"]').focus();
    };
    return callList(callHistory(), { selected, onSelect });
  }

  #callTabs(call) {
    const views = [
      { title: "curl", build: () => this.#curl(call) },
      { title: "JSON", build: () => this.#json(call) },
    ].map(({ title, build }, view) => ({
      title,
      build: () => {
        this.#store({ view });
        return build();
      },
    }));
    return tabList("Request formats", views, { selected: views[this.#state.view] ? this.#state.view : 0 });
  }

  #json(call) {
    const pane = (title, text) =>
      h(
        "div",
        h("div.row", h("h3", title), text && this.#copyButton("Copy", () => text, `the ${title.toLowerCase()}`)),
        text ? codeBlock(title, text) : h("p.error", "No response."),
      );
    const response = call.response ? toJson(maskResponse(call)) : "";
    return h("div.pair", pane("Request", toJson(maskRequest(call))), pane("Response", response));
  }

  #curl(call) {
    const url = new URL("rpc", document.baseURI).href;
    const code = writeCurl({ ...call, request: maskRequest(call) }, { url });
    const withToken = () => writeCurl(call, { url, token: currentSession().token });
    return h(
      "div",
      h(
        "div.row",
        this.#copyButton("Copy", () => code, "the curl code"),
        call.authenticated &&
          currentSession() &&
          this.#copyButton("Copy with my token", withToken, "the curl code with your token"),
      ),
      codeBlock("Request as curl", code),
    );
  }

  #copyButton(label, getText, description) {
    return h("button", { onclick: () => copyText(getText(), description) }, label);
  }
}

const inspector = new RequestInspector();
