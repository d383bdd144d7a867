// The console: which page is shown, and who is signed in.

import "./api-page.js";
import "./behind.js";
import "./clock-page.js";
import "./clocks-page.js";
import { h, newId, onSubmit, say, show, whileBusy } from "./dom.js";
import { formatWait } from "./format.js";
import "./mailbox-page.js";
import { Away, begin, call, latestLetter, onSessionChange, Refusal, session, signOut, site } from "./rpc.js";

// Signing in: an address, then the six digits in the letter, or a link instead of them.

const KINDS = {
  code: { loginCodeType: "SHORT_LIVED", emailType: "LOGIN_CODE" },
  link: { loginCodeType: "LONG_LIVED", emailType: "WEB_LOGIN_LINK" },
};

// How far somebody has come outlives the page, so that a look into the mailbox loses nothing.
const progress = { email: "", stay: false, sent: null, loginUrl: null, mayResendAt: 0 };

const wait = (seconds) => (seconds < 120 ? `${seconds} s` : formatWait(seconds * 1000));

function sentence(error) {
  if (error instanceof Away) return "The server cannot be reached. Try again when it runs.";
  switch (error.reason) {
    case "LOGIN_REFUSED":
      return "This code is wrong, used or too old. Try again, or ask for a new one.";
    case "RATE_LIMITED":
      return `That was too often. Try again in ${wait(error.data.retryAfterSeconds)}.`;
    case "MAIL_NOT_SENT":
      return "The mail server did not take the letter. Try again.";
    case "INVALID_PARAMS":
      return error.data.errors
        .map((fault) => (fault.path === "email" ? `The address ${fault.message}.` : `${fault.path} ${fault.message}.`))
        .join(" ");
    default:
      return error.message;
  }
}

class SignIn extends HTMLElement {
  #fault = h("p", { class: "error", role: "alert", id: newId() });
  #timer = 0;

  connectedCallback() {
    this.#draw();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  #draw() {
    this.#fault.textContent = "";
    if (progress.sent === "code") this.#askCode();
    else if (progress.sent === "link") this.#awaitLink();
    else this.#askAddress();
  }

  #show(title, form, lead) {
    clearInterval(this.#timer);
    show(
      this,
      h(
        "div",
        { class: "sign-in" },
        lead && h("p", { class: "lead" }, lead),
        h("section", { class: "card" }, h("h1", { tabIndex: -1 }, title), form),
      ),
    );
  }

  #askAddress() {
    const email = this.#field("E-mail", {
      type: "email",
      name: "email",
      autocomplete: "username",
      required: true,
      value: progress.email,
      spellcheck: "false",
      autocapitalize: "none",
      placeholder: "ana@example.test",
    });
    const button = h("button", { class: "primary" }, "Send me a code");
    const link = h("button", { type: "button", class: "plain" }, "Send me a link instead");
    const ask = (kind, pressed) => {
      progress.email = email.input.value.trim();
      return this.#send(kind, pressed, email.input);
    };
    link.addEventListener("click", () => ask("link", link));
    this.#show(
      "Sign in",
      h(
        "form",
        { noValidate: true, onsubmit: onSubmit(() => ask("code", button)) },
        email,
        this.#fault,
        this.#stay(),
        button,
        link,
        h("p", { class: "hint" }, "There is no password. Who signs in for the first time has an account from then on."),
      ),
      "A bank year in a second: simulated money on a clock that you move.",
    );
    email.input.focus();
  }

  #askCode() {
    const told = this.#told("A letter with a code", "It works once, within ten minutes.");
    const code = this.#field("Six-digit code", {
      type: "text",
      name: "code",
      inputMode: "numeric",
      autocomplete: "one-time-code",
      maxLength: 6,
      pattern: "[0-9]{6}",
      required: true,
      class: "code",
      spellcheck: "false",
      "aria-describedby": `${told.id} ${this.#fault.id}`,
    });
    const button = h("button", { class: "primary" }, "Sign in");
    const form = h(
      "form",
      { noValidate: true, onsubmit: onSubmit(() => this.#signIn(code.input, button)) },
      told,
      this.#mailboxLine(code.input, button),
      code,
      this.#fault,
      this.#stay(),
      button,
      this.#otherWays("code", code.input),
    );
    // What is pasted may have blanks and words around it, and is longer than the field then.
    code.input.addEventListener("paste", (event) => {
      const digits = /(?<!\d)\d{3}\s?\d{3}(?!\d)/.exec(event.clipboardData.getData("text"))?.[0].replace(/\D/g, "");
      if (!digits) return;
      event.preventDefault();
      code.input.value = digits;
      this.#signIn(code.input, button);
    });
    code.input.addEventListener("input", () => {
      code.input.value = code.input.value.replace(/\D/g, "");
      if (code.input.value.length === 6) this.#signIn(code.input, button);
    });
    this.#show("Enter your code", form);
    code.input.focus();
  }

  #awaitLink() {
    this.#show(
      "Open your link",
      h(
        "form",
        {},
        this.#told("A letter with a link", "It signs in once, within an hour."),
        this.#mailboxLine(),
        progress.loginUrl && h("a", { class: "button primary", href: progress.loginUrl }, "Open the link"),
        this.#fault,
        this.#otherWays("link"),
      ),
    );
    (this.querySelector("a.button") ?? this.querySelector("h1")).focus();
  }

  #told(what, how) {
    return h("p", { id: newId() }, `${what} went to `, h("strong", {}, progress.email), `. ${how}`);
  }

  #field(label, properties) {
    const input = h("input", { id: newId(), "aria-describedby": this.#fault.id, ...properties });
    return Object.assign(h("div", {}, h("label", { for: input.id }, label), input), { input });
  }

  #stay() {
    const box = h("input", { type: "checkbox", checked: progress.stay, onchange: () => (progress.stay = box.checked) });
    return h("label", { class: "check" }, box, "Stay signed in on this device");
  }

  #mailboxLine(field, button) {
    const line = h("div", { class: "row note", hidden: true });
    site().then(({ mailbox }) => {
      if (!mailbox) return;
      const fill = field && h("button", { type: "button" }, "Fill in");
      fill?.addEventListener("click", () => whileBusy(fill, () => this.#fillIn(field, button)));
      show(
        line,
        h("span", {}, field ? "Your code is in the mailbox." : "Your link is in the mailbox."),
        fill,
        h("a", { href: "#/mailbox" }, "Open the mailbox"),
      );
      line.hidden = false;
    });
    return line;
  }

  async #fillIn(field, button) {
    const letter = await latestLetter(progress.email).catch(() => null);
    if (!letter?.code) return this.#complain("There is no code for this address in the mailbox.", field);
    field.value = letter.code;
    return this.#signIn(field, button);
  }

  /** Once more, the other kind, or another address. The first two have to wait, and say how long. */
  #otherWays(kind, field) {
    const other = kind === "code" ? "link" : "code";
    const again = h("button", { type: "button" });
    const instead = h("button", { type: "button", class: "plain" }, `Send me a ${other} instead`);
    again.addEventListener("click", () => this.#send(kind, again, field));
    instead.addEventListener("click", () => this.#send(other, instead, field));
    const leave = h(
      "button",
      { type: "button", class: "plain", onclick: () => this.#startAgain() },
      "Use another address",
    );
    const count = () => {
      const seconds = Math.max(0, Math.ceil((progress.mayResendAt - Date.now()) / 1000));
      const isBusy = again.ariaBusy || instead.ariaBusy;
      again.textContent = seconds ? `Send again in ${wait(seconds)}` : "Send again";
      if (!isBusy) again.disabled = instead.disabled = seconds > 0;
    };
    // The form is put on the page after this, which stops the clock of the one before.
    queueMicrotask(() => {
      clearInterval(this.#timer);
      if (this.isConnected) this.#timer = setInterval(count, 250);
    });
    count();
    return h("div", { class: "row ways" }, again, instead, leave);
  }

  #startAgain() {
    Object.assign(progress, { sent: null, loginUrl: null, mayResendAt: 0 });
    say("");
    this.#draw();
  }

  async #send(kind, button, field) {
    if (button.disabled) return;
    this.#complain("");
    try {
      const { loginUrl } = await whileBusy(button, () =>
        call("sendLoginCodeEmail", { email: progress.email, ...KINDS[kind] }),
      );
      const { resendSeconds } = await site();
      const wasSent = progress.sent;
      Object.assign(progress, {
        sent: kind,
        loginUrl: loginUrl ?? null,
        mayResendAt: Date.now() + resendSeconds * 1000,
      });
      say(wasSent ? `A new ${kind} was sent to ${progress.email}.` : "");
      this.#draw();
    } catch (error) {
      if (!(error instanceof Away || error instanceof Refusal)) throw error;
      this.#notSent(error, kind, field);
    }
  }

  #notSent(error, kind, field) {
    const seconds = error.data?.retryAfterSeconds;
    if (seconds && progress.sent) progress.mayResendAt = Date.now() + seconds * 1000;
    if (error.reason !== "RESEND_TOO_SOON") return this.#complain(sentence(error), field);
    if (!progress.sent) {
      // There is a letter already, which does as well.
      Object.assign(progress, { sent: kind, loginUrl: null, mayResendAt: Date.now() + seconds * 1000 });
      this.#draw();
    }
    return this.#complain(
      `A letter went to this address a moment ago. Use what is in it, or ask again in ${wait(seconds)}.`,
    );
  }

  async #signIn(field, button) {
    if (button.disabled) return;
    if (!/^\d{6}$/.test(field.value)) {
      this.#complain("A code has six digits.", field);
      return;
    }
    this.#complain("");
    const { email, stay } = progress;
    field.readOnly = true;
    try {
      const params = { email, code: field.value, authenticationMethod: "EMAIL_CODE" };
      const { token, userId } = await whileBusy(button, () => call("loginByEmailVerification", params));
      Object.assign(progress, { email: "", stay: false, sent: null, loginUrl: null, mayResendAt: 0 });
      begin({ token, email, userId }, { stay });
      say(`You are signed in as ${email}.`);
    } catch (error) {
      if (!(error instanceof Away || error instanceof Refusal)) throw error;
      if (error instanceof Refusal) field.value = "";
      field.readOnly = false;
      this.#complain(sentence(error), field);
    }
  }

  #complain(words, field) {
    this.#fault.textContent = words;
    this.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
    if (!words || !field) return;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

customElements.define("tick-sign-in", SignIn);

// The pages.

// Each page is a custom element. What stands behind the second slash is in its property `argument`, and what stands
// behind a question mark in `query`; it sets the title itself if it knows a better one. A page with `queryChanged` is
// kept when nothing but the query changes. Pages that are `open` need no sign-in.
const PAGES = {
  "": { element: "tick-clocks", title: "Clocks" },
  clocks: { element: "tick-clocks", title: "Clocks" },
  clock: { element: "tick-clock", title: "Clock" },
  mailbox: { element: "tick-mailbox", title: "Mailbox", open: true },
  api: { element: "tick-api", title: "API", open: true },
};

const main = document.getElementById("main");
let shown = { key: null, element: null, token: null };
let withMailbox = false;

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function place() {
  // Whatever does not begin with a slash is a place on the page, not a page.
  // In times with an offset a plus is a plus, and no blank.
  const [path, query] = location.hash.startsWith("#/") ? location.hash.slice(2).split("?") : [""];
  const [name, argument = ""] = path.split("/");
  return { name, argument: decode(argument), query: new URLSearchParams(query?.replaceAll("+", "%2B")) };
}

function nowhere() {
  return h(
    "section",
    { class: "card" },
    h("h1", {}, "There is no such page"),
    h(
      "p",
      { class: "hint" },
      "The address may be old, or not whole. ",
      h("a", { href: "#/" }, "Go to your clocks"),
      ".",
    ),
  );
}

function draw() {
  const { name, argument, query } = place();
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : null;
  const token = session()?.token ?? null;
  const needsSignIn = page && !page.open && !token;
  const key = JSON.stringify([needsSignIn, page?.element, argument]);
  if (key === shown.key && token === shown.token && shown.element.queryChanged) {
    shown.element.query = query;
    shown.element.queryChanged();
    return;
  }
  const element = page ? document.createElement(needsSignIn ? "tick-sign-in" : page.element) : nowhere();
  Object.assign(element, { argument, query });
  shown = { key, element, token };
  document.title = `${needsSignIn ? "Sign in" : (page?.title ?? "No such page")} · Tickover`;
  show(main, element);
  drawTop();
}

/** Whoever has no mouse goes on from the new page's beginning, unless the page knows better. */
function moveFocus() {
  if (main.contains(document.activeElement) && document.activeElement !== main) return;
  scrollTo(0, 0);
  const heading = main.querySelector("h1");
  if (heading) heading.tabIndex = -1;
  (heading ?? main).focus({ preventScroll: true });
}

function drawTop() {
  const links = [["clocks", "Clocks"], ...(withMailbox ? [["mailbox", "Mailbox"]] : []), ["api", "API"]];
  const here = { "": "clocks", clock: "clocks" }[place().name] ?? place().name;
  const who = session();
  show(
    document.getElementById("top"),
    h("a", { class: "brand", href: "#/" }, h("span", { "aria-hidden": "true" }, "◷ "), "Tickover"),
    h(
      "nav",
      { "aria-label": "Pages" },
      links.map(([name, title]) =>
        h("a", { href: `#/${name}`, "aria-current": name === here ? "page" : undefined }, title),
      ),
    ),
    who && h("span", { class: "who", title: who.email || who.userId }, who.email || who.userId),
    who && h("button", { type: "button", class: "plain", onclick: leave }, "Sign out"),
  );
}

async function leave(event) {
  event.currentTarget.disabled = true;
  const { error, late } = await signOut();
  if (late) return;
  if (error && !(error instanceof Away || error instanceof Refusal)) throw error;
  const words =
    error instanceof Away
      ? "You are signed out here. The server could not be told, so the token lives on."
      : "You are signed out.";
  const still = session();
  say(still ? `${words} This device stays signed in as ${still.email || still.userId}.` : words);
}

addEventListener("hashchange", () => {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const before = shown.element;
  say("");
  draw();
  if (shown.element !== before) moveFocus();
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

onSessionChange((sentence) => {
  // What happens in other tabs need not be news here, and a page that asks for no sign-in goes on.
  const token = session()?.token ?? null;
  if (token === shown.token) return;
  if (PAGES[place().name]?.open) {
    shown.token = token;
    drawTop();
  } else {
    draw();
    moveFocus();
  }
  if (sentence) say(sentence);
});

site().then(({ mailbox }) => {
  withMailbox = mailbox;
  if (mailbox) drawTop();
});
draw();
