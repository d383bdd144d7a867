// <tick-clock>: one clock, at its frozen time or at a previewed time.

import { checkClock, loadClock, renameClock, updateClock } from "../clock/clock-calls.js";
import { parseClock, scheduleKey, viewAt } from "../clock/clock-model.js";
import { AccountsPanel } from "./accounts-panel.js";
import { AdvanceBar } from "./advance-bar.js";
import { BankPanel } from "./bank-panel.js";
import { ClockActions } from "./clock-actions.js";
import { ClockFigures } from "./clock-figures.js";
import { ClockHeader } from "./clock-header.js";
import "./clock-tables.js";
import { advanceText, describeAmendment, postedText, spokenPreview } from "../clock/clock-text.js";
import { errorDetails } from "../clock/create-clock.js";
import { h, render } from "../lib/dom.js";
import { clocksLink, goneMessage, showFailure } from "../lib/failure.js";
import { formatInstant, setDecimals } from "../lib/format.js";
import { FrameQueue } from "../lib/frame-queue.js";
import { Notice, notify } from "../lib/notification.js";
import { ExpectationsPanel } from "./expectations-panel.js";
import "./goals.js";
import { clampToClock } from "../chart/scrubber.js";
import { parseInstant, toTimestamp } from "../lib/instants.js";
import { startPolling } from "../lib/poll.js";
import { RpcError, ServerUnavailable } from "../lib/rpc.js";
import { openingForm } from "./opening-form.js";
import { ReconcilePanel } from "./reconcile-panel.js";
import "../chart/timeline.js";

const SCRUB_PAUSE_MS = 400; // polling waits this long after a move of the scrubber
const RELOAD_MS = 3_000;
const TWO_COLUMNS = 1088; // pixels, as in clock.css
const URL_UPDATE_MS = 300; // browsers limit how often a page changes its URL

class ClockPage extends HTMLElement {
  #model = null;
  #currentView = null;
  #results = null; // of the expectations
  #instant = null;
  #watcher = null;
  #lastMove = 0;
  #urlTimer = 0;
  #hash = location.hash; // the URL fragment that the page shows
  #expiryTimer = 0;
  #retryTimer = 0;
  #isUnreachable = false;
  #notice = new Notice();
  #frames = new FrameQueue((part) => this.#draw([part])); // of parts that follow the preview
  #actions = new ClockActions(this, {
    model: () => this.#model,
    pauseWhile: (work) => this.#watcher.pauseWhile(work),
    onAdvanced: (result) => this.#advanced(result),
    onAmended: (clock) => this.#amended(clock),
    onDeleted: () => this.#watcher.stop(),
    onError: (error) => this.#handleError(error, true),
  });

  connectedCallback() {
    this.clockId = this.argument;
    render(this, h("p.muted", "Loading the clock…"));
    this.#load();
  }

  disconnectedCallback() {
    this.#watcher?.stop();
    document.querySelector("dialog")?.close("");
    this.#frames.cancel();
    setDecimals([]);
    for (const timer of [this.#urlTimer, this.#retryTimer, this.#expiryTimer]) clearInterval(timer);
  }

  /** The URL has another preview time. */
  queryChanged(query = this.query) {
    this.#hash = location.hash;
    if (this.#model) this.#preview(this.#timeInQuery(query) ?? this.#model.now);
  }

  async #load() {
    clearTimeout(this.#retryTimer);
    try {
      const clock = await loadClock(this.clockId);
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
    this.#watcher = startPolling((signal) => loadClock(this.clockId, { quiet: true, signal }), {
      onLoad: (clock) => this.#receive(clock),
      onError: (error) => this.#handleError(error),
      isBusy: () => performance.now() - this.#lastMove < SCRUB_PAUSE_MS,
    });
    this.#expiryTimer = setInterval(() => this.header.drawExpiry(), 30_000);
    this.#checkAgain();
  }

  /** Check the expectations again, unless the clock changes in the meantime. */
  async #checkAgain() {
    const model = this.#model;
    try {
      const results = await checkClock(model);
      if (this.isConnected && model.scheduleKey === this.#model.scheduleKey) this.#showResults(results);
    } catch (error) {
      if (this.isConnected) this.expectations.showError(errorDetails(error));
    }
  }

  /** Change the expectations or the opening balances. Throw if the server rejects them. */
  async #change(changes) {
    const clock = await this.#watcher.pauseWhile(() => updateClock(this.clockId, changes));
    if (!this.isConnected) return;
    const model = parseClock(clock, this.#model);
    this.#results = await checkClock(model);
    if (this.isConnected) this.#update(model);
  }

  #showResults(results) {
    this.#results = results;
    this.timeline.setResults(results);
    this.figures.drawChecks(this.#model, results);
    this.expectations.setModel(this.#model, results);
    this.#draw();
  }

  #build() {
    this.#notice.element.hidden = true;
    this.header = new ClockHeader(this.#model, {
      onReconcile: () => this.reconciliation.choose(),
      onFork: () => this.#actions.askFork(this.#instant),
      onDelete: () => this.#actions.askDelete(),
      onRename: (name) => this.#rename(name),
      onError: (error) => this.#handleError(error, true),
    });
    const show = (instant) => this.#preview(clampToClock(this.#model, instant));
    this.figures = new ClockFigures({ onShow: show });
    this.timeline = h("tick-timeline.card", {
      role: "group",
      "aria-labelledby": "timeline-title",
      onpreview: (event) => this.#preview(event.detail),
      onadditem: (event) => this.#actions.askItem(event.detail),
      onadvance: (event) => this.#actions.advance(event.detail ?? this.bar.target),
    });
    this.bar = new AdvanceBar({
      scrubber: this.timeline.scrubber,
      onAdvance: (instant) => this.#actions.advance(instant),
      onFork: (instant) => this.#actions.fork(instant),
      onPreview: show,
      hide: (node, hidden) => this.#hide(node, hidden),
    });
    const aside = this.#buildPanels(show);
    render(
      this,
      this.header.element,
      this.figures.element,
      this.#notice.element,
      this.timeline,
      this.reconciliation.element,
      // In one column, the long list comes last.
      h("div.clock-columns", this.clientWidth < TWO_COLUMNS ? [aside, this.transactions] : [this.transactions, aside]),
    );
    this.timeline.append(this.bar.element);
  }

  /** Create the tables and panels below the timeline. Return those beside the transactions. */
  #buildPanels(show) {
    this.transactions = h("tick-transactions.card", {
      onadditem: () => this.#actions.askItem(Math.max(this.#instant, this.#model.now)),
      oncancelitem: (event) => this.#actions.askCancel(event.detail),
    });
    this.goals = h("tick-goals.card", { oncancelitem: ({ detail }) => this.#actions.askCancel(detail) });
    this.expectations = new ExpectationsPanel({
      onChange: (expectations) => this.#change({ expectations: expectations.length ? expectations : null }),
      onShow: show,
    });
    this.opening = openingForm((balances) =>
      this.#change({ openingBalances: Object.keys(balances).length ? balances : null }),
    );
    this.transactions.opening = this.opening.element;
    this.accounts = new AccountsPanel({
      onShow: (account) => {
        this.timeline.show(account);
        this.transactions.showAccount(account);
      },
    });
    this.reconciliation = new ReconcilePanel(this, {
      model: () => this.#model,
      onShow: show,
      onRanges: (ranges) => this.timeline.setTrack("Books", ranges),
    });
    this.bank = new BankPanel(this.clockId, {
      onRanges: (ranges) => {
        this.timeline.setTrack("Bank fails", ranges);
        this.bank.draw(this.#model, this.#currentView, viewAt(this.#model, this.#instant));
      },
    });
    return h(
      "div.clock-aside",
      this.#model.accounts.length > 0 && this.accounts.element,
      this.expectations.element,
      this.goals,
      this.bank.element,
    );
  }

  /** Show a new state of the clock. */
  #update(model) {
    setDecimals(model.balances);
    this.#model = model;
    this.#currentView = viewAt(model, model.now);
    this.header.setModel(model);
    this.opening.draw(model);
    this.timeline.setModel(model, this.#instant);
    this.transactions.setModel(model, this.#instant);
    this.goals.setModel(model);
    this.#frames.setParts(
      [this.figures, this.bar],
      [this.transactions, ...this.goals.parts, this.expectations, this.accounts, this.bank],
    );
    this.reconciliation.update();
    this.#showResults(this.#results);
  }

  async #rename(name) {
    const clock = await this.#watcher.pauseWhile(() => renameClock(this.clockId, name));
    this.#model = { ...this.#model, name: clock.name };
    return clock;
  }

  #receive(clock) {
    if (this.#isUnreachable) {
      this.#isUnreachable = false;
      this.#hide(this.#notice.element);
      const time = formatInstant(parseInstant(clock.frozenTime));
      notify(`The server is back. The clock is at ${time}.${this.#actions.warning}`);
      this.#actions.warning = "";
    }
    const isAdvanced = parseInstant(clock.frozenTime) !== this.#model.now;
    const isAmended = scheduleKey(clock) !== this.#model.scheduleKey;
    if (!isAdvanced && !isAmended) {
      this.#model = { ...this.#model, name: clock.name };
      return this.header.setModel(this.#model);
    }
    const before = this.#model;
    const model = parseClock(clock, before);
    if (this.#instant === before.now) this.#instant = model.now;
    if (JSON.stringify(model.expectations) !== JSON.stringify(before.expectations)) this.#results = null;
    this.#update(model);
    this.#updateUrl();
    const message = isAdvanced
      ? `The clock was advanced elsewhere to ${formatInstant(model.now)}. ${postedText(
          model,
          model.items.filter(({ at }) => at > before.now && at <= model.now),
        )}`
      : "The clock was amended elsewhere.";
    notify(isAmended ? `${message} ${describeAmendment(before, model)}` : message);
    if (isAmended) this.#checkAgain();
  }

  #amended(clock) {
    const before = this.#model;
    this.#update(parseClock(clock, before));
    notify(describeAmendment(before, this.#model));
    this.#checkAgain();
  }

  /** Preview another instant. */
  #preview(instant) {
    this.#instant = this.bar.instant = instant;
    this.#lastMove = performance.now();
    this.#frames.request();
    this.#updateUrl();
  }

  /** Draw the timeline and other parts of the page. */
  #draw(parts = this.#frames.parts) {
    const [model, currentView, instant] = [this.#model, this.#currentView, this.#instant];
    const view = instant === model.now ? currentView : viewAt(model, instant);
    this.timeline.preview(instant, spokenPreview(model, currentView, view));
    for (const part of parts) part.draw(model, currentView, view);
  }

  /** Hide a node. If it has the focus, move the focus to the slider. */
  #hide(node, hidden = true) {
    if (hidden && node.contains(document.activeElement)) this.timeline.scrubber.slider.focus();
    node.hidden = hidden;
  }

  #updateUrl() {
    clearTimeout(this.#urlTimer);
    this.#urlTimer = setTimeout(() => {
      // The user has navigated, and the browser has not yet dispatched `hashchange`.
      if (location.hash !== this.#hash) return;
      const time = this.#instant === this.#model.now ? "" : `?t=${toTimestamp(this.#instant)}`;
      history.replaceState(history.state, "", `#/clock/${encodeURIComponent(this.clockId)}${time}`);
      this.#hash = location.hash;
    }, URL_UPDATE_MS);
  }

  #advanced({ clock, ...happened }) {
    this.#instant = Math.max(this.#instant, parseInstant(clock.frozenTime));
    this.#update(parseClock(clock, this.#model));
    this.#updateUrl();
    notify(advanceText(this.#model, happened));
  }

  /** Report an error. Return whether polling continues. An action of the user is not retried. */
  #handleError(error, isAction = false) {
    if (this.isGone) return notify(errorDetails(error), { error: true });
    if (
      error instanceof ServerUnavailable ||
      (isAction ? ["UNAVAILABLE"] : ["UNAVAILABLE", "RATE_LIMITED", "INTERNAL"]).includes(error.reason)
    ) {
      this.#isUnreachable = true;
      if (!this.#model) this.#retryTimer = setTimeout(() => this.#load(), RELOAD_MS);
      this.#showNotice(
        `${error.message}${this.#actions.warning} ${this.#model ? "You see the last known state. " : ""}Retrying every few seconds.`,
        h("button", { onclick: () => (this.#watcher ? this.#watcher.poll() : this.#load()) }, "Try again now"),
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
      this.#showGone(error.reason);
      return false;
    }
    if (["TIME_BEFORE_CURRENT", "ITEM_NOT_PENDING"].includes(error.reason)) {
      notify("The clock was advanced elsewhere, past this time.", { error: true });
      this.#watcher?.poll();
      return true;
    }
    notify(errorDetails(error), { error: true });
    return true;
  }

  #showNotice(message, ...actions) {
    if (this.#model) this.#notice.show(message, ...actions);
    else showFailure(this, message, actions, "h1");
  }

  #showGone(reason) {
    const expired = reason === "CLOCK_EXPIRED";
    this.isGone = true;
    this.#watcher?.stop();
    if (!this.#model) return showFailure(this, goneMessage(reason), [clocksLink()], "h1", this.argument);
    this.classList.add("gone");
    this.bar.isGone = true;
    this.header.setStatus(expired ? "EXPIRED" : "DELETED");
    this.#draw();
    this.#showNotice(
      `${expired ? goneMessage(reason) : "This clock was deleted elsewhere."} You see its last state.`,
      clocksLink(),
    );
  }
}

customElements.define("tick-clock", ClockPage);
