// <tick-sign-in>: asks for an email address, then for the code from the email, or sends a login link.

import { h, newId, onSubmit, say, show, whileBusy } from "./dom.js";
import { formatWait } from "./format.js";
import { Away, call, Refusal } from "./rpc.js";
import { latestLetter, site } from "./server-info.js";
import { begin } from "./session.js";

const KINDS = {
  code: { loginCodeType: "SHORT_LIVED", emailType: "LOGIN_CODE" },
  link: { loginCodeType: "LONG_LIVED", emailType: "WEB_LOGIN_LINK" },
};

// How far somebody has come outlives the page, so that a look into the mailbox loses nothing.
const progress = { email: "", stay: false, sent: null, loginUrl: null, mayResendAt: 0 };

const wait = (seconds) => (seconds < 120 ? `${seconds} s` : formatWait(seconds * 1000));

export function sentence(error) {
  if (error instanceof Away) return "The server cannot be reached. Try again when it runs.";
  switch (error.reason) {
    case "LOGIN_REFUSED":
      return "This code is wrong, used or too old. Try again, or ask for a new one.";
    case "RATE_LIMITED":
      return `That was too often. Try again in ${wait(error.data.retryAfterSeconds)}.`;
    case "MAIL_NOT_SENT":
      return "The mail server did not accept the email. Try again.";
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
