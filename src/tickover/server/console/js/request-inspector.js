// The request inspector at the bottom of every page: the latest calls as JSON and as code.

import { snippet, toJson } from "./call-snippets.js";
import { copy, h, show } from "./dom.js";
import { history, onExchange } from "./rpc.js";
import { masked, maskedAnswer, SECRETS } from "./secret-masks.js";
import { onEnd, session } from "./session.js";
import { tabList } from "./tabs.js";

const VIEWS = [
  ["json", "JSON"],
  ["curl", "curl"],
  ["python", "Python"],
  ["javascript", "JavaScript"],
];

const MOST_SHOWN = 20_000;

// After a change a page reads what came of it. Whoever made the change wants to see that, and not the reading.
const READINGS = ["getTestClock", "listTestClocks"];
const AFTERWARDS = 2000;

const outcome = ({ answer }) =>
  answer ? (answer.error?.data?.reason ?? (answer.error ? "refused" : "ok")) : "no answer";
const duration = ({ milliseconds }) => `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;

function listing(label, text) {
  const rest = text.length - MOST_SHOWN;
  return h(
    "pre",
    { tabIndex: 0, role: "group", "aria-label": label },
    rest > 0 ? `${text.slice(0, MOST_SHOWN)}\n… and ${rest} characters more, which are copied too` : text,
  );
}

class Behind {
  #chosen = null;
  #changedAt = -AFTERWARDS;
  #view = 0;
  #title = h("span", { class: "quiet" });
  #body = h("div", { class: "behind" });
  #details = h(
    "details",
    { ontoggle: () => this.#draw() },
    h("summary", {}, h("span", {}, "The call behind it"), this.#title),
    this.#body,
  );

  constructor(place) {
    show(place, this.#details);
    onExchange(() => this.#follow(history()[0]));
    onEnd(() => this.#choose(null));
    this.#draw();
  }

  #follow(newest) {
    const isAftermath =
      READINGS.includes(newest.method) &&
      performance.now() - this.#changedAt < AFTERWARDS &&
      history().includes(this.#chosen);
    if (!READINGS.includes(newest.method)) this.#changedAt = performance.now();
    this.#choose(isAftermath ? this.#chosen : newest);
  }

  #choose(exchange) {
    this.#chosen = exchange;
    this.#draw();
  }

  #draw() {
    const exchange = this.#chosen;
    this.#title.textContent = exchange
      ? `${exchange.method} · ${duration(exchange)} · ${outcome(exchange)}`
      : "no call yet";
    // Nobody sees it while it is closed, and an answer can be long.
    if (!this.#details.open) return;
    if (!exchange)
      show(
        this.#body,
        h("p", { class: "quiet" }, "Whatever you do here is a call to POST /rpc. Do something, and see it."),
      );
    else show(this.#body, this.#list(exchange), this.#exchange(exchange));
  }

  #list(chosen) {
    const pick = (exchange) => {
      this.#choose(exchange);
      this.#body.querySelector('[aria-current="true"]').focus();
    };
    return h(
      "ol",
      { class: "exchanges", "aria-label": "The last calls, newest first" },
      history().map((exchange) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", "aria-current": exchange === chosen ? "true" : undefined, onclick: () => pick(exchange) },
            h("span", { class: "method" }, exchange.method),
            h("span", { class: "quiet" }, duration(exchange)),
            h("span", { class: exchange.answer && !exchange.answer.error ? "quiet" : "error" }, outcome(exchange)),
          ),
        ),
      ),
    );
  }

  #exchange(exchange) {
    const views = VIEWS.map(([kind, title], number) => ({
      title,
      build: () => {
        this.#view = number;
        return kind === "json" ? this.#json(exchange) : this.#code(kind, title, exchange);
      },
    }));
    return tabList("Forms of the call", views, { chosen: this.#view });
  }

  #json(exchange) {
    const request = toJson(masked(exchange));
    const answer = exchange.answer ? toJson(maskedAnswer(exchange)) : "";
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
        listing("Request", request),
      ),
      h(
        "div",
        {},
        h(
          "div",
          { class: "row" },
          h("h2", {}, "Answer"),
          answer && this.#copyButton("Copy", () => answer, "the answer"),
        ),
        answer ? listing("Answer", answer) : h("p", { class: "error" }, "There was no answer."),
      ),
    );
  }

  #code(kind, title, exchange) {
    const url = new URL("rpc", document.baseURI).href;
    const shown = snippet(kind, { ...exchange, request: masked(exchange) }, { url });
    const secret = SECRETS[exchange.method];
    return h(
      "div",
      {},
      h(
        "div",
        { class: "row" },
        this.#copyButton("Copy", () => shown, `the call for ${title}`),
        exchange.signed &&
          session() &&
          this.#copyButton(
            "Copy with my token",
            () => snippet(kind, exchange, { url, token: session().token }),
            `the call for ${title}, with your token`,
          ),
        secret &&
          this.#copyButton(
            secret.button,
            () => snippet(kind, exchange, { url }),
            `the call for ${title}, with what signs in`,
          ),
      ),
      listing(`The call for ${title}`, shown),
    );
  }

  #copyButton(label, text, what) {
    return h("button", { type: "button", onclick: () => copy(text(), what) }, label);
  }
}

new Behind(document.getElementById("behind"));
