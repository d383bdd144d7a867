// The parts of the timeline: lanes of items and one net-flow curve per currency.

import { countUntil } from "./clock-model.js";
import { s } from "./dom.js";
import { formatSmall } from "./format.js";

// The lanes of income, expense and goals. What lies too close to be told apart is one mark with a count, so however many
// items there are, there are only as many marks as fit; and each lane is two paths, whatever is in it.

export const LANES = [
  { kind: "income", label: "Income", mark: "m0-5.5 5.5 10h-11z" },
  { kind: "expense", label: "Expense", mark: "m0 5.5 5.5-10h-11z" },
  { kind: "goal", label: "Goals", mark: "m0-6 6 6-6 6-6-6z" },
];
export const LANE_HEIGHT = 34;
const APART = 12;
const DIGIT = 6;

/** Marks of items in order of time: `{ x, first, last, items }` with first and last the times of what is in it. */
function cluster(items, x, now) {
  const marks = [];
  let mark = null;
  for (const item of items) {
    const place = x(item.at);
    const needed = mark && Math.max(APART, mark.items.length > 1 ? String(mark.items.length).length * DIGIT + 4 : 0);
    // What has happened and what has not are never one mark.
    if (mark && place - mark.start < needed && item.at <= now === mark.last <= now) {
      mark.items.push(item);
      mark.last = item.at;
      mark.x = (mark.start + place) / 2;
    } else {
      mark = { start: place, x: place, first: item.at, last: item.at, items: [item] };
      marks.push(mark);
    }
  }
  return marks;
}

/** One lane. `preview(instant)` marks what would post until then, and touches nothing else. */
export class Lane {
  constructor({ kind, label, mark }, items, x, now, y, box) {
    const shown = items.filter((item) => item.at >= box.from && item.at <= box.to);
    this.kind = kind;
    this.y = y;
    this.marks = cluster(shown, x, now);
    this.now = now;
    this.done = countUntil(
      this.marks.map((one) => one.first),
      now,
    );
    this.firsts = this.marks.map((one) => one.first);
    this.shapes = this.marks.map((one) => `M${one.x} ${y}${mark}`);
    this.next = s("path", { class: "next" });
    this.shown = this.done;
    this.node = s(
      "g",
      { class: `lane ${kind}` },
      s("text", { class: "label", x: box.left - 10, y: y + 4, "text-anchor": "end" }, label),
      s("path", { class: "rail", d: `M${box.left} ${y}H${box.right}` }),
      s("path", { class: "scheduled", d: this.shapes.slice(this.done).join("") }),
      this.next,
      s("path", { class: "happened", d: this.shapes.slice(0, this.done).join("") }),
      this.marks
        .filter((one) => one.items.length > 1)
        .map((one) =>
          s("text", { class: "count", x: one.x, y: y + 16, "text-anchor": "middle" }, String(one.items.length)),
        ),
    );
  }

  preview(instant) {
    const until = Math.max(this.done, countUntil(this.firsts, instant));
    if (until === this.shown) return;
    this.shown = until;
    this.next.setAttribute("d", this.shapes.slice(this.done, until).join(""));
  }

  /** The mark under the pointer, if there is one. */
  at(x) {
    return this.marks.find((mark) => Math.abs(mark.x - x) <= 8);
  }
}

// One step curve per currency, each with its own scale: the net flow of the clock, solid up to now and dashed beyond.

const TITLE = 22;
const ROOM_FOR_TEXT = 14;

/** Round numbers between these, three or four of them, with zero among them if it is between. */
function niceTicks(low, high, most = 4) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999) ?? rough;
  const ticks = [];
  for (let index = Math.ceil(low / size - 1e-9); index * size <= high + size * 1e-9; index += 1)
    ticks.push(index * size || 0);
  return ticks;
}

export class Curve {
  constructor(flow, x, now, top, height, box) {
    Object.assign(this, { flow, x, box });
    const { left, right, from, to } = box;
    // Of what is in sight, and zero, so that the reader sees on which side of it the clock is.
    const [first, last] = [countUntil(flow.times, from), countUntil(flow.times, to)];
    const seen = flow.values.slice(first, last + 1);
    const [low, high] = [Math.min(0, ...seen), Math.max(0, ...seen)];
    const [bottom, above] = [top + height - ROOM_FOR_TEXT, top + TITLE + ROOM_FOR_TEXT];
    this.y = low === high ? () => pixel((bottom + above) / 2) : scale(low, high, bottom, above);
    const ticks = low === high ? [0] : niceTicks(low, high, height > 110 ? 4 : 3);
    const y = this.y;
    this.dot = s("circle", { class: "dot", r: 4 });
    const line = (a, b) => (b > a ? stepPath(flow.times, flow.values, x, y, a, b) : "");
    const until = Math.min(Math.max(now, from), to);
    this.node = s(
      "g",
      { class: "flow" },
      s("text", { class: "title", x: left, y: top + 13 }, `Net flow of this clock, ${flow.currency}`),
      ticks.map((value) => [
        s("path", { class: value === 0 ? "zero" : "grid", d: `M${left} ${y(value)}H${right}` }),
        s("text", { class: "value", x: left - 8, y: y(value) + 4, "text-anchor": "end" }, formatSmall(value)),
      ]),
      s("path", { class: "projected", d: line(until, to) }),
      s("path", { class: "posted", d: line(from, until) }),
      this.#extremes(seen, first),
      this.dot,
    );
  }

  /** The highest and the lowest value in words, if they are not those of the axis and there is room. */
  #extremes(seen, first) {
    const { left, right, from } = this.box;
    const callOut = (value, above) => {
      const index = first + seen.indexOf(value);
      const at = index === first ? from : this.flow.times[index - 1];
      const text = formatSmall(value);
      const half = text.length * 3.2;
      const x = Math.min(Math.max(this.x(at) + 2, left + half + 2), right - half - 2);
      return s("text", { class: "extreme", x, y: this.y(value) + (above ? -5 : 13), "text-anchor": "middle" }, text);
    };
    const [least, most] = [Math.min(...seen), Math.max(...seen)];
    if (least === most) return [];
    return [most !== 0 ? callOut(most, true) : null, least !== 0 ? callOut(least, false) : null];
  }

  preview(instant) {
    const { from, to } = this.box;
    const inSight = instant >= from && instant <= to;
    this.dot.setAttribute("visibility", inSight ? "visible" : "hidden");
    if (!inSight) return;
    this.dot.setAttribute("cx", this.x(instant));
    this.dot.setAttribute("cy", this.y(this.flow.values[countUntil(this.flow.times, instant)]));
  }
}

/** The path of steps through these times and values, with functions from each to pixels, from one time to another. */
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

/** A number of pixels, short enough for a path. */
const pixel = (number) => Math.round(number * 10) / 10;

/** What a time or a value is in pixels. */
export function scale(from, to, first, last) {
  const factor = to > from ? (last - first) / (to - from) : 0;
  return (value) => pixel(first + (value - from) * factor);
}
