// <tick-clock>: one clock, at its frozen time or at a previewed time.

import { askForkTime, confirmDeletion } from "./clock-dialogs.js";
import { ClockHeader } from "./clock-header.js";
import { parseClock, toParams, viewAt } from "./clock-model.js";
import { clockName, renameClock } from "./clock-names.js";
import "./clock-tables.js";
import { describePreview, postedText, spokenPreview } from "./clock-text.js";
import { watchClock } from "./clock-watcher.js";
import { createClock, errorDetails } from "./create-clock.js";
import { h, notify, render } from "./dom.js";
import { forkClock } from "./fork-clock.js";
import { formatInstant } from "./format.js";
import "./goals.js";
import { parseInstant, toTimestamp } from "./instants.js";
import { navigate, notifyAfterNavigation } from "./navigation.js";
import { Notice } from "./notice.js";
import { call, RpcError, ServerUnavailable } from "./rpc.js";
import { clampToClock } from "./scrubber.js";
import { captureSession } from "./session.js";
import "./timeline.js";

const SCRUB_PAUSE_MS = 400; // polling waits this long after a move of the scrubber
const RETRY_MS = 3_000;
const URL_UPDATE_MS = 300; // browsers limit how often a page changes its URL

class ClockPage extends HTMLElement {
  #model = null;
  #currentView = null;
  #instant = null;
  #watcher = null;
  #frame = 0;
  #lastMove = 0;
  #urlTimer = 0;
  #expiryTimer = 0;
  #retryTimer = 0;
  #isBusy = false;
  #isUnreachable = false;
  #pendingWarning = "";
  #notice = new Notice();

  connectedCallback() {
    this.clockId = this.argument;
    document.title = `${clockName(this.clockId)} · Tickover`;
    render(this, h("p", { class: "muted" }, "Loading the clock…"));
    this.#load();
  }

  disconnectedCallback() {
    this.#watcher?.stop();
    document.querySelector("dialog")?.close("");
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#urlTimer);
    clearTimeout(this.#retryTimer);
    clearInterval(this.#expiryTimer);
  }

  /** The URL has another preview time. */
  queryChanged(query = this.query) {
    if (this.#model) this.#preview(this.#timeInQuery(query) ?? this.#model.now);
  }

  async #load() {
    clearTimeout(this.#retryTimer);
    try {
      const { clock } = await call("getTestClock", { id: this.clockId });
      if (this.isConnected) this.#open(clock);
    } catch (error) {
      if (this.isConnected) this.#handleError(error);
    }
  }

  #timeInQuery(query) {
    const instant = parseInstant(query?.get("t") ?? "");
    return Number.isNaN(instant) ? null : clampToClock(this.#model, instant);
  }

  #open(clock) {
    this.#model = parseClock(clock);
    this.#instant = this.#timeInQuery(this.query) ?? this.#model.now;
    const hadFocus = this.contains(document.activeElement);
    this.#build();
    if (hadFocus) this.timeline.scrubber.slider.focus();
    this.#update(this.#model);
    this.#watcher = watchClock(this.clockId, {
      onClock: (clock) => this.#receive(clock),
      onError: (error) => this.#handleError(error),
      isPaused: () => this.#isBusy || performance.now() - this.#lastMove < SCRUB_PAUSE_MS,
    });
    this.#expiryTimer = setInterval(() => this.header.drawExpiry(), 30_000);
  }

  #build() {
    this.#notice.element.hidden = true;
    this.header = new ClockHeader({
      id: this.clockId,
      status: this.#model.status,
      expiresAt: this.#model.expiresAt,
      onFork: () => this.#askFork(),
      onDelete: () => this.#askDelete(),
    });
    this.timeline = h("tick-timeline", {
      class: "card",
      role: "group",
      "aria-labelledby": "timeline-title",
      onpreview: (event) => this.#preview(event.detail),
    });
    this.advance = h("button", { type: "button", class: "primary advance", onclick: () => this.#advance() });
    this.backToNow = h("button", { type: "button", onclick: () => this.#preview(this.#model.now) }, "Back to now");
    this.forkHere = h("button", { type: "button", onclick: () => this.#fork(this.#instant) }, "Fork here");
    this.summary = h("p", { class: "preview-summary", id: "preview-summary" });
    this.advance.setAttribute("aria-describedby", "preview-summary");
    this.transactions = h("tick-transactions", { class: "card" });
    this.goals = h("tick-goals", { class: "card" });
    render(
      this,
      this.header.element,
      this.#notice.element,
      this.timeline,
      h("div", { class: "clock-columns" }, this.transactions, this.goals),
    );
    this.timeline.append(
      h("div", { class: "row preview-actions" }, this.advance, this.forkHere, this.backToNow, this.summary),
    );
  }

  /** Show a new state of the clock. */
  #update(model) {
    this.#model = model;
    this.#currentView = viewAt(model, model.now);
    this.header.setNow(model.now);
    this.timeline.setModel(model, this.#instant);
    this.transactions.setModel(model);
    this.goals.setModel(model);
    this.#draw();
  }

  #receive(clock) {
    if (this.#isUnreachable) {
      this.#isUnreachable = false;
      this.#hide(this.#notice.element);
      notify(`The server is available again.${this.#pendingWarning}`);
      this.#pendingWarning = "";
    }
    if (this.#isBusy || parseInstant(clock.frozenTime) === this.#model.now) return;
    const wasAtNow = this.#instant === this.#model.now;
    const model = parseClock(clock, this.#model);
    const posted = viewAt(model, model.now).postedCount - this.#currentView.postedCount;
    if (wasAtNow) this.#instant = model.now;
    this.#update(model);
    this.#updateUrl();
    notify(`The clock was advanced elsewhere to ${formatInstant(model.now)}. ${postedText(posted)}`);
  }

  /** Preview another instant. Draw at most once per frame. */
  #preview(instant) {
    this.#instant = instant;
    this.#lastMove = performance.now();
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
    this.#updateUrl();
  }

  #draw() {
    const [model, currentView, instant] = [this.#model, this.#currentView, this.#instant];
    const view = instant === model.now ? currentView : viewAt(model, instant);
    this.timeline.preview(instant, spokenPreview(model, currentView, view));
    this.transactions.preview(model.now, instant);
    this.goals.preview(currentView, view);
    const [isNow, isPast] = [instant === model.now, instant < model.now];
    this.summary.textContent = `${describePreview(model, currentView, view)}.`;
    this.advance.textContent = isNow || isPast ? "Advance…" : `Advance to ${formatInstant(instant)}`;
    this.advance.setAttribute("aria-disabled", String(isNow || isPast || Boolean(this.isGone)));
    this.#hide(this.forkHere, !isPast);
    this.#hide(this.backToNow, isNow);
  }

  /** Hide a node. If it has the focus, move the focus to the slider. */
  #hide(node, hidden = true) {
    if (hidden && node.contains(document.activeElement)) this.timeline.scrubber.slider.focus();
    node.hidden = hidden;
  }

  #updateUrl() {
    clearTimeout(this.#urlTimer);
    this.#urlTimer = setTimeout(() => {
      const time = this.#instant === this.#model.now ? "" : `?t=${toTimestamp(this.#instant)}`;
      history.replaceState(history.state, "", `#/clock/${encodeURIComponent(this.clockId)}${time}`);
    }, URL_UPDATE_MS);
  }

  /** Run one action at a time and report its error. If the user has left the page, ignore the outcome. */
  async #runAction(work, onDone) {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.setAttribute("aria-busy", "true");
    try {
      const result = await work();
      if (this.isConnected) onDone(result);
    } catch (error) {
      if (this.isConnected) this.#handleError(error, true);
    } finally {
      this.#isBusy = false;
      this.removeAttribute("aria-busy");
    }
  }

  #advance() {
    const [instant, now] = [this.#instant, this.#model.now];
    if (this.isGone) return notify("This clock no longer exists, so it cannot be advanced.", { error: true });
    if (instant === now) return notify("Choose a later time first: move the slider, press +1 day or set the date.");
    if (instant < now) return notify("Time only moves forward. Fork the clock to continue from this time.");
    return this.#runAction(
      () => call("advanceTestClock", { id: this.clockId, frozenTime: toTimestamp(instant) }),
      ({ clock }) => {
        const posted = viewAt(this.#model, instant).postedCount - this.#currentView.postedCount;
        if (this.#instant === instant) this.#instant = parseInstant(clock.frozenTime);
        this.#update(parseClock(clock, this.#model));
        this.#updateUrl();
        notify(`Advanced to ${formatInstant(this.#model.now)}. ${postedText(posted)}`);
      },
    );
  }

  async #askFork() {
    const at = await askForkTime(this.#model, this.#instant);
    if (at !== null) this.#fork(at);
  }

  #fork(at) {
    const isSameSession = captureSession();
    return this.#runAction(
      async () => {
        try {
          const clock = await forkClock(this.#model, at);
          if (isSameSession()) renameClock(clock.id, `Fork of ${clockName(this.clockId)}`);
          return clock;
        } catch (error) {
          if (error instanceof ServerUnavailable) this.#pendingWarning = " The fork may exist. Check your clocks.";
          throw error;
        }
      },
      (clock) =>
        navigate(
          `#/clock/${encodeURIComponent(clock.id)}`,
          `This is the fork. Its time is ${formatInstant(parseInstant(clock.frozenTime))}.`,
        ),
    );
  }

  /** Create a new clock with the items of the deleted or expired one. */
  #createAgain() {
    return this.#runAction(
      () => createClock(toParams(this.#model), clockName(this.clockId)),
      () =>
        location.hash.includes(this.clockId) ||
        notifyAfterNavigation("This is a new clock with the same items. Its time is their start."),
    );
  }

  async #askDelete() {
    if (!(await confirmDeletion(clockName(this.clockId)))) return;
    const isSameSession = captureSession();
    await this.#runAction(
      async () => {
        await call("deleteTestClock", { id: this.clockId });
        this.#watcher.stop();
        if (isSameSession()) renameClock(this.clockId, "");
      },
      () => navigate("#/clocks", "The clock was deleted."),
    );
  }

  /** Report an error. Return whether polling continues. An action of the user is not retried. */
  #handleError(error, isAction = false) {
    if (this.isGone) return notify(errorDetails(error), { error: true });
    if (
      error instanceof ServerUnavailable ||
      (isAction ? ["UNAVAILABLE"] : ["UNAVAILABLE", "RATE_LIMITED", "INTERNAL"]).includes(error.reason)
    ) {
      this.#isUnreachable = true;
      if (!this.#model) this.#retryTimer = setTimeout(() => this.#load(), RETRY_MS);
      this.#showNotice(
        `${error.message}${this.#pendingWarning} ${this.#model ? "You see the last known state. " : ""}Retrying every few seconds.`,
        h(
          "button",
          { type: "button", onclick: () => (this.#watcher ? this.#watcher.poll() : this.#load()) },
          "Try again now",
        ),
      );
      return true;
    }
    if (!(error instanceof RpcError)) throw error;
    if (error.reason === "UNAUTHENTICATED") {
      notify(error.message, { error: true });
      return false;
    }
    if (
      ["CLOCK_NOT_FOUND", "CLOCK_EXPIRED", "INVALID_PARAMS"].includes(error.reason) &&
      (!this.#model || error.reason !== "INVALID_PARAMS")
    ) {
      this.#showGone(error.reason === "CLOCK_EXPIRED");
      return false;
    }
    if (error.reason === "TIME_BEFORE_CURRENT") {
      notify("The clock was advanced elsewhere, past this time.", { error: true });
      this.#watcher?.poll();
      return true;
    }
    notify(errorDetails(error), { error: true });
    return true;
  }

  #showNotice(message, ...actions) {
    if (!this.#notice.element.isConnected) render(this, this.#notice.element);
    this.#notice.show(message, ...actions);
  }

  #showGone(expired) {
    this.isGone = true;
    this.#watcher?.stop();
    const clocksLink = h("a", { class: "button", href: "#/clocks" }, "Back to your clocks");
    if (!this.#model) {
      this.#showNotice(
        expired
          ? "This clock has expired. Clocks expire after seven days."
          : "Clock not found. It was deleted, or it belongs to another account.",
        clocksLink,
      );
      return;
    }
    this.classList.add("gone");
    this.header.setStatus(expired ? "EXPIRED" : "DELETED");
    this.#draw();
    this.#showNotice(
      `${expired ? "This clock has expired. Clocks expire after seven days." : "This clock was deleted elsewhere."} You see its last state.`,
      h("button", { type: "button", class: "primary", onclick: () => this.#createAgain() }, "Create it again"),
      clocksLink,
    );
  }
}

customElements.define("tick-clock", ClockPage);
