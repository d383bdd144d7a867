// Draws the timeline: pills for now and the preview, a plot for each account or currency, lanes of items, and the axis.

import { balanceAt, curvesOf, lowestAhead, lowestPoint } from "../clock/clock-model.js";
import { curveName } from "../clock/clock-text.js";
import { lowerLimits, smallestOf } from "../clock/expectations.js";
import { render, s } from "../lib/dom.js";
import { formatDay, formatMoney, formatPastDay } from "../lib/format.js";
import { DAY } from "../lib/instants.js";
import {
  areaPath,
  CALLOUT_HEIGHT,
  Chunks,
  callout,
  curvePath,
  scale,
  stepCurve,
  textWidth,
  valueGrid,
} from "./chart-paths.js";
import { barLane, expectationStrip, goalLane, rangeStrip, transferLane } from "./event-lanes.js";
import { drawForbidden, drawViolations, hatch } from "./forbidden-areas.js";
import { halfWidth, Pill } from "./pill.js";
import { axisLines, axisTicks, drawAxis } from "./time-axis.js";
import { laneLabel, layOut, RIGHT, TICK, TOP } from "./timeline-layout.js";

const [CALLOUT_GAP, AXIS_HEIGHT] = [3, 22]; // the axis is as high as in timeline.css
const YEAR = 366 * DAY;

/** Return the format of dates in a window. A long one needs the year. */
const dateFormat = ({ from, to }, now) => (to - from > YEAR ? formatDay : (at) => formatPastDay(at, now));

/** The plot of one curve: its balance as a filled step curve, with its expectations and its lowest point. */
class BalancePlot {
  constructor({ model, balance, rules, isTitled }, x, box) {
    Object.assign(this, { model, balance, x, box });
    const { left, top, from, to } = box;
    const grid = valueGrid(box, box.unit, box);
    const upper = rules.filter(({ atLeast }) => atLeast === undefined);
    this.y = box.y;
    this.curve = stepCurve(balance, x, this.y, from, to);
    this.chunks = new Chunks(this.curve.xs, box.right, "", ["curve past", "curve preview", "curve rest"]);
    this.nowDot = s("circle.dot.now", { r: 4 });
    this.dot = s("circle.dot", { r: 5 });
    this.hoverDot = s("circle.dot.hover", { r: 4, visibility: "hidden" });
    this.node = s(
      "g.balance-plot",
      grid.lines,
      // The call-out of the lowest point is below the hatched area.
      drawForbidden(rules, x, { ...box, bottom: box.bottom - CALLOUT_HEIGHT - CALLOUT_GAP }),
      this.chunks.node,
      drawViolations(this.curve, [...upper, ...lowerLimits(model, balance)], x, box),
      grid.labels,
      isTitled && s("text.title", { x: left + 6, y: top + 14 }, curveName(balance)),
      this.#lowest(rules),
      this.nowDot,
      this.dot,
      this.hoverDot,
    );
  }

  /** Call out the lowest balance from now on, and that of a violated rule before, which is more important. */
  #lowest(rules) {
    const { balance, model } = this;
    if (balance.times.length === 0) return null;
    const lowest = lowestAhead(balance, model);
    const date = dateFormat(this.box, model.now);
    const time = lowest.at === model.now ? "now" : date(lowest.at);
    const ahead = this.#callout(lowest, `Lowest ahead, ${time}`, lowest.value < smallestOf(rules, lowest.at, balance));
    const [violation] = rules
      .filter(({ from, atLeast }) => atLeast !== undefined && from < model.now)
      .map(({ from, to, atLeast }) => ({ ...lowestPoint(balance, from, Math.min(to, model.now)), atLeast }))
      .filter(({ value, atLeast }) => value < atLeast)
      .sort((left, right) => left.value - right.value);
    const past = violation && this.#callout(violation, `Lowest, ${date(violation.at)}`, true);
    const overlaps = past && ahead && past.edges.to > ahead.edges.from && past.edges.from < ahead.edges.to;
    return overlaps ? past : [past, ahead];
  }

  /** Label a point as money with its date, if it is in the plot. */
  #callout({ at, value }, label, isLow) {
    const { from, to } = this.box;
    if (at < from || at > to) return null;
    const money = formatMoney(value, this.balance.currency);
    return callout(isLow ? "low" : "", [this.x(at), this.y(value)], label, money, this.box);
  }

  preview(instant) {
    const { left, right, from, to } = this.box;
    const { now } = this.model;
    const clamp = (time) => Math.min(Math.max(this.x(time), left), right);
    const [nowX, endX] = [clamp(now), clamp(Math.max(instant, now))];
    this.chunks.update([left, nowX, endX, right], (from, to, name) => {
      const line = curvePath(this.curve, from, to);
      return s(
        "g",
        { class: name },
        s("path.area", { d: areaPath(line, this.y(0), from) }),
        s("path.line", { d: line }),
      );
    });
    this.#place(this.nowDot, now, now >= from && now <= to);
    this.#place(this.dot, instant, instant !== now && instant >= from && instant <= to);
  }

  /** Mark the balance at an instant, or nothing. */
  hover(instant) {
    this.#place(this.hoverDot, instant, instant !== null);
  }

  #place(dot, instant, isVisible) {
    dot.setAttribute("visibility", isVisible ? "visible" : "hidden");
    if (!isVisible) return;
    dot.setAttribute("cx", this.x(instant));
    dot.setAttribute("cy", this.y(balanceAt(this.balance, instant)));
  }
}

const LANES = { goal: goalLane, transfer: transferLane };
const PILL_SPACE = 30; // for the button beside the preview's pill

/** The layout is for a font size of 16 px and scales with the font size of the browser. Reading it in a frame is slow. */
export const rootFontScale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

class TimePill extends Pill {
  /**
   * Draw the pill above x, beside the pill to avoid. Leave `space` on its right. The time of a pill that is away is not in
   * the plot. Return its edges `{ from, to }`.
   */
  draw(text, x, { left, right, bottom }, { avoid, space = 0, isAway = false } = {}) {
    const half = halfWidth(text);
    let middle = Math.min(Math.max(x, left + half), right - half - space);
    if (avoid && middle + half + 2 > avoid.from && middle - half - 2 < avoid.to + avoid.space)
      middle = x <= avoid.x && avoid.from > 2 * half + 2 ? avoid.from - half - 2 : avoid.to + avoid.space + half + 2;
    middle = Math.min(Math.max(middle, half), right - half - space + 8);
    this.place(text, middle);
    if (isAway) this.hideLine();
    else this.drawLine(x, bottom);
    this.node.classList.toggle("away", isAway);
    return { x, from: middle - half, to: middle + half, space };
  }
}

/** Draws the pills of now and of the preview, and the shade between them. */
class PreviewMarks {
  nowPill = new TimePill("now");
  previewPill = new TimePill("preview");
  #model;
  #x;
  #box;
  #date;

  constructor(model, x, box, xs) {
    this.#model = model;
    this.#x = x;
    this.#box = box;
    this.#date = dateFormat(box, model.now);
    this.shade = new Chunks(xs, box.right, "preview-shade", [""]);
  }

  /** Move the preview. Return the edges of its pill. */
  move(instant) {
    const { now } = this.#model;
    const { left, right, from, to, bottom, isNarrow } = this.#box;
    const isAhead = instant > now;
    const isVisible = (time) => time >= from && time <= to;
    const [nowWord, word] = isNarrow ? ["", ""] : ["Now ", instant < now ? "Past " : "Preview "];
    const nowText = `${now < from ? "← " : ""}${nowWord}${this.#date(now)}${now > to ? " →" : ""}`;
    // The pill of a preview leaves space for the pill of now on its left.
    const place = { ...this.#box, left: isAhead ? Math.max(left, textWidth(nowText) + 24) : left };
    const isShown = instant !== now && isVisible(instant);
    const space = isAhead ? PILL_SPACE : 0;
    const placed =
      isShown && this.previewPill.draw(`${word}${this.#date(instant)}`, this.#x(instant), place, { space });
    if (!isShown) {
      this.previewPill.hide();
      this.previewPill.hideLine();
    }
    const [first, last] = [now, Math.max(instant, now)].map((time) => Math.min(Math.max(this.#x(time), left), right));
    this.nowPill.draw(nowText, first, this.#box, { avoid: placed, isAway: !isVisible(now) });
    this.shade.update([first, last], (start, end) => s("path", { d: `M${start} ${TOP}H${end}V${bottom}H${start}z` }));
    return placed;
  }
}

function setSize(svg, pixels, height, fontScale) {
  const viewBox = `0 0 ${pixels / fontScale} ${height}`;
  if (svg.getAttribute("viewBox") === viewBox) return;
  svg.setAttribute("width", pixels);
  svg.setAttribute("height", height * fontScale);
  svg.setAttribute("viewBox", viewBox);
}

/**
 * Draw everything into the SVG, and the texts of the time axis into another one. Return
 * `{ lanes, plots, box, x, preview, hover }`; `preview(instant)` moves the preview and returns the edges of its pill,
 * and `hover(instant)` marks an instant, or nothing if it is null.
 */
export function drawTimeline(svg, axis, { width: pixels, space, results, tracks = [], ...options }) {
  const { model, curves = curvesOf(model), window, fontScale = rootFontScale() } = options;
  const width = pixels / fontScale;
  const layout = layOut({ ...options, curves, tracks, width, space: space && space / fontScale });
  const { left, bottom, isNarrow, accountPlaces } = layout;
  const right = width - (isNarrow ? 4 : RIGHT);
  const x = scale(window.from, window.to, left, right);
  const edges = { left, right, isNarrow, ...window };
  const isTitled = curves.length > 1;
  const plots = layout.plots.map((plot) => new BalancePlot({ model, ...plot, isTitled }, x, { ...edges, ...plot }));
  const lanes = layout.lanes.map((place) => (LANES[place.kind] ?? barLane)(model, x, { ...edges, ...place }));
  const bases = layout.lanes.filter(({ kind, height }) => kind === "expense" && height).map(({ top }) => top);
  const box = { ...edges, bottom, height: bottom + TICK, fontScale };
  const marks = new PreviewMarks(model, x, box, plots[0]?.curve.xs ?? [left]);
  const hoverLine = s("path.hover-line", { d: `M0 ${TOP}V${bottom}`, visibility: "hidden" });
  const ticks = axisTicks(window, right - left);
  setSize(svg, pixels, box.height, fontScale);
  setSize(axis, pixels, AXIS_HEIGHT, fontScale);
  render(axis, drawAxis(ticks, x, { right, top: 0, bottom: 0 }));
  render(
    svg,
    s("defs", hatch()),
    marks.shade.node,
    s("g.axis", axisLines(ticks, x, { top: TOP, bottom })),
    s("path.base", { d: bases.map((base) => `M${left} ${base}H${right}`).join("") }),
    s("path.account-lines", {
      d: accountPlaces.map(({ top, bottom }) => `M${left} ${(top + bottom) / 2}H${right}`).join(""),
    }),
    [marks.nowPill.stem, marks.previewPill.stem],
    hoverLine,
    plots.map((plot) => plot.node),
    [...layout.lanes, ...accountPlaces, ...layout.stripPlaces, ...layout.trackPlaces].map((place) =>
      laneLabel(place, left),
    ),
    layout.strips.map((expectation, index) =>
      expectationStrip(model, expectation, results?.[index], x, { ...edges, ...layout.stripPlaces[index] }),
    ),
    tracks.map(({ ranges }, index) => rangeStrip(ranges, x, { ...edges, ...layout.trackPlaces[index] })),
    lanes.map((lane) => lane.node),
    [marks.nowPill.node, marks.previewPill.node],
  );
  const preview = (instant) => {
    for (const part of [...plots, ...lanes]) part.preview(instant);
    return marks.move(instant);
  };
  const hover = (instant) => {
    hoverLine.setAttribute("visibility", instant === null ? "hidden" : "visible");
    hoverLine.setAttribute("transform", `translate(${x(instant)})`);
    for (const plot of plots) plot.hover(instant);
  };
  return { lanes, plots, box, x, preview, hover };
}
