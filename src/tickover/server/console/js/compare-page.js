// <tick-compare>: two clocks in one chart with the difference at the cursor.

import { legendItem } from "./chart-paths.js";
import { readChecks } from "./clock-checks.js";
import { Figure } from "./clock-header.js";
import { balanceAt, parseClock, scheduleKey } from "./clock-model.js";
import { clockName } from "./clock-text.js";
import { watchClock } from "./clock-watcher.js";
import { compareBalances, drawComparison } from "./compare-plot.js";
import { differenceList, sideBySide } from "./compare-tables.js";
import { h, Notice, notify, render, s } from "./dom.js";
import { balanceRules } from "./expectations.js";
import { formatDay, formatMoney, spokenInstant, spokenMoney } from "./format.js";
import { icon } from "./icons.js";
import { endOfDay, parseInstant, startOfDay } from "./instants.js";
import { CallError, call } from "./rpc.js";
import { alignSlider, moveThumb, sliderStep, snapToItem } from "./scrubber.js";
import { segmentedButtons } from "./tabs.js";

const MAX_CLOCKS = 100;
const DRAG_PAUSE_MS = 400; // polling waits this long after a move of the slider

class ComparePage extends HTMLElement {
  #clocks = [];
  #models = [];
  #currency = null;
  #instant = 0;
  #window = null;
  #loadCount = 0;
  #body = h("div", { class: "compare" });
  #observer = new ResizeObserver(() => this.#draw());
  #notice = new Notice();
  #watchers = [];
  #movedAt = 0;
  #isUnreachable = false;

  connectedCallback() {
    render(
      this,
      h(
        "header",
        { class: "row heading" },
        h("h1", { tabIndex: -1 }, "Compare"),
        (this.choice = h("div", { class: "row choice" })),
      ),
      this.#notice.element,
      this.#body,
    );
    render(this.#body, h("p", { class: "muted" }, "Loading the clocks…"));
    this.#load();
  }

  disconnectedCallback() {
    this.#observer.disconnect();
    this.#stopWatching();
  }

  queryChanged() {
    this.#stopWatching();
    this.#load();
  }

  async #load() {
    const number = ++this.#loadCount;
    const isNewest = () => this.isConnected && number === this.#loadCount;
    try {
      const { clocks } = await call("listTestClocks", { limit: MAX_CLOCKS }, { quiet: true });
      if (!isNewest()) return;
      const otherId = this.query.get("with") ?? clocks.find(({ id }) => id !== this.argument)?.id;
      if (!otherId) return this.#showMessage("You have only one clock. Fork it to compare the two.");
      const responses = await Promise.all([this.argument, otherId].map((id) => call("getTestClock", { id })));
      if (!isNewest()) return;
      const shown = responses.map(({ clock }) => clock);
      this.#clocks = [...shown, ...clocks.filter(({ id }) => !shown.some((clock) => clock.id === id))];
      this.#models = shown.map((clock) => parseClock(clock, null, readChecks(clock.id).opening));
      this.#drawChoice();
      this.#show();
      this.#watch();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (isNewest()) this.#showMessage(error.message);
    }
  }

  #watch() {
    this.#notice.element.hidden = true;
    this.#watchers = this.#models.map(({ id }, index) =>
      watchClock(id, {
        onClock: (clock) => this.#receive(clock, index),
        onError: (error) => this.#handleError(error, index),
        isPaused: () => performance.now() - this.#movedAt < DRAG_PAUSE_MS,
      }),
    );
  }

  #stopWatching() {
    for (const watcher of this.#watchers) watcher.stop();
    this.#watchers = [];
  }

  /** Show a clock that has changed elsewhere. The cursor stays where it is. */
  #receive(clock, index) {
    if (this.#isUnreachable) this.#notice.element.hidden = true;
    this.#isUnreachable = false;
    const before = this.#models[index];
    const isRenamed = clock.name !== before.name;
    if (parseInstant(clock.frozenTime) === before.now && scheduleKey(clock) === before.scheduleKey && !isRenamed)
      return;
    this.#models[index] = parseClock(clock, before);
    this.#clocks[index] = clock;
    if (isRenamed) this.#drawChoice();
    const hadFocus = this.#body.contains(document.activeElement);
    this.#show(this.#instant);
    if (hadFocus) this.slider.focus();
    notify(`“${clockName(clock)}” has changed.`);
  }

  /** Return whether polling continues. */
  #handleError(error, index) {
    if (!(error instanceof CallError)) throw error;
    if (error.reason === "UNAUTHENTICATED") return false;
    const isGone = ["CLOCK_NOT_FOUND", "CLOCK_EXPIRED"].includes(error.reason);
    this.#isUnreachable = !isGone;
    const problem = isGone ? `“${clockName(this.#models[index])}” was deleted or has expired.` : error.message;
    this.#notice.show(`${problem} You see the last known state.`);
    return !isGone;
  }

  #showMessage(message) {
    const retry = h("button", { onclick: () => this.#load() }, "Try again");
    render(this.#body, h("div", { class: "card row" }, h("p", { role: "alert" }, message), retry));
  }

  #open(first, second) {
    location.hash = `#/compare/${encodeURIComponent(first)}?with=${encodeURIComponent(second)}`;
  }

  #drawChoice() {
    const ids = this.#models.map(({ id }) => id);
    const select = (index) =>
      h(
        "select",
        {
          "aria-label": index ? "Second clock" : "First clock",
          onchange: ({ target }) => this.#open(...ids.with(index, target.value)),
        },
        this.#clocks.map((clock) =>
          h("option", { value: clock.id, selected: clock.id === ids[index] }, clockName(clock)),
        ),
      );
    const swap = h(
      "button",
      {
        class: "quiet icon-button",
        "aria-label": "Swap",
        title: "Swap",
        onclick: () => this.#open(ids[1], ids[0]),
      },
      icon("swap"),
    );
    render(this.choice, select(0), swap, select(1));
  }

  /** Show the name of a clock with the mark of its curve. */
  #clockLabel(index) {
    const name = clockName(this.#models[index]);
    return [h("span", { class: `curve-mark ${index ? "second" : "first"}`, "aria-hidden": "true" }), name];
  }

  /** Show both clocks with the cursor at an instant, or at the largest difference. */
  #show(instant) {
    const currencies = [...new Set(this.#models.flatMap((model) => model.currencies))];
    if (!currencies.includes(this.#currency)) this.#currency = currencies[0];
    if (!this.#currency) return this.#showMessage("These clocks have no transactions to compare.");
    const instants = this.#models.flatMap(({ start, now, times }) => [start, now, times.at(-1) ?? now]);
    this.#window = { from: startOfDay(Math.min(...instants)), to: endOfDay(Math.max(...instants) + 1) };
    this.comparison = compareBalances(this.#models, this.#currency);
    this.rules = this.#models.map((model) => balanceRules(readChecks(model.id).expectations, this.#currency, model));
    const { from, to } = this.#window;
    const { times, values } = this.comparison.delta;
    const largest = values.reduce((best, value, index) => (Math.abs(value) > Math.abs(values[best]) ? index : best), 0);
    this.#instant = Math.min(Math.max(instant ?? (largest ? times[largest - 1] : from), from), to);
    const label = (index) => this.#clockLabel(index);
    this.delta = new Figure("Difference", "headline");
    this.values = this.#models.map((_model, index) => new Figure(label(index), ""));
    this.svg = s("svg", { class: "plot", "aria-hidden": "true", focusable: "false" });
    this.slider = h("input", {
      type: "range",
      class: "scrubber",
      "aria-label": "Date to compare",
      oninput: () => this.#snapTo(from + Number(this.slider.value) * sliderStep(this.#window)),
    });
    for (const name of ["pointerdown", "pointermove"])
      this.svg.addEventListener(name, (event) => this.#followPointer(event));
    const chooser = segmentedButtons(
      "Currency",
      currencies.map((currency) => ({ text: currency })),
      (index) => {
        this.#currency = currencies[index];
        this.#show();
      },
    );
    chooser.press(currencies.indexOf(this.#currency));
    this.plot = h("div", {}, this.svg);
    render(
      this.#body,
      h(
        "dl",
        { class: "figures", "aria-label": "Balances at the cursor" },
        [this.delta, ...this.values].map(({ element }) => element),
      ),
      h(
        "section",
        { class: "card", "aria-labelledby": "compare-title" },
        h(
          "div",
          { class: "row card-header" },
          h("h2", { id: "compare-title" }, `${this.#currency} balance`),
          h(
            "ul",
            { class: "legend", "aria-label": "Legend" },
            legendItem("scheduled", "the same in both"),
            legendItem("preview", "difference"),
            this.rules.flat().length > 0 && [legendItem("forbidden", "not allowed"), legendItem("breaks", "broken")],
          ),
          currencies.length > 1 && chooser.element,
        ),
        this.plot,
        this.slider,
      ),
      h(
        "div",
        { class: "clock-columns" },
        sideBySide(this.comparison, this.#window, this.#currency, label),
        differenceList(this.#models, label),
      ),
    );
    this.#observer.disconnect();
    this.#observer.observe(this.plot);
    // The observer draws later, and the slider can move before that.
    this.#draw();
  }

  #draw() {
    const width = Math.floor(this.plot.clientWidth);
    if (!width) return;
    const options = { window: this.#window, currency: this.#currency, width, rules: this.rules };
    this.drawing = drawComparison(this.svg, this.comparison, options);
    const { left, right } = this.drawing;
    alignSlider(this.slider, this.#window, left, right - left);
    this.#moveTo(this.#instant);
  }

  #followPointer(event) {
    const { left, right } = this.drawing;
    const { from, to } = this.#window;
    const fraction = Math.min(Math.max((event.offsetX - left) / (right - left), 0), 1);
    this.#snapTo(from + fraction * (to - from));
  }

  #snapTo(instant) {
    this.#moveTo(snapToItem({ ...this.comparison.delta, now: -Infinity }, this.#window, instant));
  }

  /** Describe the balance at the cursor, and name the time of the clock. */
  #note({ now }) {
    return `${this.#instant > now ? "projected" : "posted"}, clock at ${formatDay(now)}`;
  }

  #moveTo(instant) {
    const { from, to } = this.#window;
    this.#movedAt = performance.now();
    this.#instant = Math.min(Math.max(instant, from), to);
    const [first, second] = [this.comparison.first, this.comparison.second].map((each) =>
      balanceAt(each, this.#instant),
    );
    const delta = balanceAt(this.comparison.delta, this.#instant);
    this.drawing.moveCursor(this.#instant);
    moveThumb(this.slider, this.#window, this.#instant, this.drawing.right - this.drawing.left);
    const end = (this.#instant - from) / (to - from);
    this.slider.style.setProperty("--now", 0);
    this.slider.style.setProperty("--end", end);
    this.slider.setAttribute(
      "aria-valuetext",
      `${spokenInstant(this.#instant)}, difference ${spokenMoney(delta, this.#currency)}`,
    );
    const name = clockName(this.#models[1]);
    this.delta.label.textContent = `Difference on ${formatDay(this.#instant)}`;
    this.delta.show(
      formatMoney(delta, this.#currency, { sign: "exceptZero" }),
      delta === 0 ? "The balances are equal" : `“${name}” has ${delta < 0 ? "less" : "more"}`,
    );
    [first, second].forEach((value, index) =>
      this.values[index].show(formatMoney(value, this.#currency), this.#note(this.#models[index]), {
        broken: value < 0,
      }),
    );
  }
}

customElements.define("tick-compare", ComparePage);
