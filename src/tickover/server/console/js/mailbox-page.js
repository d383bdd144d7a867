// <tick-mailbox>: the letters that the development outbox keeps, and the one that is chosen.

import { copy, h, say, show } from "./dom.js";
import { locale } from "./format.js";
import { tabList } from "./tabs.js";

const EVERY_MILLISECONDS = 2000;

// Letters are sent in real time, so it is shown in the reader's own time zone.
const timeOfToday = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndTime = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

function formatSent(text) {
  const sent = new Date(text);
  return (sent.toDateString() === new Date().toDateString() ? timeOfToday : dayAndTime).format(sent);
}

// What a person has typed stays when they go from letter to letter.
let filter = "";
// The list as it was last, so that going from letter to letter does not show an empty one first.
let lastLetters = null;

const NOT_THERE = Symbol("not there");
const AWAY = Symbol("away");

/** What is at a path, or one of the two above. */
async function get(path, signal) {
  try {
    const answer = await fetch(path, { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", signal });
    if (answer.status === 404) return NOT_THERE;
    return answer.ok ? await answer.json() : AWAY;
  } catch {
    return AWAY;
  }
}

const pathOf = (id, kind) => `mailbox/emails/${encodeURIComponent(id)}.${kind}`;

class Mailbox extends HTMLElement {
  connectedCallback() {
    this.stopped = new AbortController();
    filter = this.query?.get("to") ?? filter;
    this.rows = new Map();
    this.known = lastLetters && new Set(lastLetters.map((letter) => letter.id));
    this.list = h("ol", { class: "letter-list" });
    this.state = h("div", { class: "letter-state" });
    this.letter = h("article", { class: "card letter", "aria-label": "Letter" });
    this.filter = h("input", {
      type: "search",
      id: "letter-filter",
      value: filter,
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => {
        filter = this.filter.value;
        if (lastLetters) this.showList();
      },
    });
    this.heading = h("h1", { class: "page-title" }, "Mailbox");
    show(
      this,
      this.heading,
      h(
        "div",
        { class: this.argument ? "panes with-choice" : "panes" },
        h(
          "section",
          { class: "pane-list card", "aria-label": "Letters" },
          h("label", { for: "letter-filter" }, "Filter by address"),
          this.filter,
          this.state,
          this.list,
          h(
            "p",
            { class: "hint quiet" },
            "For scripts, the newest letter to an address: ",
            h("code", {}, "GET /mailbox/latest?to=ADDRESS"),
          ),
        ),
        h("div", { class: "pane-choice" }, this.letter),
      ),
    );
    if (lastLetters) this.showList();
    else show(this.state, h("p", { class: "quiet" }, "Loading …"));
    this.showLetter();
    this.refresh();
    document.addEventListener("visibilitychange", () => this.refresh(), { signal: this.stopped.signal });
  }

  disconnectedCallback() {
    this.stopped.abort();
    clearTimeout(this.timer);
  }

  /** Look for letters now, and again every two seconds for as long as anybody can see them. */
  async refresh() {
    clearTimeout(this.timer);
    if (document.visibilityState === "hidden") return;
    const { signal } = this.stopped;
    const found = await get("mailbox/emails.json", signal);
    if (signal.aborted) return;
    if (found === NOT_THERE) {
      this.showRealMail();
      return;
    }
    if (found === AWAY) this.showAway();
    else this.take(found.emails);
    clearTimeout(this.timer); // another may have been faster
    this.timer = setTimeout(() => this.refresh(), EVERY_MILLISECONDS);
  }

  take(letters) {
    lastLetters = letters;
    this.tellNew();
    this.showList();
    if (!this.isAway) return;
    this.isAway = false;
    say("The server is back.");
    if (this.argument && !this.isRead) this.showLetter();
  }

  tellNew() {
    const fresh = this.known && lastLetters.filter((letter) => !this.known.has(letter.id));
    this.known = new Set(lastLetters.map((letter) => letter.id));
    if (fresh?.length) say(fresh.length === 1 ? `A new letter to ${fresh[0].to}.` : `${fresh.length} new letters.`);
  }

  showList() {
    const wanted = filter.trim().toLowerCase();
    const letters = lastLetters.filter((letter) => letter.to.toLowerCase().includes(wanted));
    // Rows that are there stay, and with them the focus.
    const rows = letters.map((letter) => {
      if (!this.rows.has(letter.id)) this.rows.set(letter.id, this.row(letter));
      return this.rows.get(letter.id);
    });
    if (rows.length !== this.list.children.length || rows.some((row, at) => row !== this.list.children[at])) {
      const focused = document.activeElement;
      show(this.list, rows);
      if (this.list.contains(focused)) focused.focus();
    }
    const nothing = lastLetters.length
      ? `No letter to an address with “${filter.trim()}” in it.`
      : [
          "No letter yet. Sign in with an e-mail address, or call ",
          h("a", { href: "#/api/sendLoginCodeEmail" }, "sendLoginCodeEmail"),
          ": what would be sent comes here within two seconds.",
        ];
    const wasAtRetry = this.state.contains(document.activeElement);
    show(this.state, !letters.length && h("p", { class: "quiet" }, nothing));
    if (wasAtRetry) this.filter.focus();
    if (!this.argument) this.showNoChoice();
  }

  row(letter) {
    return h(
      "li",
      {},
      h(
        "a",
        {
          href: `#/mailbox/${encodeURIComponent(letter.id)}`,
          "aria-current": letter.id === this.argument ? "true" : undefined,
        },
        h("span", { class: "letter-to" }, letter.to),
        h("span", { class: "letter-subject" }, letter.subject),
        h("time", { class: "quiet", datetime: letter.sentAt }, formatSent(letter.sentAt)),
      ),
    );
  }

  showNoChoice() {
    this.letter.hidden = !lastLetters?.length;
    if (!this.letter.children.length) show(this.letter, h("p", { class: "quiet" }, "Choose a letter to read it."));
  }

  async showLetter() {
    if (!this.argument) return;
    const { signal } = this.stopped;
    const letter = await get(pathOf(this.argument, "json"), signal);
    if (signal.aborted) return;
    const back = h("a", { class: "back", href: "#/mailbox" }, "‹ All letters");
    this.isRead = letter !== AWAY;
    if (letter === NOT_THERE) show(this.letter, back, h("p", {}, "There is no such letter, or not any more."));
    else if (letter === AWAY)
      show(this.letter, back, h("p", { class: "error" }, "The letter will be here when the server is back."));
    else {
      show(this.letter, back, readLetter(letter));
      document.title = `${letter.subject} · Mailbox · Tickover`;
    }
    // Whoever came by a link goes on reading where the letter is, not before the list.
    if (document.activeElement === this.heading) (this.letter.querySelector("h2") ?? back).focus();
  }

  showAway() {
    this.isAway = true;
    const retry = h("button", { type: "button", onclick: () => this.refresh() }, "Try again");
    // Not replaced while it is there: the focus may be on it.
    if (!this.state.querySelector("button")) {
      show(this.state, h("p", { class: "error" }, "The server cannot be reached. Is it running?"), retry);
      say("The server cannot be reached. Is it running?", { error: true });
    }
  }

  showRealMail() {
    show(
      this,
      this.heading,
      h(
        "div",
        { class: "card" },
        h("p", {}, "This server sends real mail, so there is no mailbox here: letters are where they were sent to."),
        h("p", {}, h("a", { href: "#/" }, "Go to the clocks")),
      ),
    );
  }
}

/** What is shown of a letter. */
function readLetter(letter) {
  return [
    h("h2", { tabindex: "-1" }, letter.subject),
    h(
      "p",
      { class: "quiet" },
      "To ",
      h("span", { class: "letter-to" }, letter.to),
      ", ",
      h("time", { datetime: letter.sentAt }, formatSent(letter.sentAt)),
    ),
    letter.code && bigCode(letter.code),
    letter.loginUrl && loginLink(letter.loginUrl),
    tabList("The letter", [
      { title: "As a person sees it", build: () => frame(letter) },
      { title: "Text", build: () => h("pre", {}, letter.text) },
      { title: "Headers", build: () => headers(letter.headers) },
      {
        title: "Source",
        build: () => [
          h(
            "button",
            { type: "button", class: "plain", onclick: () => copy(letter.source, "the source") },
            "Copy the source",
          ),
          h("pre", { tabindex: "0", role: "region", "aria-label": "Source", class: "tall" }, letter.source),
        ],
      },
    ]),
  ];
}

function bigCode(code) {
  // Two halves are easier to read; they are copied and read aloud as one.
  const half = Math.ceil(code.length / 2);
  return h(
    "div",
    { class: "row big-code-row" },
    h(
      "div",
      { class: "big-code", role: "group", "aria-label": "Code" },
      h("span", {}, code.slice(0, half)),
      h("span", {}, code.slice(half)),
    ),
    h("button", { type: "button", class: "primary", onclick: () => copy(code, "the code") }, "Copy the code"),
  );
}

function loginLink(url) {
  return h(
    "div",
    { class: "login-link" },
    h("p", { class: "mono" }, url),
    h(
      "div",
      { class: "row" },
      /^https?:/.test(url) && h("a", { class: "button primary", href: url }, "Open"),
      h("button", { type: "button", onclick: () => copy(url, "the link") }, "Copy the link"),
      h("span", { class: "quiet" }, "It works once."),
    ),
  );
}

function frame(letter) {
  return h("iframe", {
    src: pathOf(letter.id, "html"),
    sandbox: "",
    title: `The letter “${letter.subject}” as a person sees it`,
    class: "letter-frame",
  });
}

function headers(all) {
  return h(
    "dl",
    { class: "headers" },
    all.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: "mono" }, value))),
  );
}

customElements.define("tick-mailbox", Mailbox);
