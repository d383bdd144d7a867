// <tick-timeline>: the balance of each account or currency, the items of a clock in lanes, and the scrubber.
// The plot is redrawn only if the clock, the width or the window changes. A moving scrubber updates only the preview.

import { countUntil, curvesOf } from "../clock/clock-model.js";
import { plural } from "../clock/clock-text.js";
import { h, render, s } from "../lib/dom.js";
import { select } from "../lib/form-fields.js";
import { formatDay, formatInstant } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { listenToShortcuts } from "../lib/shortcuts.js";
import { segmentedButtons } from "../lib/tabs.js";
import { legendItem } from "./chart-paths.js";
import { monthlyTable } from "./monthly-table.js";
import { PlotTooltip } from "./plot-tooltip.js";
import { clampToClock, Scrubber, snapToItem, TIME_STEPS } from "./scrubber.js";
import { clampWindow, panWindow, windowAround, ZOOMS, zoomWindow } from "./time-axis.js";
import { listenToGestures } from "./timeline-gestures.js";
import { MAX_PLOTS, NARROW } from "./timeline-layout.js";
import { drawTimeline, rootFontScale } from "./timeline-plot.js";

const ALL = ZOOMS.length - 1;
const ZOOM_KEYS = { "+": 1 / 1.5, "=": 1 / 1.5, "-": 1.5 };
const BOTTOM_MARGIN = 8;
const [ALL_ACCOUNTS, TOTALS] = ["all:", "totals:"]; // no key of an account has a colon
const PAN_KEYS = { ArrowLeft: -0.2, ArrowRight: 0.2 };

export class Timeline extends HTMLElement {
  #model = null;
  #results = null;
  #tracks = new Map(); // of ranges, by their labels
  #shown = ALL_ACCOUNTS; // or TOTALS, or the key of an account
  #instant = 0;
  #window = null;
  #zoom = ALL;
  #width = 0;
  #space = 0;
  #allPlots = false;
  #frame = 0;
  #fontScale = 1;

  constructor() {
    super();
    this.scrubber = new Scrubber({
      onPreview: (instant) => this.#requestPreview(instant),
      onAdvance: (instant) => this.dispatchEvent(new CustomEvent("advance", { detail: instant })),
      onEdge: (direction) => this.#moveWindow(direction),
    });
    this.measure = () => this.#measure();
    this.observer = new ResizeObserver(this.measure);
  }

  connectedCallback() {
    if (!this.plot) this.#build();
    this.observer.observe(this.plot);
    addEventListener("resize", this.measure);
    this.stopShortcuts = listenToShortcuts((event) => this.#runShortcut(event));
  }

  /** Read the width of the plot, and the height that the window has for it. */
  #measure() {
    const width = this.plot.clientWidth;
    if (!width) return;
    const [plot, card] = [this.plot, this].map((element) => element.getBoundingClientRect());
    // A phone has no height to spare, and its chart comes before the controls.
    const isNarrow = width < NARROW;
    const space = isNarrow ? 0 : innerHeight - (plot.top + scrollY) - (card.bottom - plot.bottom) - BOTTOM_MARGIN;
    if (width === this.#width && space === this.#space) return;
    [this.#width, this.#space, this.#fontScale] = [width, space, rootFontScale()];
    const parent = isNarrow ? this : this.legend.parentElement;
    if (this.controls.parentElement !== parent) parent.append(this.controls);
    this.#draw();
  }

  #build() {
    this.zooms = segmentedButtons(
      "Zoom",
      ZOOMS.map(({ name, label }) => ({ text: label, title: name })),
      (index) => this.#zoomTo(index),
    );
    this.svg = s("svg.plot", { role: "img", focusable: "false" });
    this.tooltip = new PlotTooltip();
    this.addButton = h(
      "button.primary.add-here",
      { hidden: true, onclick: () => this.#requestItem(this.#instant) },
      icon("add"),
    );
    this.plot = h("div.plot-box", this.svg, this.addButton, this.tooltip.element);
    this.moreButton = h("button.plain", { onclick: () => this.#toggleAllPlots() });
    const label = "Timeline as a table";
    this.table = h("div.chart-table", { hidden: true, tabindex: "0", role: "region", "aria-label": label });
    this.tableButton = h("button.quiet.icon-button.table-toggle", { onclick: () => this.#toggleTable() });
    this.#labelTableButton();
    this.legend = h("ul.legend", { "aria-label": "Legend" });
    render(
      this,
      h(
        "div.row.card-header",
        (this.heading = h("h2", { id: "timeline-title" })),
        (this.choice = h("select", { "aria-label": "Show", onchange: () => this.show(this.choice.value) })),
        this.moreButton,
        this.legend,
        (this.controls = h("div.row.controls", this.scrubber.goTo, this.zooms.element, this.tableButton)),
      ),
      this.plot,
      this.table,
    );
    listenToGestures(this.svg, {
      toInstant: (offsetX) => this.#toInstant(offsetX),
      onPreview: (instant) => {
        this.tooltip.hide();
        this.#requestPreview(this.#snap(instant));
      },
      onHover: (event) => this.#hover(event),
      onMove: (factor, instant, pixels) => this.#moveWindowBy(factor, pixels / this.#plotWidth(), instant),
    });
    this.svg.addEventListener("pointerleave", () => this.tooltip.hide());
    this.svg.addEventListener("dblclick", () => this.#requestItem(this.#instant));
  }

  disconnectedCallback() {
    this.observer.disconnect();
    removeEventListener("resize", this.measure);
    this.stopShortcuts();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  /** Take a clock in a new state. The checks that follow draw it. */
  setModel(model, instant) {
    this.#model = model;
    this.#instant = instant;
    this.scrubber.setModel(model);
    this.heading.textContent = model.balances.length || !model.goals.length ? "Balance" : "Contributions";
    this.choice.hidden = model.accounts.length < 2;
    const options = [[ALL_ACCOUNTS, "All accounts"], ...model.accounts.map(({ key, name }) => [key, name]), [TOTALS, "Totals"]]; // biome-ignore format: one line
    if (this.choice.children.length !== options.length) this.choice.replaceChildren(...select(options).children);
    this.choice.value = this.#shown;
    if (!this.#window || !this.#isVisible(instant) || this.#zoom === ALL)
      this.#window = windowAround(model, instant, ZOOMS[this.#zoom]?.months, this.#window);
    if (!this.table.hidden) render(this.table, monthlyTable(model));
  }

  /** Show the curves of all accounts, of one of them, or of the currencies. */
  show(choice) {
    this.#shown = this.choice.value = choice;
    this.#draw();
  }

  #curves() {
    const { balances, accountBalances } = this.#model;
    if (this.#shown === TOTALS) return balances;
    return this.#shown === ALL_ACCOUNTS
      ? curvesOf(this.#model)
      : accountBalances.filter(({ account }) => account === this.#shown);
  }

  #toggleAllPlots() {
    this.#allPlots = !this.#allPlots;
    this.#draw();
  }

  #drawMoreButton() {
    const { length } = this.#curves();
    const noun = this.#model.accounts.length ? "accounts" : "currencies";
    this.moreButton.hidden = length <= MAX_PLOTS || !this.table.hidden;
    this.moreButton.textContent = this.#allPlots ? `Fewer ${noun}` : `+${length - MAX_PLOTS} more ${noun}`;
  }

  /** Show the results of the check of the expectations, which are null until the server responds. */
  setResults(results) {
    this.#results = results;
    this.#drawLegend();
    this.#draw();
  }

  /** Show ranges `{ from, to, title }` in a strip with a label, or no strip if there are none. */
  setTrack(label, ranges) {
    if (ranges.length) this.#tracks.set(label, { label, ranges });
    else this.#tracks.delete(label);
    this.#draw();
  }

  preview(instant, spokenText) {
    this.#instant = instant;
    if (!this.#isVisible(instant)) {
      this.#window = windowAround(this.#model, instant, ZOOMS[this.#zoom]?.months, this.#window);
      this.#draw();
    }
    this.scrubber.preview(instant, spokenText);
    this.#drawPreview();
  }

  #isVisible(instant) {
    return instant >= this.#window.from && instant <= this.#window.to;
  }

  #requestPreview(instant) {
    this.#instant = instant;
    this.dispatchEvent(new CustomEvent("preview", { detail: instant }));
  }

  #zoomTo(index) {
    this.#zoom = index;
    this.#window = windowAround(this.#model, this.#instant, ZOOMS[index].months);
    this.#draw();
  }

  /** Zoom around an instant, and pan by a fraction of the window. Several events of a gesture in one frame draw it once. */
  #moveWindowBy(factor, fraction, instant = this.#instant) {
    this.#zoom = -1;
    this.#window = clampWindow(this.#model, panWindow(zoomWindow(this.#window, instant, factor), fraction));
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** Move the window by half its length, or extend the window of "All" by a quarter. */
  #moveWindow(direction) {
    const { from, to } = this.#window;
    const isWhole = this.#zoom === ALL;
    if (direction > 0 ? to >= this.#model.maxTime : isWhole || from <= this.#model.start) return;
    if (isWhole) this.#window = { from, to: Math.min(this.#model.maxTime, to + (to - from) / 4) };
    else this.#window = clampWindow(this.#model, panWindow(this.#window, direction / 2));
    this.#draw();
  }

  #draw() {
    if (!this.#model || !this.#width) return;
    this.tooltip.hide();
    this.#drawMoreButton();
    this.drawing = drawTimeline(this.svg, this.scrubber.axis, {
      model: this.#model,
      curves: this.#curves(),
      results: this.#results,
      tracks: [...this.#tracks.values()],
      window: this.#window,
      width: this.#width,
      space: this.#space,
      fontScale: this.#fontScale,
      showsAll: this.#allPlots,
    });
    const { left, right, fontScale } = this.drawing.box;
    this.svg.setAttribute("aria-label", this.#summary());
    this.zooms.press(this.#zoom);
    this.scrubber.align(this.#window, left * fontScale, !this.plot.hidden && (right - left) * fontScale);
    this.#drawPreview();
  }

  #drawPreview() {
    this.previewKey.hidden = this.#instant === this.#model.now;
    const pill = this.drawing?.preview(this.#instant);
    this.addButton.hidden = !pill || this.#instant < this.#model.now;
    if (this.addButton.hidden) return;
    this.addButton.style.left = `${(pill.to + 4) * this.drawing.box.fontScale}px`;
    this.addButton.title = `Add event on ${formatInstant(this.#instant)}`;
    this.addButton.setAttribute("aria-label", this.addButton.title);
  }

  /** Ask the page to add an item. Time only moves forward, so it is not before now. */
  #requestItem(instant) {
    this.dispatchEvent(new CustomEvent("additem", { detail: Math.max(instant, this.#model.now) }));
  }

  #drawLegend() {
    this.legend.hidden = !this.#model.items.length || !this.table.hidden;
    render(
      this.legend,
      legendItem("past", "posted"),
      legendItem("scheduled"),
      legendItem("forbidden", "not allowed"),
      this.#results?.some(({ ok }) => !ok) && legendItem("violation"),
      (this.previewKey = legendItem("preview")),
    );
  }

  #summary() {
    const { items, times, currencies, now } = this.#model;
    const posted = countUntil(times, now);
    return (
      `Timeline from ${formatDay(this.#window.from)} to ${formatDay(this.#window.to)}. The clock is at ${formatInstant(now)}. ` +
      `${posted} of ${plural(items.length, "event")} posted. ${currencies.length ? `Balance in ${currencies.join(", ")}. ` : ""}` +
      "The table has the same data."
    );
  }

  #toggleTable() {
    const asTable = this.table.hidden;
    this.table.hidden = !asTable;
    this.plot.hidden = asTable;
    this.scrubber.axis.toggleAttribute("hidden", asTable);
    this.#labelTableButton();
    render(this.table, asTable && monthlyTable(this.#model));
    this.#drawLegend();
    this.#draw();
  }

  #labelTableButton() {
    const other = this.table.hidden ? "table" : "chart";
    this.tableButton.title = this.tableButton.ariaLabel = `View as ${other}`;
    render(this.tableButton, icon(other));
  }

  /** Run the shortcut of a key. Return whether there is one. */
  #runShortcut({ key, shiftKey, target }) {
    const step = TIME_STEPS.find((candidate) => candidate.key === key.toLowerCase());
    if (step) this.scrubber.move(step, { advances: shiftKey });
    else if (key === "0" || key === "Escape") this.#requestPreview(this.#model.now);
    else if (key in ZOOM_KEYS) this.#moveWindowBy(ZOOM_KEYS[key], 0);
    else if (shiftKey && key in PAN_KEYS && this.contains(target)) this.#moveWindowBy(1, PAN_KEYS[key]);
    else if (key === "g") this.scrubber.field.focus();
    else if (key === "a") this.#requestItem(this.#instant);
    else if (key === "Enter") this.dispatchEvent(new CustomEvent("advance", { detail: null }));
    else return false;
    return true;
  }

  #plotWidth() {
    const { left, right, fontScale } = this.drawing.box;
    return (right - left) * fontScale;
  }

  #toInstant(offsetX) {
    const { left, right, fontScale } = this.drawing.box;
    const { from, to } = this.#window;
    const fraction = (offsetX / fontScale - left) / (right - left);
    return from + Math.min(Math.max(fraction, 0), 1) * (to - from);
  }

  #snap(instant) {
    return clampToClock(this.#model, snapToItem(this.#model, this.#window, instant));
  }

  #hover({ offsetX, offsetY }) {
    if (!this.drawing) return;
    const instant = this.#snap(this.#toInstant(offsetX));
    const model = { ...this.#model, preview: this.#instant };
    this.tooltip.show(this.drawing, { offsetX, offsetY, instant, model });
  }
}

customElements.define("tick-timeline", Timeline);
