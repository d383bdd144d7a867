// <tick-timeline>: the items of a clock in lanes, a net-flow curve per currency, and the scrubber.
// The plot is redrawn only if the clock, the width or the window changes. A moving scrubber updates only the preview.

import { Curve, LANE_HEIGHT, LANES, Lane, scale } from "./chart.js";
import { monthlyTable } from "./clock-tables.js";
import { plural, signedAmount } from "./clock-text.js";
import { h, render, s } from "./dom.js";
import { formatDay, formatInstant } from "./format.js";
import { DAY, startOfDay } from "./instants.js";
import { clampToClock, Scrubber, sliderStep, TIME_STEPS } from "./scrubber.js";
import { axisTicks, drawAxis, windowAround, ZOOMS } from "./time-axis.js";

const MAX_CURVES = 6;
const [TOP, RIGHT, AXIS] = [22, 14, 24];
const SHORTCUTS = `Keys in the timeline: ${TIME_STEPS.map(({ key, label }) => `${key} ${label}`).join(", ")}, 0 back to now.`;

export class Timeline extends HTMLElement {
  #model = null;
  #instant = 0;
  #window = null;
  #zoom = ZOOMS.length - 1;
  #width = 0;
  #fontScale = 1;
  #allCurves = false;
  #parts = [];

  constructor() {
    super();
    this.scrubber = new Scrubber({
      onPreview: (instant) => this.#requestPreview(instant),
      onEdge: (direction) => this.#moveWindow(direction),
    });
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width === this.#width || width === 0) return;
      this.#width = width;
      this.#draw();
    });
  }

  connectedCallback() {
    if (this.plot) {
      this.observer.observe(this.plot);
      return;
    }
    this.zoomButtons = ZOOMS.map((zoom, index) =>
      h("button", { type: "button", onclick: () => this.#zoomTo(index) }, zoom.name),
    );
    this.svg = s("svg", { class: "plot", role: "img", focusable: "false" });
    this.tooltip = h("p", { class: "tooltip", "aria-hidden": "true", hidden: true });
    this.plot = h("div", { class: "plot-box" }, this.svg, this.tooltip);
    this.moreButton = h("button", {
      type: "button",
      class: "plain",
      hidden: true,
      onclick: () => {
        this.#allCurves = !this.#allCurves;
        this.#draw();
      },
    });
    this.table = h("div", {
      class: "chart-table",
      hidden: true,
      tabindex: "0",
      role: "region",
      "aria-label": "Timeline as a table",
    });
    this.tableButton = h(
      "button",
      { type: "button", class: "plain table-toggle", "aria-pressed": "false", onclick: () => this.#toggleTable() },
      "View as table",
    );
    this.chart = h("div", {}, this.plot, this.moreButton);
    render(
      this,
      h(
        "div",
        { class: "row card-header" },
        h("h2", { id: "timeline-title" }, "Timeline"),
        legend(),
        h("div", { class: "zooms", role: "group", "aria-label": "Zoom" }, this.zoomButtons),
        this.tableButton,
      ),
      this.chart,
      this.table,
      this.scrubber.slider,
      this.scrubber.controls,
    );
    this.title = "";
    this.scrubber.slider.title = SHORTCUTS;
    this.addEventListener("keydown", (event) => this.#handleKey(event));
    this.#handlePointer();
    this.observer.observe(this.plot);
  }

  disconnectedCallback() {
    this.observer.disconnect();
  }

  /** Show a clock in a new state. */
  setModel(model, instant) {
    this.#model = model;
    this.#instant = instant;
    this.scrubber.setModel(model);
    if (!this.#window || !this.#isVisible(instant) || this.#zoom === ZOOMS.length - 1)
      this.#window = windowAround(model, instant, ZOOMS[this.#zoom].months);
    this.#draw();
    if (!this.table.hidden) this.#fillTable();
  }

  preview(instant, spokenText) {
    this.#instant = instant;
    if (!this.#isVisible(instant)) {
      this.#window = windowAround(this.#model, instant, ZOOMS[this.#zoom].months);
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

  /** Move the window by half its length, or extend the window of "All" by a quarter. Return whether that is possible. */
  #moveWindow(direction) {
    const { from, to } = this.#window;
    const length = to - from;
    const zoomed = ZOOMS[this.#zoom].months > 0;
    if (direction > 0 ? to >= this.#model.maxTime : !zoomed || from <= this.#model.start) return false;
    if (zoomed) {
      const start = Math.max(startOfDay(this.#model.start), from + Math.round(length / 2 / DAY) * DAY * direction);
      this.#window = { from: start, to: start + length };
    } else {
      this.#window = { from, to: Math.min(this.#model.maxTime, to + length / 4) };
    }
    this.#draw();
    return true;
  }

  #draw() {
    if (!this.#model || !this.#width) return;
    const startedAt = performance.now();
    const model = this.#model;
    // The layout is for a font size of 16 px and scales with the font size of the browser.
    const fontScale = (this.#fontScale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
    const width = this.#width / fontScale;
    const isNarrow = width < 560;
    const left = isNarrow ? 60 : 72;
    const right = width - RIGHT;
    const { from, to } = this.#window;
    const box = { left, right, from, to };
    const x = scale(from, to, left, right);
    const flows = this.#allCurves ? model.flows : model.flows.slice(0, MAX_CURVES);
    const height = flows.length > 2 ? 104 : isNarrow ? 120 : 148;
    const lanes = LANES.map(
      (lane, index) =>
        new Lane(
          lane,
          model.items.filter((item) => item.kind === lane.kind),
          x,
          model.now,
          TOP + LANE_HEIGHT * (index + 0.5) - 2,
          box,
        ),
    );
    const below = TOP + LANE_HEIGHT * LANES.length;
    const curves = flows.map((flow, index) => new Curve(flow, x, model.now, below + index * height, height, box));
    const bottom = below + flows.length * height;
    this.#parts = [...lanes, ...curves];
    this.lanes = lanes;
    this.x = x;
    this.box = { ...box, bottom };
    this.previewLine = s("path", { class: "preview-line" });
    this.previewText = s("text", { class: "preview-text", y: 13, "text-anchor": "middle" });
    const nowX = Math.min(Math.max(x(model.now), left), right);
    this.svg.setAttribute("width", this.#width);
    this.svg.setAttribute("height", (bottom + AXIS) * fontScale);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${bottom + AXIS}`);
    this.svg.setAttribute("aria-label", this.#summary());
    render(
      this.svg,
      s("rect", { class: "past", x: left, y: TOP, width: Math.max(0, nowX - left), height: bottom - TOP }),
      drawAxis(axisTicks(this.#window, right - left), x, { left, right, top: TOP, bottom }),
      this.#isVisible(model.now) ? s("path", { class: "now-line", d: `M${nowX} ${TOP - 4}V${bottom}` }) : null,
      (this.nowText = s(
        "text",
        {
          class: "now-text",
          x: nowX,
          y: 13,
          "text-anchor": nowX - left < 20 ? "start" : right - nowX < 20 ? "end" : "middle",
        },
        this.#isVisible(model.now) ? "now" : "",
      )),
      lanes.map((lane) => lane.node),
      curves.map((curve) => curve.node),
      this.previewLine,
      this.previewText,
    );
    this.moreButton.hidden = model.flows.length <= MAX_CURVES;
    this.moreButton.textContent = this.#allCurves
      ? "Show fewer currencies"
      : `Show all ${model.flows.length} currencies`;
    this.zoomButtons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === this.#zoom)));
    this.scrubber.align(this.#window, left * fontScale, !this.chart.hidden && (right - left) * fontScale);
    this.#drawPreview();
    performance.measure("tickover draws the timeline", { start: startedAt, end: performance.now() });
  }

  #drawPreview() {
    if (!this.previewLine) return;
    const instant = this.#instant;
    const { left, right, bottom } = this.box;
    const previewX = this.x(instant);
    const isShown = instant !== this.#model.now && this.#isVisible(instant);
    this.previewLine.setAttribute("d", isShown ? `M${previewX} ${TOP - 4}V${bottom}` : "");
    this.previewText.textContent = isShown ? formatDay(instant) : "";
    const textX = Math.min(Math.max(previewX, left + 34), right - 34);
    this.previewText.setAttribute("x", textX);
    this.nowText.setAttribute(
      "visibility",
      isShown && Math.abs(textX - this.x(this.#model.now)) < 62 ? "hidden" : "visible",
    );
    for (const part of this.#parts) part.preview(instant);
  }

  #summary() {
    const { items, currencies, now } = this.#model;
    const posted = items.filter((item) => item.isPosted).length;
    return (
      `Timeline from ${formatDay(this.#window.from)} to ${formatDay(this.#window.to)}. The clock is at ${formatInstant(now)}. ` +
      `${posted} of ${plural(items.length, "item")} posted. ${currencies.length ? `Net flow in ${currencies.join(", ")}. ` : ""}` +
      "The table has the same data."
    );
  }

  #toggleTable() {
    const asTable = this.table.hidden;
    this.table.hidden = !asTable;
    this.chart.hidden = asTable;
    this.tableButton.setAttribute("aria-pressed", String(asTable));
    this.tableButton.textContent = asTable ? "View as chart" : "View as table";
    if (asTable) this.#fillTable();
    else this.table.replaceChildren();
    this.#draw();
  }

  #fillTable() {
    render(this.table, monthlyTable(this.#model));
  }

  #handleKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === this.scrubber.field) return;
    const step = TIME_STEPS.find(({ key }) => key === event.key);
    if (step) this.scrubber.move(step);
    else if (event.key === "0") this.#requestPreview(this.#model.now);
    else return;
    event.preventDefault();
  }

  /** Dragging in the plot moves the preview. Hovering shows the item under the pointer. */
  #handlePointer() {
    let isDragging = false;
    const previewAt = (event) => {
      const { left, right, from, to } = this.box;
      const fraction = (event.offsetX / this.#fontScale - left) / (right - left);
      const step = sliderStep(this.#window);
      this.#requestPreview(
        clampToClock(this.#model, from + Math.round((Math.min(Math.max(fraction, 0), 1) * (to - from)) / step) * step),
      );
    };
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.offsetX / this.#fontScale < this.box.left - 8) return;
      isDragging = true;
      this.svg.setPointerCapture(event.pointerId);
      previewAt(event);
    });
    this.svg.addEventListener("pointermove", (event) => (isDragging ? previewAt(event) : this.#hover(event)));
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => (isDragging = false));
    this.svg.addEventListener("pointerleave", () => (this.tooltip.hidden = true));
  }

  #hover({ offsetX, offsetY }) {
    const fontScale = this.#fontScale;
    const lane = this.lanes?.find((candidate) => Math.abs(candidate.y - offsetY / fontScale) < LANE_HEIGHT / 2);
    const mark = lane?.markAt(offsetX / fontScale);
    this.tooltip.hidden = !mark;
    if (!mark) return;
    const [item] = mark.items;
    const rest = mark.items.length - 1;
    this.tooltip.textContent = `${formatInstant(item.at)}: ${item.name} ${signedAmount(item)}${rest ? ` and ${plural(rest, "more item")}` : ""}`;
    this.tooltip.style.left = `${Math.min(Math.max(mark.x * fontScale, 130), this.#width - 130)}px`;
    this.tooltip.style.top = `${(lane.y + 12) * fontScale}px`;
  }
}

function legend() {
  const mark = (className, shape) =>
    s(
      "svg",
      { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true", class: `legend-mark ${className}` },
      s("path", { d: shape }),
    );
  const diamond = `M0 0${LANES.at(-1).mark}`;
  return h(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    h("li", {}, mark("posted-items", diamond), "posted"),
    h("li", {}, mark("pending-items", diamond), "pending"),
    h("li", {}, mark("next-items", diamond), "would post"),
    h(
      "li",
      {},
      s(
        "svg",
        { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" },
        s("rect", { class: "past", width: 14, height: 14 }),
      ),
      "past",
    ),
  );
}

customElements.define("tick-timeline", Timeline);
