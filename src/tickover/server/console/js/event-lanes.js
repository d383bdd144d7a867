// The lanes below the balance: bars of income and expenses, diamonds of goals, and a strip for each expectation.

import { pixel } from "./chart-paths.js";
import { countUntil } from "./clock-model.js";
import { s } from "./dom.js";
import { breachRanges, deadline } from "./expectations.js";
import { parseInstant } from "./instants.js";

// Items that are too close together share one mark. Each lane draws its marks with three paths.

const [BAR_WIDTH, BAR_DISTANCE, DIAMOND_DISTANCE] = [5, 7, 9];
const MIN_SEGMENT = 3.5;
const MAX_SEGMENTS = 5;

/** The shapes of marks around the origin, for legends and tables. */
export const MARKS = {
  income: "M0-5.5 5.5 4.5h-11z",
  expense: "M0 5.5 5.5-4.5h-11z",
  goal: "M0-6 6 0 0 6-6 0z",
};

/** Group sorted items into marks `{ x, first, last, items }`; first and last are times. */
function groupIntoMarks(items, x, now, distance) {
  const marks = [];
  let mark = null;
  for (const item of items) {
    const itemX = x(item.at);
    // A mark never has both posted and pending items.
    if (mark && itemX - mark.x < distance && item.at <= now === mark.last <= now) {
      mark.items.push(item);
      mark.last = item.at;
    } else {
      mark = { x: itemX, first: item.at, last: item.at, items: [item] };
      marks.push(mark);
    }
  }
  return marks;
}

/** One lane. `preview(instant)` highlights the items that would post. */
class Lane {
  constructor({ kind, items, now, distance, shape }, x, box) {
    const visible = items.filter((item) => item.at >= box.from && item.at <= box.to);
    Object.assign(this, { kind, now, top: box.top, bottom: box.bottom });
    this.marks = groupIntoMarks(visible, x, now, distance);
    this.firstTimes = this.marks.map((group) => group.first);
    this.postedCount = this.previewedCount = countUntil(this.firstTimes, now);
    this.shapes = this.marks.map(shape);
    this.next = s("path", { class: "next-items" });
    this.node = s(
      "g",
      { class: `lane ${kind}` },
      s("path", { class: "pending-items", d: this.shapes.slice(this.postedCount).join("") }),
      this.next,
      s("path", { class: "posted-items", d: this.shapes.slice(0, this.postedCount).join("") }),
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
    return this.marks.find((mark) => Math.abs(mark.x - x) <= 6);
  }
}

/** Create the lane of income, with bars up, or of expenses, with bars down from the base line. */
export function barLane(kind, model, x, box) {
  const items = model.items.filter((item) => item.kind === kind);
  const largest = new Map();
  for (const { currency, amount } of items) largest.set(currency, Math.max(largest.get(currency) ?? 0, amount));
  const height = box.bottom - box.top - 2;
  const direction = kind === "income" ? -1 : 1;
  const base = kind === "income" ? box.bottom : box.top;
  const shape = ({ x: middle, items: group }) => {
    const count = Math.min(group.length, MAX_SEGMENTS);
    const size = group.reduce((sum, { amount, currency }) => sum + amount / largest.get(currency), 0);
    const total = Math.max(count * MIN_SEGMENT, Math.min(1, Math.sqrt(size)) * height);
    const segment = total / count;
    return Array.from({ length: count }, (_, index) => {
      const y = base + direction * (1 + index * segment);
      return `M${pixel(middle - BAR_WIDTH / 2)} ${pixel(y)}h${BAR_WIDTH}v${pixel(direction * (segment - 1))}h${-BAR_WIDTH}z`;
    }).join("");
  };
  return new Lane({ kind, items, now: model.now, distance: BAR_DISTANCE, shape }, x, box);
}

/** Create the lane of contributions to goals. */
export function goalLane(model, x, box) {
  const middle = (box.top + box.bottom) / 2;
  const items = model.items.filter((item) => item.kind === "goal");
  const shape = (mark) => `M${mark.x} ${middle}m0-5 5 5-5 5-5-5z`;
  return new Lane({ kind: "goal", items, now: model.now, distance: DIAMOND_DISTANCE, shape }, x, box);
}

/** Draw the strip of an expectation: where it holds, and where it breaks. `result` is null until the server responds. */
export function expectationStrip(model, expectation, result, x, { left, right, from, to, top, bottom }) {
  const y = (top + bottom) / 2;
  const segment = (className, start, end) => {
    const [first, last] = [Math.max(x(Math.max(start, from)), left), Math.min(x(Math.min(end, to)), right)];
    return (
      end >= from && start <= to && s("path", { class: className, d: `M${first} ${y}H${Math.max(last, first + 2)}` })
    );
  };
  const { balance: rule } = expectation;
  const balance = rule && model.balances.find(({ currency }) => currency === rule.currency);
  const isBroken = result?.ok === false;
  const start = rule?.from ? parseInstant(rule.from) : model.start;
  const end = rule?.until ? parseInstant(rule.until) : (deadline(expectation) ?? model.maxTime);
  const violationAt = isBroken ? parseInstant(result.violation.at) : null;
  const ranges = balance
    ? breachRanges(balance, { ...rule, from: start, to: end })
    : violationAt === null
      ? []
      : [[violationAt, violationAt]];
  return s(
    "g",
    { class: `strip${isBroken ? " broken" : ""}` },
    segment("holds", start, end),
    model.now > start && segment("holds past", start, Math.min(model.now, end)),
    ranges.map(([first, last]) => segment("breaks", first, last)),
  );
}
