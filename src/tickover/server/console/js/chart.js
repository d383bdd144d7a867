// The parts of the timeline: lanes of items and one net-flow curve per currency.

import { countUntil } from "./clock-model.js";
import { s } from "./dom.js";
import { formatCompact } from "./format.js";

// Items that are too close together share one mark with a count. Each lane draws its marks with three paths.

export const LANES = [
  { kind: "income", label: "Income", mark: "m0-5.5 5.5 10h-11z" },
  { kind: "expense", label: "Expense", mark: "m0 5.5 5.5-10h-11z" },
  { kind: "goal", label: "Goals", mark: "m0-6 6 6-6 6-6-6z" },
];
export const LANE_HEIGHT = 34;
const MARK_DISTANCE = 12;
const DIGIT_WIDTH = 6;

/** Group sorted items into marks `{ x, first, last, items }`; first and last are times. */
function groupIntoMarks(items, x, now) {
  const marks = [];
  let mark = null;
  for (const item of items) {
    const itemX = x(item.at);
    const minDistance =
      mark && Math.max(MARK_DISTANCE, mark.items.length > 1 ? String(mark.items.length).length * DIGIT_WIDTH + 4 : 0);
    // A mark never has both posted and pending items.
    if (mark && itemX - mark.start < minDistance && item.at <= now === mark.last <= now) {
      mark.items.push(item);
      mark.last = item.at;
      mark.x = (mark.start + itemX) / 2;
    } else {
      mark = { start: itemX, x: itemX, first: item.at, last: item.at, items: [item] };
      marks.push(mark);
    }
  }
  return marks;
}

/** One lane. `preview(instant)` highlights the items that would post. */
export class Lane {
  constructor({ kind, label, mark }, items, x, now, y, box) {
    const visible = items.filter((item) => item.at >= box.from && item.at <= box.to);
    this.kind = kind;
    this.y = y;
    this.marks = groupIntoMarks(visible, x, now);
    this.now = now;
    this.firstTimes = this.marks.map((group) => group.first);
    this.postedCount = countUntil(this.firstTimes, now);
    this.shapes = this.marks.map((group) => `M${group.x} ${y}${mark}`);
    this.next = s("path", { class: "next-items" });
    this.previewedCount = this.postedCount;
    this.node = s(
      "g",
      { class: `lane ${kind}` },
      s("text", { class: "label", x: box.left - 10, y: y + 4, "text-anchor": "end" }, label),
      s("path", { class: "rail", d: `M${box.left} ${y}H${box.right}` }),
      s("path", { class: "pending-items", d: this.shapes.slice(this.postedCount).join("") }),
      this.next,
      s("path", { class: "posted-items", d: this.shapes.slice(0, this.postedCount).join("") }),
      this.marks
        .filter((group) => group.items.length > 1)
        .map((group) =>
          s("text", { class: "count", x: group.x, y: y + 16, "text-anchor": "middle" }, String(group.items.length)),
        ),
    );
  }

  preview(instant) {
    const count = Math.max(this.postedCount, countUntil(this.firstTimes, instant));
    if (count === this.previewedCount) return;
    this.previewedCount = count;
    this.next.setAttribute("d", this.shapes.slice(this.postedCount, count).join(""));
  }

  /** Return the mark near an x coordinate, or undefined. */
  markAt(x) {
    return this.marks.find((mark) => Math.abs(mark.x - x) <= 8);
  }
}

const TITLE_HEIGHT = 22;
const TEXT_HEIGHT = 14;

/** Return round numbers between low and high. Zero is one of them if it is in the range. */
function valueTicks(low, high, maxCount) {
  const rough = (high - low) / maxCount;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999) ?? rough;
  const ticks = [];
  for (let index = Math.ceil(low / size - 1e-9); index * size <= high + size * 1e-9; index += 1)
    ticks.push(index * size || 0);
  return ticks;
}

/** The net flow of one currency: solid until now, then dashed. */
export class Curve {
  constructor(flow, x, now, top, height, box) {
    Object.assign(this, { flow, x, box });
    const { left, right, from, to } = box;
    // The scale includes the visible values and zero.
    const [first, last] = [countUntil(flow.times, from), countUntil(flow.times, to)];
    const visible = flow.values.slice(first, last + 1);
    const [low, high] = [Math.min(0, ...visible), Math.max(0, ...visible)];
    const [bottom, above] = [top + height - TEXT_HEIGHT, top + TITLE_HEIGHT + TEXT_HEIGHT];
    this.y = low === high ? () => pixel((bottom + above) / 2) : scale(low, high, bottom, above);
    const ticks = low === high ? [0] : valueTicks(low, high, height > 110 ? 4 : 3);
    const y = this.y;
    this.dot = s("circle", { class: "dot", r: 4 });
    const line = (start, end) => (end > start ? stepPath(flow.times, flow.values, x, y, start, end) : "");
    const visibleNow = Math.min(Math.max(now, from), to);
    this.node = s(
      "g",
      { class: "flow" },
      s("text", { class: "title", x: left, y: top + 13 }, `Net flow, ${flow.currency}`),
      ticks.map((value) => [
        s("path", { class: value === 0 ? "zero" : "grid", d: `M${left} ${y(value)}H${right}` }),
        s("text", { class: "value", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, formatCompact(value)),
      ]),
      s("path", { class: "projected", d: line(visibleNow, to) }),
      s("path", { class: "posted", d: line(from, visibleNow) }),
      this.#extremes(visible, first),
      this.dot,
    );
  }

  /** Label the highest and the lowest visible value, unless it is zero. */
  #extremes(visible, first) {
    const { left, right, from } = this.box;
    const label = (value, above) => {
      const index = first + visible.indexOf(value);
      const at = index === first ? from : this.flow.times[index - 1];
      const text = formatCompact(value);
      const half = text.length * 3.2;
      const x = Math.min(Math.max(this.x(at) + 2, left + half + 2), right - half - 2);
      return s("text", { class: "extreme", x, y: this.y(value) + (above ? -5 : 13), "text-anchor": "middle" }, text);
    };
    const [min, max] = [Math.min(...visible), Math.max(...visible)];
    if (min === max) return [];
    return [max !== 0 ? label(max, true) : null, min !== 0 ? label(min, false) : null];
  }

  preview(instant) {
    const { from, to } = this.box;
    const isVisible = instant >= from && instant <= to;
    this.dot.setAttribute("visibility", isVisible ? "visible" : "hidden");
    if (!isVisible) return;
    this.dot.setAttribute("cx", this.x(instant));
    this.dot.setAttribute("cy", this.y(this.flow.values[countUntil(this.flow.times, instant)]));
  }
}

/** Return the path of a step function between two times. `x` and `y` convert times and values to pixels. */
export function stepPath(times, values, x, y, from, to) {
  let path = "";
  let height = null;
  for (let index = 0; index <= times.length; index += 1) {
    const at = index === 0 ? from : times[index - 1];
    if (at > to) break;
    if (at <= from) {
      height = y(values[index]);
      continue;
    }
    if (path === "") path = `M${x(from)} ${height}`;
    height = y(values[index]);
    path += `H${x(at)}V${height}`;
  }
  return `${path || `M${x(from)} ${height}`}H${x(to)}`;
}

/** Round to a tenth of a pixel to keep paths short. */
const pixel = (number) => Math.round(number * 10) / 10;

/** Return a function that converts a time or a value to pixels. */
export function scale(from, to, first, last) {
  const factor = to > from ? (last - first) / (to - from) : 0;
  return (value) => pixel(first + (value - from) * factor);
}
