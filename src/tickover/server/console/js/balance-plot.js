// The plot of one currency: its balance as a filled step curve, with its expectations and its lowest point.

import { areaPath, Chunks, curvePath, stepCurve, textWidth, valueGrid, valueRange, valueScale } from "./chart-paths.js";
import { balanceAt, lowestPoint } from "./clock-model.js";
import { newId, s } from "./dom.js";
import { formatDay, formatMoney, formatShortDay } from "./format.js";
import { DAY } from "./instants.js";

const LABEL_SPACE = 32; // below the lowest point, for its label
const TOP_SPACE = 12;
const CALLOUT_HEIGHT = 22;
const YEAR = 366 * DAY;

/** Return the scale and ticks of the values that a plot shows. They include zero and the bounds of the rules. */
export function plotScale(balance, rules, { from, to, top, bottom }) {
  const bounds = rules.flatMap(({ atLeast = 0, atMost = 0 }) => [atLeast, atMost]);
  const range = valueRange([balance], { from, to }, bounds);
  return valueScale(range, bottom - top > 140 ? 4 : 3, bottom - LABEL_SPACE, top + TOP_SPACE);
}

/** Return whether a rule forbids all that another one forbids. */
const covers = (rule, other) =>
  rule.from <= other.from &&
  rule.to >= other.to &&
  (other.atLeast === undefined || rule.atLeast >= other.atLeast) &&
  (other.atMost === undefined || rule.atMost <= other.atMost);

/** Return whether no other rule covers a rule. Of equal rules, the first counts. */
const isStrictest = (rule, index, rules) =>
  !rules.some((other, position) => covers(other, rule) && (position < index || !covers(rule, other)));

/** Return the sides `{ y, height, bound }` that a rule forbids, and the range `{ x, width }` in which it holds. */
function forbiddenSides({ atLeast, atMost, from, to }, x, box) {
  const { top, bottom, y } = box;
  const [start, end] = [x(Math.max(from, box.from)), x(Math.min(to, box.to))];
  return [
    atLeast !== undefined && { y: y(atLeast), height: bottom - y(atLeast), bound: atLeast },
    atMost !== undefined && { y: top, height: y(atMost) - top, bound: atMost },
  ]
    .filter((side) => side && side.height > 0)
    .map((side) => ({ ...side, x: start, width: Math.max(0, end - start) }));
}

/** Hatch what the rules forbid. */
export const drawForbidden = (rules, x, box) =>
  rules
    .filter(isStrictest)
    .flatMap((rule) => forbiddenSides(rule, x, box))
    .map(({ bound, ...side }) => s("rect", { class: "forbidden", fill: "url(#hatch)", ...side }));

/** Draw the parts of the curve on the forbidden sides of the rules in red. */
export const drawBreaches = (curve, rules, x, box) =>
  rules
    .flatMap((rule) => forbiddenSides(rule, x, box))
    .map(({ bound, ...side }) => {
      const id = newId();
      const line = side.width > 0 ? curvePath(curve, side.x, side.x + side.width) : "";
      return s(
        "g",
        { class: "breach", "clip-path": `url(#${id})` },
        s("clipPath", { id }, s("rect", { ...side, x: side.x - 1, width: side.width + 2 })),
        s("path", { class: "area", d: line && areaPath(line, box.y(bound), side.x) }),
        s("path", { class: "line", d: line }),
      );
    });

export class BalancePlot {
  constructor({ model, balance, rules, isTitled }, x, box) {
    Object.assign(this, { model, balance, x, box });
    const { left, top, from, to } = box;
    const grid = valueGrid(box, box.unit, box);
    this.y = box.y;
    this.curve = stepCurve(balance, x, this.y, from, to);
    this.chunks = new Chunks(this.curve.xs, box.right, "", ["curve past", "curve preview", "curve rest"]);
    this.nowDot = s("circle", { class: "dot now", r: 4 });
    this.dot = s("circle", { class: "dot", r: 5 });
    this.node = s(
      "g",
      { class: "balance-plot" },
      grid.lines,
      drawForbidden(rules, x, box),
      this.chunks.node,
      drawBreaches(this.curve, rules, x, box),
      grid.labels,
      isTitled && s("text", { class: "title halo", x: left + 6, y: top + 14 }, balance.currency),
      this.#lowest(rules),
      this.nowDot,
      this.dot,
    );
  }

  /** Call out the lowest visible point as money with its date. */
  #lowest(rules) {
    const { left, right, from, to, bottom } = this.box;
    const lowest = lowestPoint(this.balance, Math.max(from, this.model.start), to);
    if (this.balance.times.length === 0) return null;
    const isBroken = rules.some(
      ({ atLeast, from, to }) => lowest.value < atLeast && lowest.at >= from && lowest.at <= to,
    );
    const date = to - from > YEAR ? formatDay : formatShortDay;
    const label = `Lowest, ${date(lowest.at)}`;
    const money = formatMoney(lowest.value, this.balance.currency);
    const width = textWidth(label) + textWidth(money) + 28;
    const [pointX, pointY] = [this.x(lowest.at), this.y(lowest.value)];
    const boxX = Math.min(Math.max(pointX - width / 2, left + 4), right - width - 2);
    const boxY = Math.min(pointY + 9, bottom - CALLOUT_HEIGHT);
    return s(
      "g",
      { class: `lowest${isBroken ? " broken" : ""}` },
      s("circle", { r: 4, cx: pointX, cy: pointY }),
      s("rect", { x: boxX, y: boxY, width, height: CALLOUT_HEIGHT, rx: 6 }),
      s("text", { x: boxX + 8, y: boxY + 15 }, label),
      s("text", { class: "money", x: boxX + width - 8, y: boxY + 15, "text-anchor": "end" }, money),
    );
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
        s("path", { class: "area", d: areaPath(line, this.y(0), from) }),
        s("path", { class: "line", d: line }),
      );
    });
    this.#place(this.nowDot, now, now >= from && now <= to);
    this.#place(this.dot, instant, instant !== now && instant >= from && instant <= to);
  }

  #place(dot, instant, isVisible) {
    dot.setAttribute("visibility", isVisible ? "visible" : "hidden");
    if (!isVisible) return;
    dot.setAttribute("cx", this.x(instant));
    dot.setAttribute("cy", this.y(balanceAt(this.balance, instant)));
  }
}
