// The call behind it: the last calls of the tab, and each as code that runs as pasted.

import { copy, h, show, tabList } from "./dom.js";
import { history, onEnd, onExchange, session } from "./rpc.js";

// A call as code that runs as pasted. Pure: knows nothing of the page.

const PLACEHOLDER = "paste your token here";

// Linux takes 128 KiB, and a character may have four bytes.
const LONGEST_ARGUMENT = 30_000;

// Beside what JSON escapes: what a terminal or a reader's eye would take for something else than text.
const TRICKY = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escapeCharacter = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Indented JSON, in which every character is what it looks like. */
const toJson = (value, indent = 2) => JSON.stringify(value, null, indent).replace(TRICKY, escapeCharacter);

const inBash = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

// Strings and numbers of JSON are those of Python; its names for truth are not.
function toPython(value, margin = "") {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return toJson(value);
  const inner = `${margin}    `;
  const members = Array.isArray(value)
    ? value.map((member) => toPython(member, inner))
    : Object.entries(value).map(([name, member]) => `${toJson(name)}: ${toPython(member, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return members.length
    ? `${open}\n${members.map((member) => `${inner}${member},\n`).join("")}${margin}${close}`
    : `${open}${close}`;
}

function curl({ url, request, headers, token }) {
  // In an interactive shell an exclamation mark brings back what was typed before, in some even between quotes.
  const body = toJson(request).replaceAll("!", String.raw`\u0021`);
  const isLong = body.length > LONGEST_ARGUMENT;
  const lines = [
    `curl --silent --show-error ${inBash(url)}`,
    "--header 'Content-Type: application/json'",
    ...(token === null ? [] : ['--header "Authorization: Bearer $TOKEN"']),
    ...Object.entries(headers).map(([name, value]) => `--header ${inBash(`${name}: ${value}`)}`),
    `--data-binary ${isLong ? "@- <<'JSON'" : inBash(body)}`,
  ];
  return `${token === null ? "" : `TOKEN=${inBash(token)}\n`}${lines.join(" \\\n  ")}\n${isLong ? `${body}\nJSON\n` : ""}`;
}

const headerLines = (headers, token, bearer) =>
  [
    ["Content-Type", toJson("application/json")],
    ...(token === null ? [] : [["Authorization", bearer]]),
    ...Object.entries(headers).map(([name, value]) => [name, toJson(value)]),
  ]
    .map(([name, value]) => `    ${toJson(name)}: ${value},\n`)
    .join("");

// Line by line, because files are served without the blanks at the beginning of their lines.

function python({ url, request, headers, token }) {
  return [
    "import json",
    "from urllib.error import HTTPError",
    "from urllib.request import Request, urlopen",
    "",
    ...(token === null ? [] : [`TOKEN = ${toJson(token)}`]),
    `call = ${toPython(request)}`,
    `headers = {\n${headerLines(headers, token, 'f"Bearer {TOKEN}"')}}`,
    "try:",
    `    answer = urlopen(Request(${toJson(url)}, json.dumps(call).encode(), headers))`,
    "except HTTPError as refusal:",
    "    answer = refusal  # its body says why",
    "",
    "print(json.dumps(json.load(answer), indent=2))",
    "",
  ].join("\n");
}

function javascript({ url, request, headers, token }) {
  return [
    ...(token === null ? [] : [`const TOKEN = ${toJson(token)};`]),
    `const answer = await fetch(${toJson(url)}, {`,
    '  method: "POST",',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the snippet's own template literal
    `  headers: {\n${headerLines(headers, token, "`Bearer ${TOKEN}`")}  },`,
    `  body: JSON.stringify(${toJson(request).replaceAll("\n", "\n  ")}),`,
    "});",
    "console.log(JSON.stringify(await answer.json(), null, 2));",
    "",
  ].join("\n");
}

const WRITERS = { curl, python, javascript };

/** `kind` is curl, python or javascript; `token` is null for a call that carries none. */
function snippet(kind, { request, headers = {}, signed = false }, { url, token = PLACEHOLDER }) {
  return WRITERS[kind]({ url, request, headers, token: signed ? token : null });
}

// The call behind it: what this console has said to the server, and how to say it without the console.

const VIEWS = [
  ["json", "JSON"],
  ["curl", "curl"],
  ["python", "Python"],
  ["javascript", "JavaScript"],
];
const MASK = "••••••";
const MOST_SHOWN = 20_000;

// After a change a page reads what came of it. Whoever made the change wants to see that, and not the reading.
const READINGS = ["getTestClock", "listTestClocks"];
const AFTERWARDS = 2000;

// What signs somebody in, by operation: shown to nobody who looks over a shoulder.
const SECRETS = {
  loginByEmailVerification: { param: "code", button: "Copy with the code" },
  loginByEmailLink: { param: "token", button: "Copy with the secret" },
};

function masked({ request }) {
  const secret = SECRETS[request.method]?.param;
  return secret && request.params?.[secret] ? { ...request, params: { ...request.params, [secret]: MASK } } : request;
}

/** A result without what signs in; the same if there is nothing such in it. */
export function maskedResult(result) {
  const hidden = {
    ...(typeof result?.token === "string" && { token: MASK }),
    ...(typeof result?.loginUrl === "string" && { loginUrl: result.loginUrl.replace(/#.*/s, `#token=${MASK}`) }),
  };
  return Object.keys(hidden).length ? { ...result, ...hidden } : result;
}

const maskedAnswer = ({ answer }) => (answer.error ? answer : { ...answer, result: maskedResult(answer.result) });

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
