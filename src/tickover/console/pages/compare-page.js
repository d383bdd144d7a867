// <tick-compare>: two clocks in one chart with the difference at the cursor.

import { legendItem } from "../chart/chart-paths.js";
import { drawComparison } from "../chart/compare-plot.js";
import { alignSlider, moveThumb, sliderStep, snapToItem } from "../chart/scrubber.js";
import { windowAround } from "../chart/time-axis.js";
import { loadClock } from "../clock/clock-calls.js";
import { balanceAt, parseClock, scheduleKey } from "../clock/clock-model.js";
import { clockName } from "../clock/clock-text.js";
import { compareBalances, firstViolation } from "../clock/compare-model.js";
import { balanceRules, smallestOf } from "../clock/expectations.js";
import { breadcrumb, card } from "../lib/card.js";
import { h, render, s } from "../lib/dom.js";
import { clocksLink, goneMessage, showFailure } from "../lib/failure.js";
import { select } from "../lib/form-fields.js";
import { formatDay, formatInstant, formatMoney, formatShortDay, spokenInstant, spokenMoney } from "../lib/format.js";
import { iconButton } from "../lib/icons.js";
import { DAY, parseInstant } from "../lib/instants.js";
import { Notice, notify } from "../lib/notification.js";
import { startPolling } from "../lib/poll.js";
import { CallError, call } from "../lib/rpc.js";
import { segmentedButtons } from "../lib/tabs.js";
import { Figure } from "./clock-figures.js";
import { differenceList, sideBySide } from "./compare-tables.js";

const MAX_CLOCKS = 100;
const DRAG_PAUSE_MS = 400; // polling waits this long after a move of the slider

/** Return the mark of a clock's curve. */
const curveMark = (index) => h("span", { class: `curve-mark ${index ? "second" : "first"}`, "aria-hidden": "true" });

/** Return the lists of clocks and a button that swaps them. `onChoose(ids)` gets the chosen clocks. */
function clockChoice(clocks, ids, onChoose) {
  const list = (index) =>
    select(
      clocks.map((clock) => [clock.id, clockName(clock)]),
      {
        value: ids[index],
        "aria-label": index ? "Second clock" : "First clock",
        onchange: ({ target }) => onChoose(ids.with(index, target.value)),
      },
    );
  const field = (index) => h("div.clock-choice", curveMark(index), list(index));
  const swap = iconButton("swap", "Swap", { onclick: () => onChoose(ids.toReversed()) });
  return [field(0), swap, field(1)];
}

class ComparePage extends HTMLElement {
  #clocks = [];
  #models = [];
  #currency = null;
  #instant = 0;
  #window = null;
  #loadCount = 0;
  #body = h("div.compare");
  #observer = new ResizeObserver(() => this.#draw());
  #notice = new Notice();
  #watchers = [];
  #movedAt = 0;
  #isUnreachable = false;

  connectedCallback() {
    render(
      this,
      h("header.row", breadcrumb(), h("h1", { tabIndex: -1 }, "Compare"), (this.choice = h("div.row.choice"))),
      this.#notice.element,
      this.#body,
    );
    render(this.#body, h("p.muted", "Loading the clocks…"));
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
      if (!otherId)
        return showFailure(this.#body, "You have only one clock. Fork it to compare the two.", [clocksLink()]);
      const shown = await Promise.all([this.argument, otherId].map((id) => loadClock(id)));
      if (!isNewest()) return;
      this.#clocks = [...shown, ...clocks.filter(({ id }) => !shown.some((clock) => clock.id === id))];
      this.#models = shown.map((clock) => parseClock(clock));
      this.#drawChoice();
      this.#show();
      this.#watch();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (isNewest()) this.#showError(error);
    }
  }

  #watch() {
    this.#notice.element.hidden = true;
    this.#watchers = this.#models.map(({ id }, index) =>
      startPolling((signal) => loadClock(id, { quiet: true, signal }), {
        onLoad: (clock) => this.#receive(clock, index),
        onError: (error) => this.#handleError(error, index),
        isBusy: () => performance.now() - this.#movedAt < DRAG_PAUSE_MS,
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

  #showError({ reason, message }) {
    const retry = h("button.primary", { onclick: () => this.#load() }, "Try again");
    const gone = goneMessage(reason);
    showFailure(this.#body, gone ?? message, [gone ? clocksLink() : retry]);
  }

  #drawChoice() {
    const ids = this.#models.map(({ id }) => id);
    render(
      this.choice,
      clockChoice(this.#clocks, ids, ([first, second]) => {
        location.hash = `#/compare/${encodeURIComponent(first)}?with=${encodeURIComponent(second)}`;
      }),
    );
  }

  /** Show the name of a clock with the mark of its curve. */
  #clockLabel(index) {
    return [curveMark(index), h("span.clock-label", clockName(this.#models[index]))];
  }

  #clockLink(index) {
    return h("a", { href: `#/clock/${encodeURIComponent(this.#models[index].id)}` }, this.#clockLabel(index));
  }

  /** Show both clocks with the cursor at an instant, or at the largest difference. */
  #show(instant) {
    const currencies = [...new Set(this.#models.flatMap((model) => model.currencies))];
    if (!currencies.includes(this.#currency)) this.#currency = currencies[0];
    if (!this.#currency)
      return showFailure(this.#body, "There is nothing to compare. These clocks have no transactions.", []);
    const windows = this.#models.map((model) => windowAround(model, model.now, 0));
    const [from, to] = [Math.min(...windows.map((each) => each.from)), Math.max(...windows.map((each) => each.to))];
    this.#window = { from, to };
    this.comparison = compareBalances(this.#models, this.#currency);
    this.rules = this.#models.map((model) => balanceRules(model, { currency: this.#currency }));
    this.#instant = instant ?? this.comparison.largestAt;
    this.delta = new Figure("Difference");
    this.values = this.#models.map((_model, index) => new Figure(this.#clockLink(index)));
    const figures = [this.delta, ...this.values].map(({ element }) => element);
    const label = (index) => this.#clockLabel(index);
    this.about = { window: this.#window, currency: this.#currency, rules: this.rules };
    render(
      this.#body,
      h("dl.figures", { "aria-label": "Balances at the cursor" }, figures),
      this.#chart(currencies),
      h(
        "div.clock-columns",
        sideBySide(this.#models, this.comparison, this.about, label),
        differenceList(this.#models, label),
      ),
    );
    this.#observer.disconnect();
    this.#observer.observe(this.plot);
    // The observer draws later, and the slider can move before that.
    this.#draw();
  }

  /** Create the chart with its slider, its legend and the choice of a currency. */
  #chart(currencies) {
    this.jumps = this.#jumpButtons();
    this.svg = s("svg.plot", { "aria-hidden": "true", focusable: "false" });
    this.slider = h("input.scrubber", {
      type: "range",
      "aria-label": "Date to compare",
      oninput: () => this.#snapTo(this.#window.from + Number(this.slider.value) * sliderStep(this.#window)),
    });
    for (const name of ["pointerdown", "pointermove"])
      this.svg.addEventListener(name, (event) => this.#followPointer(event));
    this.plot = h("div", this.svg);
    const chooser = currencies.length > 1 && this.#currencyChooser(currencies);
    const aside = [this.#legend(), h("div.row.controls", this.jumps?.element, chooser)];
    return card({ title: `${this.#currency} balance`, aside }, this.plot, this.slider);
  }

  #legend() {
    const { balances, differsFrom, from } = this.comparison;
    const isViolated = this.rules.some((rules, index) => firstViolation(balances[index], rules) < Infinity);
    return h(
      "ul.legend",
      { "aria-label": "Legend" },
      [0, 1].map((index) => h("li", this.#clockLabel(index))),
      differsFrom > from && legendItem("scheduled", "same in both"),
      differsFrom < Infinity && legendItem("preview", "difference"),
      this.rules.flat().length > 0 && legendItem("forbidden", this.#forbiddenText()),
      isViolated && legendItem("violation"),
    );
  }

  /** Name the clock that has all bounds, if the other one has fewer. */
  #forbiddenText() {
    const bounds = this.rules.map((rules) => rules.map(({ atLeast, atMost }) => `${atLeast} ${atMost}`));
    const strict = [0, 1].filter((index) => bounds[1 - index].every((bound) => bounds[index].includes(bound)));
    return strict.length === 1 ? `not allowed in ${clockName(this.#models[strict[0]])}` : "not allowed";
  }

  #currencyChooser(currencies) {
    const chooser = segmentedButtons(
      "Currency",
      currencies.map((currency) => ({ text: currency })),
      (index) => {
        this.#currency = currencies[index];
        this.#show();
      },
    );
    chooser.press(currencies.indexOf(this.#currency));
    return chooser.element;
  }

  /** Return buttons that move the cursor to the instants at which something changes, or null if nothing differs. */
  #jumpButtons() {
    const { differsFrom, largestAt } = this.comparison;
    if (differsFrom === Infinity) return null;
    const last = Math.max(...this.#models.map(({ now, times }) => times.at(-1) ?? now));
    const jumps = [
      { text: "First difference", at: differsFrom },
      { text: "Largest", title: "Largest difference", at: largestAt },
      { text: "Last event", at: last },
    ];
    const buttons = segmentedButtons("Go to", jumps, (index) => this.#moveTo(jumps[index].at));
    return {
      element: buttons.element,
      // Of equal instants, the largest difference counts.
      mark: (instant) => buttons.press([1, 0, 2].find((index) => jumps[index].at === instant) ?? -1),
    };
  }

  #draw() {
    const width = Math.floor(this.plot.clientWidth);
    if (!width) return;
    const clocks = this.#models.map(clockName);
    this.drawing = drawComparison(this.svg, this.comparison, { ...this.about, width, clocks });
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

  /** Show the balance of a clock at the cursor, and the time of the clock. */
  #showBalance(index) {
    const [figure, { now }, start] = [this.values[index], this.#models[index], this.comparison.starts[index]];
    if (this.#instant < start) return figure.show("–", `starts on ${formatDay(start)}`);
    const value = balanceAt(this.comparison.balances[index], this.#instant);
    const { from, to } = this.#window;
    const formatNow = to - from > 366 * DAY ? formatDay : formatShortDay;
    const note = `${this.#instant > now ? "scheduled" : "posted"}, now ${formatNow(now)}`;
    return figure.show(formatMoney(value, this.#currency), note, {
      low: value < smallestOf(this.rules[index], this.#instant),
    });
  }

  #showDifference() {
    const { delta, from, starts, largestAt, differsFrom } = this.comparison;
    const isLargest = this.#instant === largestAt && differsFrom !== Infinity;
    const time = formatInstant(this.#instant);
    this.delta.label.textContent = isLargest ? `Largest difference, on ${time}` : `Difference on ${time}`;
    if (this.#instant < from) {
      const name = clockName(this.#models[starts.indexOf(from)]);
      this.delta.show("–", `“${name}” starts on ${formatDay(from)}`);
      return `“${name}” has not started`;
    }
    const value = balanceAt(delta, this.#instant);
    this.delta.show(
      formatMoney(value, this.#currency, { sign: "exceptZero" }),
      value === 0 ? "The balances are equal" : `“${clockName(this.#models[1])}” has ${value < 0 ? "less" : "more"}`,
    );
    return `difference ${spokenMoney(value, this.#currency)}`;
  }

  #moveTo(instant) {
    this.#movedAt = performance.now();
    // The window begins with a day, and a clock can start later on it.
    this.#instant = Math.min(Math.max(instant, Math.min(...this.comparison.starts)), this.#window.to);
    this.drawing.moveCursor(this.#instant);
    moveThumb(this.slider, this.#window, this.#instant, this.drawing.right - this.drawing.left);
    this.jumps?.mark(this.#instant);
    this.#showBalance(0);
    this.#showBalance(1);
    this.slider.setAttribute("aria-valuetext", `${spokenInstant(this.#instant)}, ${this.#showDifference()}`);
  }
}

customElements.define("tick-compare", ComparePage);
