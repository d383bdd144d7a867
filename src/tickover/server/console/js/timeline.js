// The timeline: lanes of what has happened and what is scheduled, a curve per currency, and the scrubber below them.
// It is laid out in CSS pixels, and drawn anew only when the clock, the width or the window changes; while the scrubber
// moves, only the preview's line, its dots and the marks that would post are touched.

import { Curve, LANE_HEIGHT, LANES, Lane, scale } from "./chart.js";
import { buildChartTable } from "./clock-tables.js";
import { amountOf, plural } from "./clock-text.js";
import { h, s, show } from "./dom.js";
import { formatDay, formatInstant } from "./format.js";
import { DAY, startOfDay } from "./instants.js";
import { MOVES, Scrubber, stepOf, withinLife } from "./scrubber.js";
import { drawAxis, ticksOf, windowAround, ZOOMS } from "./time-axis.js";

const MOST_CURVES = 6;
const [TOP, RIGHT, AXIS] = [22, 14, 24];
const HINT = `Keys while the timeline has the focus: ${MOVES.map((move) => `${move.key} ${move.label}`).join(", ")}, 0 back to now.`;

export class Timeline extends HTMLElement {
  #model = null;
  #instant = 0;
  #window = null;
  #zoom = ZOOMS.length - 1;
  #width = 0;
  #size = 1;
  #allCurves = false;
  #parts = [];

  constructor() {
    super();
    this.scrubber = new Scrubber({
      look: (instant) => this.#look(instant),
      turn: (direction) => this.#turn(direction),
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
    this.zooms = ZOOMS.map((zoom, index) =>
      h("button", { type: "button", onclick: () => this.#zoomTo(index) }, zoom.name),
    );
    this.svg = s("svg", { class: "plot", role: "img", focusable: "false" });
    this.tip = h("p", { class: "tip", "aria-hidden": "true", hidden: true });
    this.plot = h("div", { class: "plot-box" }, this.svg, this.tip);
    this.more = h("button", {
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
      "aria-label": "The timeline as a table",
    });
    this.tableButton = h(
      "button",
      { type: "button", class: "plain as-table", "aria-pressed": "false", onclick: () => this.#toggleTable() },
      "View as table",
    );
    this.chart = h("div", {}, this.plot, this.more);
    show(
      this,
      h(
        "div",
        { class: "row top" },
        h("h2", { id: "timeline-title" }, "Timeline"),
        legend(),
        h("div", { class: "zooms", role: "group", "aria-label": "Zoom" }, this.zooms),
        this.tableButton,
      ),
      this.chart,
      this.table,
      this.scrubber.slider,
      this.scrubber.controls,
    );
    this.title = "";
    this.scrubber.slider.title = HINT;
    this.addEventListener("keydown", (event) => this.#shortcut(event));
    this.#followPointer();
    this.observer.observe(this.plot);
  }

  disconnectedCallback() {
    this.observer.disconnect();
  }

  /** Another clock, or the same one moved. */
  show(model, instant) {
    this.#model = model;
    this.#instant = instant;
    this.scrubber.show(model);
    if (!this.#window || !this.#isInSight(instant) || this.#zoom === ZOOMS.length - 1)
      this.#window = windowAround(model, instant, ZOOMS[this.#zoom].months);
    this.#draw();
    if (!this.table.hidden) this.#fillTable();
  }

  preview(instant, spoken) {
    this.#instant = instant;
    if (!this.#isInSight(instant)) {
      this.#window = windowAround(this.#model, instant, ZOOMS[this.#zoom].months);
      this.#draw();
    }
    this.scrubber.preview(instant, spoken);
    this.#drawPreview();
  }

  #isInSight(instant) {
    return instant >= this.#window.from && instant <= this.#window.to;
  }

  #look(instant) {
    this.#instant = instant;
    this.dispatchEvent(new CustomEvent("preview", { detail: instant }));
  }

  #zoomTo(index) {
    this.#zoom = index;
    this.#window = windowAround(this.#model, this.#instant, ZOOMS[index].months);
    this.#draw();
  }

  /** Half a window on, or with all in sight a quarter more; whether there is anything there. */
  #turn(direction) {
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
    const began = performance.now();
    const model = this.#model;
    // All is laid out for letters of the usual size, and grows with those that the reader has chosen.
    const size = (this.#size = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
    const width = this.#width / size;
    const narrow = width < 560;
    const left = narrow ? 60 : 72;
    const right = width - RIGHT;
    const { from, to } = this.#window;
    const box = { left, right, from, to };
    const x = scale(from, to, left, right);
    const flows = this.#allCurves ? model.flows : model.flows.slice(0, MOST_CURVES);
    const height = flows.length > 2 ? 104 : narrow ? 120 : 148;
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
    this.svg.setAttribute("height", (bottom + AXIS) * size);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${bottom + AXIS}`);
    this.svg.setAttribute("aria-label", this.#summary());
    show(
      this.svg,
      s("rect", { class: "past", x: left, y: TOP, width: Math.max(0, nowX - left), height: bottom - TOP }),
      drawAxis(ticksOf(this.#window, right - left), x, { left, right, top: TOP, bottom }),
      this.#isInSight(model.now) ? s("path", { class: "now-line", d: `M${nowX} ${TOP - 4}V${bottom}` }) : null,
      (this.nowText = s(
        "text",
        {
          class: "now-text",
          x: nowX,
          y: 13,
          "text-anchor": nowX - left < 20 ? "start" : right - nowX < 20 ? "end" : "middle",
        },
        this.#isInSight(model.now) ? "now" : "",
      )),
      lanes.map((lane) => lane.node),
      curves.map((curve) => curve.node),
      this.previewLine,
      this.previewText,
    );
    this.more.hidden = model.flows.length <= MOST_CURVES;
    this.more.textContent = this.#allCurves ? "Show fewer currencies" : `Show all ${model.flows.length} currencies`;
    this.zooms.forEach((button, index) => button.setAttribute("aria-pressed", String(index === this.#zoom)));
    this.scrubber.align(this.#window, left * size, !this.chart.hidden && (right - left) * size);
    this.#drawPreview();
    performance.measure("tickover draws the timeline", { start: began, end: performance.now() });
  }

  #drawPreview() {
    if (!this.previewLine) return;
    const instant = this.#instant;
    const { left, right, bottom } = this.box;
    const place = this.x(instant);
    const shown = instant !== this.#model.now && this.#isInSight(instant);
    this.previewLine.setAttribute("d", shown ? `M${place} ${TOP - 4}V${bottom}` : "");
    this.previewText.textContent = shown ? formatDay(instant) : "";
    const textPlace = Math.min(Math.max(place, left + 34), right - 34);
    this.previewText.setAttribute("x", textPlace);
    this.nowText.setAttribute(
      "visibility",
      shown && Math.abs(textPlace - this.x(this.#model.now)) < 62 ? "hidden" : "visible",
    );
    for (const part of this.#parts) part.preview(instant);
  }

  #summary() {
    const { items, currencies, now } = this.#model;
    const happened = items.filter((item) => item.happened).length;
    return (
      `Timeline from ${formatDay(this.#window.from)} to ${formatDay(this.#window.to)}; now is ${formatInstant(now)}. ` +
      `${plural(happened, "item")} of ${items.length} have happened. ${currencies.length ? `Net flow in ${currencies.join(", ")}. ` : ""}` +
      "The same is in the table."
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
    show(this.table, buildChartTable(this.#model));
  }

  #shortcut(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === this.scrubber.field) return;
    const move = MOVES.find((one) => one.key === event.key);
    if (move) this.scrubber.move(move);
    else if (event.key === "0") this.#look(this.#model.now);
    else return;
    event.preventDefault();
  }

  /** The plot can be dragged on like the slider, and says what is under the pointer. One listener, however many items. */
  #followPointer() {
    let dragging = false;
    const lookAt = (event) => {
      const { left, right, from, to } = this.box;
      const share = (event.offsetX / this.#size - left) / (right - left);
      const step = stepOf(this.#window);
      this.#look(
        withinLife(this.#model, from + Math.round((Math.min(Math.max(share, 0), 1) * (to - from)) / step) * step),
      );
    };
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.offsetX / this.#size < this.box.left - 8) return;
      dragging = true;
      this.svg.setPointerCapture(event.pointerId);
      lookAt(event);
    });
    this.svg.addEventListener("pointermove", (event) => (dragging ? lookAt(event) : this.#hover(event)));
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => (dragging = false));
    this.svg.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  #hover({ offsetX, offsetY }) {
    const size = this.#size;
    const lane = this.lanes?.find((one) => Math.abs(one.y - offsetY / size) < LANE_HEIGHT / 2);
    const mark = lane?.at(offsetX / size);
    this.tip.hidden = !mark;
    if (!mark) return;
    const [item] = mark.items;
    const rest = mark.items.length - 1;
    this.tip.textContent = `${formatInstant(item.at)}: ${item.name} ${amountOf(item)}${rest ? ` and ${plural(rest, "more item")}` : ""}`;
    this.tip.style.left = `${Math.min(Math.max(mark.x * size, 130), this.#width - 130)}px`;
    this.tip.style.top = `${(lane.y + 12) * size}px`;
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
    h("li", {}, mark("happened", diamond), "posted"),
    h("li", {}, mark("scheduled", diamond), "scheduled"),
    h("li", {}, mark("next", diamond), "would post"),
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
