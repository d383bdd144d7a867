// <tick-compare>: two clocks in one chart with the difference at the cursor.

import { readChecks } from "./clock-checks.js";
import { Figure } from "./clock-figures.js";
import { balanceAt, lowestPoint, parseClock } from "./clock-model.js";
import { clockName } from "./clock-names.js";
import { plural, signedAmount } from "./clock-text.js";
import { compareBalances, drawComparison } from "./compare-plot.js";
import { h, render, s } from "./dom.js";
import { formatDay, formatInstant, formatMoney, spokenInstant, spokenMoney } from "./format.js";
import { icon } from "./icons.js";
import { endOfDay, startOfDay } from "./instants.js";
import { call, RpcError, ServerUnavailable } from "./rpc.js";
import { sliderStep } from "./scrubber.js";
import { segmentedButtons } from "./segmented-buttons.js";

const MAX_CLOCKS = 100;
const MAX_DIFFERENCES = 12;
const THUMB_WIDTH = 22; // as in scrubber.css

/**
 * Return what only the first or only the second clock has: `{ item, owner, count }`. Equal items at several times count
 * together. Forks have items with other ids.
 */
function findDifferences(models) {
  const keyOf = ({ at, kind, name, amount, currency }, ...more) =>
    JSON.stringify([at, kind, name, amount, currency, ...more]);
  const onlyIn = (model, other, owner) => {
    const counts = new Map();
    for (const item of other.items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
    return model.items.flatMap((item) => {
      const left = counts.get(keyOf(item)) ?? 0;
      counts.set(keyOf(item), left - 1);
      return left > 0 ? [] : [{ item, owner }];
    });
  };
  const [first, second] = models;
  const groups = new Map();
  for (const { item, owner } of [...onlyIn(first, second, 0), ...onlyIn(second, first, 1)]) {
    const key = keyOf({ ...item, at: null }, owner);
    if (!groups.has(key)) groups.set(key, { item, owner, count: 0 });
    groups.get(key).count += 1;
  }
  return [...groups.values()].sort((left, right) => left.item.at - right.item.at);
}

class ComparePage extends HTMLElement {
  #clocks = [];
  #models = [];
  #currency = null;
  #instant = 0;
  #window = null;
  #body = h("div", { class: "compare" });
  #observer = new ResizeObserver(() => this.#draw());

  connectedCallback() {
    render(
      this,
      h(
        "header",
        { class: "row heading" },
        h("h1", { tabIndex: -1 }, "Compare"),
        (this.choice = h("div", { class: "row choice" })),
      ),
      this.#body,
    );
    render(this.#body, h("p", { class: "muted" }, "Loading the clocks…"));
    this.#load();
  }

  disconnectedCallback() {
    this.#observer.disconnect();
  }

  queryChanged() {
    this.#load();
  }

  async #load() {
    try {
      const { clocks } = await call("listTestClocks", { limit: MAX_CLOCKS }, { quiet: true });
      const otherId = this.query.get("with") ?? clocks.find(({ id }) => id !== this.argument)?.id;
      if (!otherId) return this.#showMessage("You have only one clock. Fork it to compare the two.");
      const responses = await Promise.all([this.argument, otherId].map((id) => call("getTestClock", { id })));
      if (!this.isConnected) return;
      const shown = responses.map(({ clock }) => clock);
      this.#clocks = [...shown, ...clocks.filter(({ id }) => !shown.some((clock) => clock.id === id))];
      this.#models = shown.map((clock) => parseClock(clock, null, readChecks(clock.id).opening));
      this.#show();
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ServerUnavailable)) throw error;
      if (this.isConnected) this.#showMessage(error.message);
    }
  }

  #showMessage(message) {
    const retry = h("button", { type: "button", onclick: () => this.#load() }, "Try again");
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
        type: "button",
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

  #show() {
    const currencies = [...new Set(this.#models.flatMap((model) => model.currencies))];
    if (!currencies.includes(this.#currency)) this.#currency = currencies[0];
    this.#drawChoice();
    if (!this.#currency) return this.#showMessage("These clocks have no transactions to compare.");
    const instants = this.#models.flatMap(({ start, now, times }) => [start, now, times.at(-1) ?? now]);
    this.#window = { from: startOfDay(Math.min(...instants)), to: endOfDay(Math.max(...instants) + 1) };
    this.comparison = compareBalances(this.#models, this.#currency);
    const { from, to } = this.#window;
    // The largest difference is the most interesting.
    const { times, values } = this.comparison.delta;
    const largest = values.reduce((best, value, index) => (Math.abs(value) > Math.abs(values[best]) ? index : best), 0);
    this.#instant = Math.min(Math.max(largest ? times[largest - 1] : from, from), to);
    this.delta = new Figure("Difference", "headline");
    this.values = this.#models.map((_model, index) => new Figure(this.#clockLabel(index), ""));
    this.svg = s("svg", { class: "plot", "aria-hidden": "true", focusable: "false" });
    this.slider = h("input", {
      type: "range",
      class: "scrubber",
      "aria-label": "Date to compare",
      oninput: () => this.#moveTo(from + Number(this.slider.value) * sliderStep(this.#window)),
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
          currencies.length > 1 && chooser.element,
        ),
        this.plot,
        this.slider,
      ),
      h("div", { class: "clock-columns" }, this.#sideBySide(), this.#differences()),
    );
    this.#observer.disconnect();
    this.#observer.observe(this.plot);
  }

  #draw() {
    const width = Math.floor(this.plot.clientWidth);
    if (!width) return;
    const options = { window: this.#window, currency: this.#currency, width };
    this.drawing = drawComparison(this.svg, this.comparison, options);
    const { left, right } = this.drawing;
    const { from, to } = this.#window;
    Object.assign(this.slider, { min: 0, max: Math.ceil((to - from) / sliderStep(this.#window)), step: 1 });
    this.slider.style.marginLeft = `${left - THUMB_WIDTH / 2}px`;
    this.slider.style.width = `${right - left + THUMB_WIDTH}px`;
    this.#moveTo(this.#instant);
  }

  #followPointer(event) {
    const { left, right } = this.drawing;
    const { from, to } = this.#window;
    const fraction = Math.min(Math.max((event.offsetX - left) / (right - left), 0), 1);
    const step = sliderStep(this.#window);
    this.#moveTo(from + Math.round((fraction * (to - from)) / step) * step);
  }

  #moveTo(instant) {
    const { from, to } = this.#window;
    this.#instant = Math.min(Math.max(instant, from), to);
    const [first, second] = [this.comparison.first, this.comparison.second].map((each) =>
      balanceAt(each, this.#instant),
    );
    const delta = balanceAt(this.comparison.delta, this.#instant);
    this.drawing.moveCursor(this.#instant);
    this.slider.value = Math.round((this.#instant - from) / sliderStep(this.#window));
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
      this.values[index].show(formatMoney(value, this.#currency), `now at ${formatInstant(this.#models[index].now)}`, {
        broken: value < 0,
      }),
    );
  }

  #sideBySide() {
    const { first, second } = this.comparison;
    const { from, to } = this.#window;
    const money = (value) => formatMoney(value, this.#currency);
    const lowest = [first, second].map((balance) => lowestPoint(balance, from, to));
    const last = [first, second].map((balance) => balance.values.at(-1));
    const cell = (value, note) =>
      h("td", { class: `number${value < 0 ? " below-zero" : ""}` }, money(value), note && h("small", {}, note));
    const row = (title, values, notes = []) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, title),
        values.map((value, index) => cell(value, notes[index])),
      );
    return h(
      "section",
      { class: "card", "aria-labelledby": "side-by-side-title" },
      h("div", { class: "row card-header" }, h("h2", { id: "side-by-side-title" }, "Side by side")),
      h(
        "table",
        { class: "data" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td"),
            [0, 1].map((index) => h("th", { scope: "col", class: "number" }, this.#clockLabel(index))),
          ),
        ),
        h(
          "tbody",
          {},
          row(
            "Lowest balance",
            lowest.map(({ value }) => value),
            lowest.map(({ at }) => formatDay(at)),
          ),
          row("After everything", last),
        ),
      ),
    );
  }

  #differences() {
    const differences = findDifferences(this.#models);
    const rest = differences.length - MAX_DIFFERENCES;
    const total = differences.reduce((sum, { count }) => sum + count, 0);
    return h(
      "section",
      { class: "card", "aria-labelledby": "differences-title" },
      h(
        "div",
        { class: "row card-header" },
        h("h2", { id: "differences-title" }, "What differs"),
        h("span", { class: "muted" }, plural(total, "item")),
      ),
      differences.length === 0 && h("p", { class: "muted" }, "Both clocks have the same items."),
      h(
        "ul",
        { class: "differences", "aria-labelledby": "differences-title" },
        differences
          .slice(0, MAX_DIFFERENCES)
          .map(({ item, owner, count }) =>
            h(
              "li",
              {},
              h("strong", {}, item.name),
              h("span", { class: "number" }, signedAmount(item)),
              h("span", { class: "muted" }, `${count > 1 ? `${count} times, from ` : ""}${formatDay(item.at)}`),
              h("span", { class: "chip" }, "only in ", this.#clockLabel(owner)),
            ),
          ),
      ),
      rest > 0 && h("p", { class: "muted" }, `and ${rest} more`),
    );
  }
}

customElements.define("tick-compare", ComparePage);
