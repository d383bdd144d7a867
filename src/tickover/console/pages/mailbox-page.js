// <tick-mailbox>: the emails in the development outbox, and the selected email.

import { copyText } from "../lib/clipboard.js";
import { h, render } from "../lib/dom.js";
import { clocksLink, showFailure } from "../lib/failure.js";
import { searchInput } from "../lib/form-fields.js";
import { formatInstant } from "../lib/format.js";
import { notify } from "../lib/notification.js";
import { startPolling } from "../lib/poll.js";
import { fetchJson } from "../lib/rpc.js";
import { tabList } from "../lib/tabs.js";

// The filter outlives the page.
let filter = "";
// The last known list, so the next page doesn't start empty.
let lastEmails = null;

const EMAIL_NOT_FOUND = "Email not found. It may have been deleted.";
const EMAIL_UNAVAILABLE = "Can't reach the server. The email appears when it is available again.";

const emailPath = (id, format) => `mailbox/emails/${encodeURIComponent(id)}.${format}`;

class Mailbox extends HTMLElement {
  connectedCallback() {
    this.abortController = new AbortController();
    filter = this.query?.get("to") ?? filter;
    this.rows = new Map();
    this.list = h("ol.email-list");
    this.state = h("div.email-state");
    this.email = h("article.card.email", { "aria-label": "Email" }, h("p.muted", "Select an email."));
    this.filter = searchInput(null, {
      id: "email-filter",
      value: filter,
      placeholder: "ana@example.test",
      spellcheck: "false",
      oninput: () => {
        filter = this.filter.value;
        if (lastEmails) this.showList();
      },
    });
    this.heading = h("h1.page-title", "Mailbox");
    render(
      this,
      this.heading,
      h("p.muted.page-lead", "This server keeps its emails here and doesn't send them."),
      h(
        "div",
        { class: this.argument ? "panes with-selection" : "panes" },
        h(
          "section.pane-list.card",
          { "aria-label": "Emails" },
          h("label", { for: "email-filter" }, "Filter by address"),
          this.filter,
          this.state,
          this.list,
          h("p.hint.muted", "Newest email to an address, for scripts: ", h("code", "GET /mailbox/latest?to=ADDRESS")),
        ),
        h("div.pane-detail", this.email),
      ),
    );
    if (lastEmails) this.showList();
    else render(this.state, h("p.muted", "Loading…"));
    this.showEmail();
    this.polling = startPolling((signal) => fetchJson("mailbox/emails.json", { signal, cache: "no-store" }), {
      onLoad: ({ emails }) => this.receive(emails),
      onError: ({ status }) => (status === 404 ? this.showNoMailbox() : this.showUnavailable()),
    });
    this.polling.poll();
  }

  disconnectedCallback() {
    this.abortController.abort();
    this.polling.stop();
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
    render(this.state, !emails.length && h("p.muted", emptyMessage));
    if (hadFocus) this.filter.focus();
    if (!this.argument) this.email.hidden = !emails.length;
  }

  row(email) {
    return h(
      "li",
      h(
        "a",
        {
          href: `#/mailbox/${encodeURIComponent(email.id)}`,
          "aria-current": email.id === this.argument ? "true" : undefined,
        },
        h("span.email-to", email.to),
        h("span.email-subject", email.subject),
        h("time.muted", { datetime: email.sentAt }, formatInstant(Date.parse(email.sentAt))),
      ),
    );
  }

  async showEmail() {
    if (!this.argument) return;
    const { signal } = this.abortController;
    const back = h("a.back", { href: "#/mailbox" }, "‹ All emails");
    try {
      const email = await fetchJson(emailPath(this.argument, "json"), { signal, cache: "no-store" });
      this.isLoaded = true;
      render(this.email, back, emailContent(email));
      document.title = `${email.subject} · Mailbox · Tickover`;
    } catch ({ status }) {
      if (signal.aborted) return;
      this.isLoaded = status === 404;
      const content = h("div");
      render(this.email, back, content);
      const problem = this.isLoaded ? EMAIL_NOT_FOUND : EMAIL_UNAVAILABLE;
      showFailure(content, problem, []);
    }
    // After a navigation, move the focus from the page heading to the email.
    if (document.activeElement === this.heading) (this.email.querySelector("h2") ?? back).focus();
  }

  /** Return true, because polling continues. */
  showUnavailable() {
    this.isUnavailable = true;
    const retry = h("button", { onclick: () => this.polling.poll() }, "Try again");
    // The existing button can have the focus.
    if (!this.state.querySelector("button")) {
      render(this.state, h("p.error", "Can't reach the server. Is it running?"), retry);
      notify("Can't reach the server. Is it running?", { error: true });
    }
    return true;
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
      "div.row",
      subjectHeading(email),
      email.code && h("button.primary", { onclick: () => copyText(email.code, "the code") }, "Copy code"),
    ),
    h(
      "p.muted",
      "To ",
      h("span.email-to", email.to),
      ", ",
      h("time", { datetime: email.sentAt }, formatInstant(Date.parse(email.sentAt))),
    ),
    email.loginUrl && loginLink(email.loginUrl),
    tabList("Email formats", [
      { title: "Email", build: () => emailFrame(email) },
      { title: "Text", build: () => h("pre", email.text) },
      {
        title: "Source",
        build: () => [
          h("button.plain", { onclick: () => copyText(email.source, "the source") }, "Copy source"),
          h("pre.code", { tabindex: "0", role: "region", "aria-label": "Source" }, email.source),
        ],
      },
    ]),
  ];
}

/** Show the subject with the code in large digits. Two groups of digits are easier to read. */
function subjectHeading({ subject, code = "" }) {
  const half = Math.ceil(code.length / 2);
  const groups = [code.slice(0, half), code.slice(half)].map((digits) => h("span", digits));
  const [before, ...after] = code ? subject.split(code) : [subject];
  return h("h2", { tabindex: "-1" }, before, code && h("span.code-digits", groups), after.join(code));
}

function loginLink(url) {
  return h(
    "div.login-link",
    h("p.mono", url),
    h(
      "div.row",
      /^https?:/.test(url) && h("a.button.primary", { href: url }, "Open"),
      h("button", { onclick: () => copyText(url, "the link") }, "Copy link"),
      h("span.muted", "The link works once."),
    ),
  );
}

function emailFrame(email) {
  return h("iframe.email-frame", { src: emailPath(email.id, "html"), sandbox: "", title: `Email “${email.subject}”` });
}

customElements.define("tick-mailbox", Mailbox);
