// The lanes below the balance: bars of income and expenses, arrows of transfers, diamonds of goals, and a strip for each
// expectation.

import { countUntil, curveOf } from "../clock/clock-model.js";
import { deadline, decidedAt, describeExpectation, postTimes, violationRanges } from "../clock/expectations.js";
import { s } from "../lib/dom.js";
import { formatMoney } from "../lib/format.js";
import { parseInstant } from "../lib/instants.js";
import { Chunks } from "./chart-paths.js";

// Items that are too close together share one mark. Pending marks have a hole, because outlines are slow to draw.

export const BAR_DISTANCE = 7;
const [BAR_WIDTH, DIAMOND_DISTANCE, ARROW_DISTANCE] = [6, 9, 9];
const MIN_SEGMENT = 4;
// Of both lanes together, and of the lower one.
const [BARS_HEIGHTS, LOW_BARS_HEIGHTS] = [
  [68, 28],
  [34, 12],
];
const CAP = 2.5; // half the width of a strip

/** The shapes of marks around the origin, for legends and tables. */
export const MARKS = {
  income: "M0-5.5 5.5 4.5h-11z",
  expense: "M0 5.5 5.5-4.5h-11z",
  goal: "M0-6 6 0 0 6-6 0z",
  transfer: "M-6-1H1V-4.5L6 0 1 4.5V1H-6z",
};

const measured = new WeakMap();

/**
 * Return the items of a kind in a list, their times, the sums of their amounts, and the largest
 * amount. `sums[n]` is the sum of the first n items.
 */
export function measureItems(all, kind) {
  if (!measured.has(all)) measured.set(all, {});
  const kinds = measured.get(all);
  if (kinds[kind]) return kinds[kind];
  const items = all.filter((item) => item.kind === kind);
  const sums = [0];
  for (const { amount } of items) sums.push(sums.at(-1) + amount);
  const max = items.reduce((best, { amount }) => Math.max(best, amount), 0);
  return (kinds[kind] = { items, times: items.map((item) => item.at), sums, max });
}

/**
 * Return the lanes of bars `{ income, expense }` of a curve for a window and the width of its plot. Both have one
 * scale, `unit`, in pixels. Bars of one of several curves are lower. The `text` of a lane describes its largest
 * item, which is the same at any width: `largest €2,800.50`.
 */
export function barLanes(model, { currency, items }, { from, to }, width, isSingle = true) {
  const length = ((to - from) / width) * BAR_DISTANCE;
  const lanes = ["income", "expense"].map((kind) => {
    const group = measureItems(items, kind);
    const groups = groupItems(group.times, model.now, length);
    const size = ([start, end]) => group.sums[end] - group.sums[start];
    const largest = groups.reduce((best, each) => Math.max(best, size(each)), 0);
    const text = group.max ? `largest ${formatMoney(group.max, currency)}` : "";
    return { ...group, groups, size: largest, text };
  });
  const [income, expense] = lanes;
  const [height, minHeight] = isSingle ? BARS_HEIGHTS : LOW_BARS_HEIGHTS;
  // The base line stays where it is while the window changes.
  const max = income.max + expense.max;
  const isEmpty = !max && !isSingle; // such as those of an account with transfers only
  const share = income.max / (max || 1);
  income.height = isEmpty ? 0 : Math.round(Math.min(Math.max(height * share, minHeight), height - minHeight));
  expense.height = isEmpty ? 0 : height - income.height;
  const unit = Math.min(...lanes.map(({ size, height }) => (height - 2) / size));
  return { income: { ...income, unit }, expense: { ...expense, unit } };
}

/**
 * Group items into marks `[start, end)`, which are indexes. The items of a mark are less than `length` apart, and all
 * posted or all pending. The window is not used, so that marks keep their items while the window moves.
 */
function groupItems(times, now, length) {
  const groups = [];
  const posted = countUntil(times, now);
  for (let end = 0; end < times.length; ) {
    const start = end;
    const last = start < posted ? posted : times.length;
    do end += 1;
    while (end < last && times[end] - times[start] < length);
    groups.push([start, end]);
  }
  return groups;
}

/**
 * Return the marks `{ x, first, last, items, start }` of groups in a window. A mark is at the time of its largest item,
 * unless the mark before it needs the space.
 */
export function placeMarks({ items, times, groups }, distance, x, { from, to }) {
  const marks = [];
  let free = -Infinity;
  for (const [start, end] of groups) {
    if (times[start] < from || times[start] > to) continue;
    const group = items.slice(start, end);
    const { at } = group.reduce((best, item) => (item.amount > best.amount ? item : best));
    const mark = { x: Math.max(x(at), free), first: times[start], last: times[end - 1], items: group, start };
    free = mark.x + distance;
    marks.push(mark);
  }
  return marks;
}

/** One lane. `preview(instant)` highlights the items that would post. */
class Lane {
  constructor({ kind, model: { now }, distance, shape, ...grouped }, x, box) {
    const { top, bottom } = box;
    Object.assign(this, { kind, now, top, bottom });
    this.marks = placeMarks(grouped, distance, x, box);
    this.firstTimes = this.marks.map((mark) => mark.first);
    this.shape = shape;
    const names = ["posted-items", "next-items", "pending-items"];
    this.chunks = new Chunks([...this.marks.keys()], this.marks.length, `lane ${kind}`, names);
    this.node = this.chunks.node;
  }

  preview(instant) {
    const [posted, end] = [this.now, Math.max(this.now, instant)].map((time) => countUntil(this.firstTimes, time));
    this.chunks.update([0, posted, end, this.marks.length], (from, to, name) => {
      const shapes = this.marks.slice(from, to).map((mark) => this.shape(mark, from >= end));
      return s("path", { class: name, d: shapes.join("") });
    });
  }

  /** Return the mark near an x coordinate, or undefined. */
  markAt(x) {
    return this.marks.find((mark) => Math.abs(mark.x - x) <= 6);
  }
}

/** Create a lane of `barLanes`: income with bars up, or expenses with bars down from the base line. */
export function barLane(model, x, box) {
  const { kind, unit, items, times, groups, sums } = box;
  const direction = kind === "income" ? -1 : 1;
  const base = kind === "income" ? box.bottom : box.top;
  const rect = (width, height) => `h${width}v${direction * height}h${-width}z`;
  // Many bars are equal, so their paths are relative.
  const bars = new Map();
  const bar = (edges, isHollow) =>
    edges
      .slice(1)
      .map((end, index) => {
        const start = edges[index];
        const move = direction * (1 + start);
        const hole = isHollow ? `m1 ${direction}${rect(BAR_WIDTH - 2, end - start - 3)}m-1 ${-direction}` : "";
        return `m0 ${move}${rect(BAR_WIDTH, end - start - 1)}${hole}m0 ${-move}`;
      })
      .join("");
  // A bar has a segment for each item, if there is room. Edges between two pixels are slower to draw.
  const edgesOf = ({ start, items: { length } }) => {
    const height = (count) => Math.round((sums[start + count] - sums[start]) * unit);
    const total = Math.max(MIN_SEGMENT, height(length));
    const edges = [0];
    for (let count = 1; count < length && total - edges.at(-1) >= 2 * MIN_SEGMENT; count += 1) {
      const edge = height(count);
      if (edge - edges.at(-1) >= MIN_SEGMENT && total - edge >= MIN_SEGMENT) edges.push(edge);
    }
    return [...edges, total];
  };
  const shape = (mark, isHollow) => {
    const edges = edgesOf(mark);
    const key = `${edges} ${isHollow}`;
    if (!bars.has(key)) bars.set(key, bar(edges, isHollow));
    return `M${Math.round(mark.x) - BAR_WIDTH / 2} ${base}${bars.get(key)}`;
  };
  return new Lane({ kind, model, items, times, groups, distance: BAR_DISTANCE, shape }, x, box);
}

/** Create a lane with a shape of its own for the items of a kind. */
function shapeLane(kind, distance, model, x, box, shape) {
  const { items, times } = measureItems(model.items, kind);
  const groups = groupItems(times, model.now, ((box.to - box.from) / (box.right - box.left)) * distance);
  return new Lane({ kind, model, items, times, groups, distance, shape }, x, box);
}

/** Create the lane of contributions to goals. */
export function goalLane(model, x, box) {
  const middle = (box.top + box.bottom) / 2;
  const shape = (mark, isHollow) => `M${mark.x} ${middle}m0-5 5 5-5 5-5-5z${isHollow ? "m0 2 3 3-3 3-3-3z" : ""}`;
  return shapeLane("goal", DIAMOND_DISTANCE, model, x, box, shape);
}

/** The height of the line of an account in the lane of transfers. */
export const ACCOUNT_LINE = 14;

/** Create the lane of transfers: an arrow from the line of one account to that of another. `accounts` are their keys. */
export function transferLane(model, x, box) {
  const { accounts, top } = box;
  const height = (key) => top + (accounts.indexOf(key) + 0.5) * ACCOUNT_LINE;
  const arrow = (left, { from, to }, isHollow) => {
    const [start, end] = [height(from), height(to)];
    const down = end > start ? 1 : -1;
    const dot = `M${left - 3} ${start}a3 3 0 1 0 6 0a3 3 0 1 0-6 0z`;
    const hole = isHollow ? `M${left - 1.5} ${start}a1.5 1.5 0 1 1 3 0a1.5 1.5 0 1 1-3 0z` : "";
    return `${dot}${hole}M${left - 0.75} ${start + 3 * down}h1.5V${end - 5 * down}h3l-3.75 ${5 * down}l-3.75 ${-5 * down}h3z`;
  };
  // Each pair of accounts has one arrow.
  const arrowsOf = (items) =>
    [...Map.groupBy(items, ({ from, to }) => `${from}\n${to}`).values()].map(([first]) => first);
  const shape = (mark, isHollow) =>
    arrowsOf(mark.items)
      .map((item, index) => arrow(mark.x + index * ARROW_DISTANCE, item, isHollow))
      .join("");
  return shapeLane("transfer", ARROW_DISTANCE, model, x, box, shape);
}

/** Return a function that draws a segment of a strip between two times, if it is in the window. */
const segmentsOf = (x, { from, to, top, bottom }) =>
  function segment(className, start, end, title) {
    if (end < from || start > to) return null;
    // The round ends stay in the plot.
    const [first, last] = [x(Math.max(start, from)) + CAP, x(Math.min(end, to)) - CAP];
    const d = `M${first} ${(top + bottom) / 2}H${Math.max(last, first)}`;
    return s("path", { class: className, d }, title && s("title", title));
  };

/** Draw ranges `{ from, to, title }` in a strip: failures of the bank, or differences of books, which have no length. */
export function rangeStrip(ranges, x, box) {
  const segment = segmentsOf(x, box);
  const segments = ranges.map(({ from, to, title }) => segment("violation", from, to, title));
  return s("g.strip", segments);
}

/**
 * Draw the strip of an expectation: where it holds, where it is violated, and when the transactions that it counts post. What
 * must happen once counts from then on. `result` is null until the server responds.
 */
export function expectationStrip(model, expectation, result, x, box) {
  const { from, to, top, bottom } = box;
  const y = (top + bottom) / 2;
  const segment = segmentsOf(x, box);
  const { balance: rule } = expectation;
  const balance = rule && curveOf(model, rule);
  const isViolated = result?.ok === false;
  const start = rule?.from ? parseInstant(rule.from) : model.start;
  const by = deadline(expectation);
  const end = rule?.until ? parseInstant(rule.until) : (by ?? model.maxTime);
  const decided = decidedAt(expectation, model);
  const isDecided = decided <= model.now;
  const since = by === null ? start : Math.max(start, decided);
  const violationAt = isViolated ? parseInstant(result.violation.at) : null;
  const ranges = balance
    ? violationRanges(balance, { ...rule, from: start, to: end })
    : violationAt === null
      ? []
      : [[violationAt, violationAt]];
  const counted = expectation.posted ? postTimes(model, expectation.posted) : [];
  const posts = counted.filter((at) => at >= from && at <= Math.min(to, end));
  return s(
    "g",
    { class: `strip${isViolated ? " violated" : ""}` },
    s("title", describeExpectation(expectation, model)),
    segment("holds", start, end),
    since <= end &&
      (isDecided || since < model.now) &&
      segment("holds past", since, isDecided ? end : Math.min(model.now, end)),
    ranges.map(([first, last]) => segment("violation", first, last)),
    posts.map((at) => s("path", { class: at <= model.now ? "post past" : "post", d: `M${x(at)} ${y - 4.5}v9` })),
  );
}
