// <tick-mailbox>: the emails in the development outbox, and the selected email.

import { copyText, h, notify, render } from "../lib/dom.js";
import { clocksLink, showFailure } from "../lib/failure.js";
import { formatInstant } from "../lib/format.js";
import { tabList } from "../lib/tabs.js";

const REFRESH_MS = 2000;

// The filter outlives the page.
let filter = "";
// The last known list, so the next page doesn't start empty.
let lastEmails = null;

const FETCH_OPTIONS = { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
const NOT_FOUND = Symbol("not found");
const UNAVAILABLE = Symbol("unavailable");

/** Return the JSON at a path, NOT_FOUND or UNAVAILABLE. */
async function fetchJson(path, signal) {
  try {
    const response = await fetch(path, { ...FETCH_OPTIONS, signal });
    if (response.status === 404) return NOT_FOUND;
    return response.ok ? await response.json() : UNAVAILABLE;
  } catch {
    return UNAVAILABLE;
  }
}

const emailPath = (id, format) => `mailbox/emails/${encodeURIComponent(id)}.${format}`;

class Mailbox extends HTMLElement {
  connectedCallback() {
    this.abortController = new AbortController();
    filter = this.query?.get("to") ?? filter;
    this.rows = new Map();
    this.list = h("ol", { class: "email-list" });
    this.state = h("div", { class: "email-state" });
    this.email = h(
      "article",
      { class: "card email", "aria-label": "Email" },
      h("p", { class: "muted" }, "Select an email."),
    );
    this.filter = h("input", {
      type: "search",
      id: "email-filter",
      value: filter,
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "ana@example.test",
      oninput: () => {
        filter = this.filter.value;
        if (lastEmails) this.showList();
      },
    });
    this.heading = h("h1", { class: "page-title" }, "Mailbox");
    render(
      this,
      this.heading,
      h("p", { class: "muted page-lead" }, "This server keeps its emails here and doesn't send them."),
      h(
        "div",
        { class: this.argument ? "panes with-selection" : "panes" },
        h(
          "section",
          { class: "pane-list card", "aria-label": "Emails" },
          h("label", { for: "email-filter" }, "Filter by address"),
          this.filter,
          this.state,
          this.list,
          h(
            "p",
            { class: "hint muted" },
            "Newest email to an address, for scripts: ",
            h("code", {}, "GET /mailbox/latest?to=ADDRESS"),
          ),
        ),
        h("div", { class: "pane-detail" }, this.email),
      ),
    );
    if (lastEmails) this.showList();
    else render(this.state, h("p", { class: "muted" }, "Loading…"));
    this.showEmail();
    this.refresh();
    document.addEventListener("visibilitychange", () => this.refresh(), { signal: this.abortController.signal });
  }

  disconnectedCallback() {
    this.abortController.abort();
    clearTimeout(this.timer);
  }

  /** Load the emails, and again every two seconds while the tab is visible. */
  async refresh() {
    clearTimeout(this.timer);
    if (document.visibilityState === "hidden") return;
    const { signal } = this.abortController;
    const result = await fetchJson("mailbox/emails.json", signal);
    if (signal.aborted) return;
    if (result === NOT_FOUND) {
      this.showNoMailbox();
      return;
    }
    if (result === UNAVAILABLE) this.showUnavailable();
    else this.receive(result.emails);
    // A concurrent refresh may have set the timer.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), REFRESH_MS);
  }

  receive(emails) {
    lastEmails = emails;
    this.showList();
    if (!this.isUnavailable) return;
    this.isUnavailable = false;
    notify("The server is available again.");
    if (this.argument && !this.isLoaded) this.showEmail();
  }

  showList() {
    const search = filter.trim().toLowerCase();
    const emails = lastEmails.filter((email) => email.to.toLowerCase().includes(search));
    // Keep existing rows, because one of them can have the focus.
    const rows = emails.map((email) => {
      if (!this.rows.has(email.id)) this.rows.set(email.id, this.row(email));
      return this.rows.get(email.id);
    });
    if (rows.length !== this.list.children.length || rows.some((row, at) => row !== this.list.children[at])) {
      const focused = document.activeElement;
      render(this.list, rows);
      if (this.list.contains(focused)) focused.focus();
    }
    const emptyMessage = lastEmails.length
      ? `No emails to addresses with “${filter.trim()}”.`
      : [
          "No emails yet. Sign in, or call ",
          h("a", { href: "docs#sendLoginCodeEmail" }, "sendLoginCodeEmail"),
          ". New emails appear within two seconds.",
        ];
    const hadFocus = this.state.contains(document.activeElement);
    render(this.state, !emails.length && h("p", { class: "muted" }, emptyMessage));
    if (hadFocus) this.filter.focus();
    if (!this.argument) this.email.hidden = !emails.length;
  }

  row(email) {
    return h(
      "li",
      {},
      h(
        "a",
        {
          href: `#/mailbox/${encodeURIComponent(email.id)}`,
          "aria-current": email.id === this.argument ? "true" : undefined,
        },
        h("span", { class: "email-to" }, email.to),
        h("span", { class: "email-subject" }, email.subject),
        h("time", { class: "muted", datetime: email.sentAt }, formatInstant(Date.parse(email.sentAt))),
      ),
    );
  }

  async showEmail() {
    if (!this.argument) return;
    const { signal } = this.abortController;
    const email = await fetchJson(emailPath(this.argument, "json"), signal);
    if (signal.aborted) return;
    const back = h("a", { class: "back", href: "#/mailbox" }, "‹ All emails");
    this.isLoaded = email !== UNAVAILABLE;
    if (email === NOT_FOUND || email === UNAVAILABLE) {
      const content = h("div");
      render(this.email, back, content);
      showFailure(
        content,
        email === NOT_FOUND
          ? "Email not found. It may have been deleted."
          : "Can't reach the server. The email appears when it is available again.",
        [],
      );
    } else {
      render(this.email, back, emailContent(email));
      document.title = `${email.subject} · Mailbox · Tickover`;
    }
    // After a navigation, move the focus from the page heading to the email.
    if (document.activeElement === this.heading) (this.email.querySelector("h2") ?? back).focus();
  }

  showUnavailable() {
    this.isUnavailable = true;
    const retry = h("button", { onclick: () => this.refresh() }, "Try again");
    // The existing button can have the focus.
    if (!this.state.querySelector("button")) {
      render(this.state, h("p", { class: "error" }, "Can't reach the server. Is it running?"), retry);
      notify("Can't reach the server. Is it running?", { error: true });
    }
  }

  showNoMailbox() {
    const content = h("div");
    render(this, this.heading, content);
    showFailure(content, "This server has no mailbox. It sends real emails.", [clocksLink()]);
  }
}

function emailContent(email) {
  return [
    h(
      "div",
      { class: "row" },
      subjectHeading(email),
      email.code && h("button", { class: "primary", onclick: () => copyText(email.code, "the code") }, "Copy code"),
    ),
    h(
      "p",
      { class: "muted" },
      "To ",
      h("span", { class: "email-to" }, email.to),
      ", ",
      h("time", { datetime: email.sentAt }, formatInstant(Date.parse(email.sentAt))),
    ),
    email.loginUrl && loginLink(email.loginUrl),
    tabList("Email formats", [
      { title: "Email", build: () => emailFrame(email) },
      { title: "Text", build: () => h("pre", {}, email.text) },
      {
        title: "Source",
        build: () => [
          h("button", { class: "plain", onclick: () => copyText(email.source, "the source") }, "Copy source"),
          h("pre", { tabindex: "0", role: "region", "aria-label": "Source", class: "code" }, email.source),
        ],
      },
    ]),
  ];
}

/** Show the subject with the code in large digits. Two groups of digits are easier to read. */
function subjectHeading({ subject, code = "" }) {
  const half = Math.ceil(code.length / 2);
  const groups = [code.slice(0, half), code.slice(half)].map((digits) => h("span", {}, digits));
  const [before, ...after] = code ? subject.split(code) : [subject];
  return h("h2", { tabindex: "-1" }, before, code && h("span", { class: "code-digits" }, groups), after.join(code));
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
      h("button", { onclick: () => copyText(url, "the link") }, "Copy link"),
      h("span", { class: "muted" }, "The link works once."),
    ),
  );
}

function emailFrame(email) {
  return h("iframe", {
    src: emailPath(email.id, "html"),
    sandbox: "",
    title: `Email “${email.subject}”`,
    class: "email-frame",
  });
}

customElements.define("tick-mailbox", Mailbox);
