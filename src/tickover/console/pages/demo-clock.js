// <tick-demo>: a moving clock on the sign-in page. It shows an included scenario and stores nothing.

import { legendItem } from "../chart/chart-paths.js";
import { windowAround } from "../chart/time-axis.js";
import { drawTimeline } from "../chart/timeline-plot.js";
import { balanceAt, parseParams } from "../clock/clock-model.js";
import { firstViolation } from "../clock/expectations.js";
import { h, render, s } from "../lib/dom.js";
import { formatDay, formatMoney, formatShortDay } from "../lib/format.js";
import { icon, stateBadge } from "../lib/icons.js";
import { DAY, startOfDay } from "../lib/instants.js";
import { loadScenarios } from "../lib/rpc.js";

const SCENARIO = "tight-month"; // its first expectation is violated in the second month
const DAY_MS = 110; // time on the screen for each simulated day
const HEAD_START = 0.1; // the part of the schedule that has happened at the start

class DemoClock extends HTMLElement {
  #model = null;
  #instant = 0;
  #drawing = null;
  #width = 0;
  #frame = 0;
  #steppedAt = 0;
  #observer = new ResizeObserver(([entry]) => {
    this.#width = Math.floor(entry.contentRect.width);
    this.#draw();
  });

  async connectedCallback() {
    let scenario;
    try {
      scenario = (await loadScenarios()).find(({ name }) => name === SCENARIO);
    } catch {
      // The sign-in form works without the demo.
    }
    if (!scenario || !this.isConnected) return;
    const [expectation] = scenario.params.expectations;
    const model = parseParams({ ...scenario.params, expectations: [expectation] });
    this.#model = model;
    this.scenario = scenario;
    this.end = model.times.at(-1);
    // The start of the model stays at the start of the scenario.
    model.now = startOfDay(model.start + (this.end - model.start) * HEAD_START);
    this.#instant = startOfDay((model.now + this.end) / 2);
    this.violatedAt = firstViolation(model, expectation);
    this.#build();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.#instant = model.now;
    this.#play();
  }

  disconnectedCallback() {
    this.#pause();
    this.#observer.disconnect();
  }

  #build() {
    this.date = h("dd.figure-value.preview-text");
    this.balance = h("dd");
    this.result = h("dd.figure-value");
    this.svg = s("svg.plot", { role: "img", focusable: "false", "aria-label": "A chart of the demo's balance" });
    this.button = h("button", { onclick: () => (this.#frame ? this.#pause() : this.#play()) });
    this.axis = s("svg.time-axis", { "aria-hidden": "true", focusable: "false" });
    const plot = h("div.plot-box", this.svg, this.axis);
    const [currency] = this.#model.currencies;
    const figure = (label, value) => h("div.figure", h("dt", label), value);
    render(
      this,
      h("div.demo-header", h("span.chip", "Demo"), h("h2", this.scenario.title), this.button),
      h(
        "dl",
        figure("Preview date", this.date),
        figure(`${currency} balance`, this.balance),
        figure(`Never below ${formatMoney(0, currency)}`, this.result),
      ),
      h(
        "ul.legend",
        { "aria-label": "Legend" },
        legendItem("past", "posted"),
        legendItem("scheduled"),
        legendItem("forbidden", "not allowed"),
        legendItem("violation"),
        legendItem("preview"),
      ),
      plot,
      h("p", "The repair takes the balance below zero. Month-end figures don't show it."),
    );
    this.#labelButton();
    this.#observer.observe(plot);
  }

  #labelButton() {
    if (this.button) render(this.button, icon(this.#frame ? "pause" : "play"), this.#frame ? "Pause" : "Play");
  }

  #draw() {
    if (!this.#width) return;
    const window = windowAround(this.#model, this.#model.now, 0);
    this.#drawing = drawTimeline(this.svg, this.axis, { model: this.#model, window, width: this.#width });
    this.#show();
  }

  #show() {
    this.#drawing?.preview(this.#instant);
    const [balance] = this.#model.balances;
    this.date.textContent = formatDay(this.#instant);
    const value = balanceAt(balance, this.#instant);
    this.balance.className = `figure-value ${value < 0 ? "below-zero" : "preview-text"}`;
    this.balance.textContent = formatMoney(value, balance.currency);
    this.#showResult(this.#instant >= this.violatedAt);
  }

  #showResult(isViolated) {
    const state = isViolated ? "will be violated" : "will hold";
    if (this.result.dataset.state === state) return;
    this.result.dataset.state = state;
    const text = isViolated ? `Violation ${formatShortDay(this.violatedAt)}` : "Holds so far";
    render(this.result, stateBadge(state), text);
  }

  #play() {
    const step = (time) => {
      this.#frame = requestAnimationFrame(step);
      if (time - this.#steppedAt < DAY_MS) return;
      this.#steppedAt = time;
      this.#instant = this.#instant >= this.end ? this.#model.now : this.#instant + DAY;
      this.#show();
    };
    this.#frame = requestAnimationFrame(step);
    this.#labelButton();
  }

  #pause() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#labelButton();
  }
}

customElements.define("tick-demo", DemoClock);
