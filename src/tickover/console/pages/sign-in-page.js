// <tick-sign-in>: asks for an email address, then for the code from the email, or sends a login link.

import "./demo-clock.js";
import { withBusyState } from "../lib/busy-button.js";
import { h, newId, render } from "../lib/dom.js";
import { onSubmit } from "../lib/form-fields.js";
import { formatDuration } from "../lib/format.js";
import { notify } from "../lib/notification.js";
import { CallError, call, latestEmail, ServerUnavailable, serverFeatures } from "../lib/rpc.js";
import { startSession } from "../lib/session.js";

const EMAIL_PARAMS = {
  code: { loginCodeType: "SHORT_LIVED", emailType: "LOGIN_CODE" },
  link: { loginCodeType: "LONG_LIVED", emailType: "WEB_LOGIN_LINK" },
};

// The progress outlives the page, so a visit to the mailbox loses nothing.
const NOTHING_DONE = { typedEmail: "", email: "", sent: null, resendAt: 0, hasNoEmail: false };
const progress = { ...NOTHING_DONE };

const waitText = (seconds) => (seconds < 120 ? `${seconds} s` : formatDuration(seconds * 1000));

const MESSAGES = {
  LOGIN_REFUSED: "This code is wrong, expired or used. Try again.",
  MAIL_NOT_SENT: "The mail server didn't accept the email. Try again.",
};

function errorMessage(error) {
  if (error instanceof ServerUnavailable) return "Can't reach the server. Try again when it is running.";
  const { reason, message, data } = error;
  if (reason === "RATE_LIMITED") return `Too many attempts. Try again in ${waitText(data.retryAfterSeconds)}.`;
  if (reason !== "INVALID_PARAMS") return MESSAGES[reason] ?? message;
  const texts = data.errors.map(({ path, message }) => `${path === "email" ? "The email address" : path} ${message}.`);
  return texts.join(" ");
}

class SignIn extends HTMLElement {
  #error = h("p.error", { role: "alert", id: newId() });
  #timer = 0;
  #features = null;

  async connectedCallback() {
    this.#features = await serverFeatures();
    if (this.isConnected) this.#draw();
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  #draw() {
    this.#error.textContent = "";
    if (progress.sent === "code") this.#showCodeForm();
    else if (progress.sent === "link") this.#showLinkSent();
    else this.#showAddressForm();
  }

  #show(title, form) {
    clearInterval(this.#timer);
    // The demo stays, so that it doesn't start again with each form.
    if (!this.section) {
      this.section = h("section");
      render(
        this,
        h(
          "div.sign-in",
          h(
            "div.sign-in-form",
            h("p.tagline", "Simulate months of money in seconds."),
            h("p.lead", "Test clocks for finance apps: salaries, rent and savings goals on a date that you move."),
            this.section,
          ),
          h("tick-demo.card"),
        ),
      );
    }
    render(this.section, h("h1", { tabIndex: -1 }, title), form);
  }

  #showAddressForm() {
    const email = this.#field("Email", {
      type: "email",
      name: "email",
      autocomplete: "username",
      required: true,
      value: progress.typedEmail,
      oninput: () => (progress.typedEmail = email.input.value),
      spellcheck: "false",
      autocapitalize: "none",
      placeholder: "ana@example.test",
    });
    const { mailbox } = this.#features;
    const main = h("button.primary", mailbox ? "Sign in" : "Send me a code");
    const code = h("button.plain", { onclick: () => ask("code", code) }, "Send me a code");
    const link = h("button.plain", { onclick: () => ask("link", link) }, "Send me a link instead");
    const ask = (kind, button) => {
      progress.email = email.input.value.trim();
      return this.#send(kind, button, email.input);
    };
    const submit = () => (mailbox ? this.#signInAtOnce(email.input, main) : ask("code", main));
    this.#show(
      "Sign in",
      h(
        "form",
        { noValidate: true, onsubmit: onSubmit(submit) },
        h("p.muted", "No password. Your first sign-in creates your account."),
        email,
        this.#error,
        main,
        h("div.row.alternatives", mailbox && code, link),
      ),
    );
    email.input.focus();
  }

  #showCodeForm() {
    const sentText = progress.hasNoEmail
      ? this.#about(
          "No email to ",
          " is in the mailbox. Enter the fixed code of this address, from the setting TICKOVER_TEST_CODES. ",
        )
      : this.#about("We sent a code to ", ". The code expires in 10 minutes and works once. ");
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
      "aria-describedby": `${sentText.id} ${this.#error.id}`,
    });
    const button = h("button.primary", "Sign in");
    const form = h(
      "form",
      { noValidate: true, onsubmit: onSubmit(() => this.#signIn(code.input, button)) },
      sentText,
      !progress.hasNoEmail && this.#mailboxHint("code"),
      code,
      this.#error,
      button,
      !progress.hasNoEmail && this.#alternatives("code", code.input),
    );
    // Pasted text can have spaces and words around the code and be longer than the field.
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

  #showLinkSent() {
    this.#show(
      "Open your link",
      h(
        "form",
        this.#about("We sent a link to ", ". The link expires in an hour and works once. "),
        this.#mailboxHint("link"),
        this.#error,
        this.#alternatives("link"),
      ),
    );
    this.querySelector("h1").focus();
  }

  #about(before, after) {
    const changeAddress = h("button.link", { onclick: () => this.#changeAddress() }, "Use another address");
    return h("p", { id: newId() }, before, h("strong", progress.email), after, changeAddress);
  }

  #field(label, properties) {
    const input = h("input", { id: newId(), "aria-describedby": this.#error.id, ...properties });
    return Object.assign(h("div", h("label", { for: input.id }, label), input), { input });
  }

  #mailboxHint(kind) {
    const mailbox = h("a", { href: "#/mailbox" }, "mailbox");
    return this.#features.mailbox && h("p.note", `Your ${kind} is in the `, mailbox, ".");
  }

  /** Buttons to send again, and to send the other kind. They count down the wait. */
  #alternatives(kind, field) {
    const other = kind === "code" ? "link" : "code";
    const again = h("button.plain", { onclick: () => this.#send(kind, again, field) });
    const send = () => this.#send(other, instead, field);
    const instead = h("button.plain", { onclick: send }, `Send me a ${other} instead`);
    const updateCountdown = () => {
      const seconds = Math.max(0, Math.ceil((progress.resendAt - Date.now()) / 1000));
      const isBusy = again.ariaBusy || instead.ariaBusy;
      again.textContent = seconds ? `Send again in ${waitText(seconds)}` : "Send again";
      if (!isBusy) again.disabled = instead.disabled = seconds > 0;
    };
    // #show stops the previous timer when it shows this form, so start the timer afterwards.
    queueMicrotask(() => {
      clearInterval(this.#timer);
      if (this.isConnected) this.#timer = setInterval(updateCountdown, 250);
    });
    updateCountdown();
    return h("div.row.alternatives", again, instead);
  }

  #changeAddress() {
    Object.assign(progress, NOTHING_DONE, { typedEmail: progress.typedEmail });
    notify("");
    this.#draw();
  }

  async #send(kind, button, field) {
    if (button.disabled) return;
    this.#showError("");
    try {
      const params = { email: progress.email, ...EMAIL_PARAMS[kind] };
      await withBusyState(button, () => call("sendLoginCodeEmail", params));
      const wasSent = progress.sent;
      Object.assign(progress, { sent: kind, resendAt: Date.now() + this.#features.resendSeconds * 1000 });
      notify(wasSent ? `We sent a new ${kind} to ${progress.email}.` : "");
      SignIn.#current(this).#draw();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      SignIn.#current(this).#showSendError(error, kind, field);
    }
  }

  /** Return the page that is shown. The user can leave a page and return before a response arrives. */
  static #current(page) {
    return document.querySelector("tick-sign-in") ?? page;
  }

  #showSendError(error, kind, field) {
    const seconds = error.data?.retryAfterSeconds;
    if (seconds && progress.sent) progress.resendAt = Date.now() + seconds * 1000;
    if (error.reason !== "RESEND_TOO_SOON") return this.#showError(errorMessage(error), field);
    if (!progress.sent) {
      // The user can sign in with the previous email.
      Object.assign(progress, { sent: kind, resendAt: Date.now() + seconds * 1000 });
      this.#draw();
    }
    return this.#showError(
      `We already sent an email to this address. Use it, or request another in ${waitText(seconds)}.`,
    );
  }

  async #signIn(field, button) {
    if (button.disabled) return;
    if (!/^\d{6}$/.test(field.value)) return this.#showError("Enter six digits.", field);
    // Don't use up an attempt.
    if (field.value === field.refused) return this.#showError(errorMessage({ reason: "LOGIN_REFUSED" }), field);
    this.#showError("");
    field.readOnly = true;
    try {
      await withBusyState(button, () => this.#logIn(field.value));
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (error.reason === "LOGIN_REFUSED") field.refused = field.value;
      field.readOnly = false;
      this.#showError(errorMessage(error), field);
      field.select();
    }
  }

  async #logIn(code) {
    const { email } = progress;
    const params = { email, code, authenticationMethod: "EMAIL_CODE" };
    const { token, userId } = await call("loginByEmailVerification", params);
    Object.assign(progress, NOTHING_DONE);
    startSession({ token, email, userId });
    notify(`You are signed in as ${email}.`);
  }

  /** Sign in with the code in the mailbox of a development server. If it is too soon for another, use the last one. */
  async #signInAtOnce(field, button) {
    if (button.disabled) return;
    this.#showError("");
    progress.email = field.value.trim();
    try {
      await withBusyState(button, async () => {
        const params = { email: progress.email, ...EMAIL_PARAMS.code };
        let tooSoon;
        await call("sendLoginCodeEmail", params).catch((error) => {
          if (error.reason !== "RESEND_TOO_SOON") throw error;
          tooSoon = error;
        });
        const email = await latestEmail(progress.email).catch(() => null);
        if (email?.code)
          return this.#logIn(email.code).catch((error) => {
            throw tooSoon && error.reason === "LOGIN_REFUSED" ? tooSoon : error;
          });
        if (tooSoon) throw tooSoon;
        // The server sends no email to an address with a fixed code.
        Object.assign(progress, { sent: "code", hasNoEmail: true });
        SignIn.#current(this).#draw();
      });
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.#showError(errorMessage(error), field);
    }
  }

  #showError(message, field) {
    this.#error.textContent = message;
    this.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
    if (!message || !field) return;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

customElements.define("tick-sign-in", SignIn);
