// The plot of one currency: its balance as a filled step curve, with its expectations and its lowest point.

import { areaPath, curvePath, stepCurve, textWidth, valueGrid, valueRange, valueScale } from "./chart-paths.js";
import { balanceAt, lowestPoint } from "./clock-model.js";
import { newId, s } from "./dom.js";
import { formatAxisMoney, formatDay, formatMoney, formatShortDay } from "./format.js";
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

/** Return whether no other rule forbids all that a rule forbids. */
const isStrictest = (rule, rules) =>
  !rules.some(
    (other) =>
      other !== rule &&
      other.from <= rule.from &&
      other.to >= rule.to &&
      (rule.atLeast === undefined || other.atLeast > rule.atLeast) &&
      (rule.atMost === undefined || other.atMost < rule.atMost),
  );

/** A part of the curve: the past, the preview or the rest. */
class CurvePart {
  #edges = "";
  #area = s("path", { class: "area" });
  #line = s("path", { class: "line" });

  constructor(name) {
    this.node = s("g", { class: `curve ${name}` }, this.#area, this.#line);
  }

  draw(curve, zero, left, right) {
    if (this.#edges === `${left} ${right}`) return;
    this.#edges = `${left} ${right}`;
    const line = right > left ? curvePath(curve, left, right) : "";
    this.#line.setAttribute("d", line);
    this.#area.setAttribute("d", line && areaPath(line, zero, left));
  }
}

export class BalancePlot {
  constructor({ model, balance, rules, isTitled }, x, box) {
    Object.assign(this, { model, balance, x, box });
    const { left, right, top, from, to, isNarrow } = box;
    const grid = valueGrid(box, balance.currency, box);
    const title = isNarrow ? { x: right - 4, "text-anchor": "end" } : { x: left + 6 };
    this.y = box.y;
    this.curve = stepCurve(balance, x, this.y, from, to);
    this.parts = ["rest", "past", "preview"].map((name) => new CurvePart(name));
    this.nowDot = s("circle", { class: "dot now", r: 4 });
    this.dot = s("circle", { class: "dot", r: 5 });
    this.node = s(
      "g",
      { class: "balance-plot" },
      grid.lines,
      rules.filter((rule) => isStrictest(rule, rules)).map((rule) => this.#forbidden(rule)),
      this.parts.map((part) => part.node),
      rules.map((rule) => this.#breach(rule)),
      grid.labels,
      isTitled && s("text", { class: "title halo", y: top + 14, ...title }, balance.currency),
      this.#lowest(rules),
      this.nowDot,
      this.dot,
    );
  }

  /** Return the sides `{ top, height, bound }` that a rule forbids. */
  #forbiddenSides({ atLeast, atMost }) {
    const { top, bottom } = this.box;
    return [
      atLeast !== undefined && { top: this.y(atLeast), height: bottom - this.y(atLeast), bound: atLeast },
      atMost !== undefined && { top, height: this.y(atMost) - top, bound: atMost },
    ].filter((side) => side && side.height > 0);
  }

  #range({ from, to }) {
    const [start, end] = [Math.max(from, this.box.from), Math.min(to, this.box.to)];
    return { x: this.x(start), width: Math.max(0, this.x(end) - this.x(start)) };
  }

  #forbidden(rule) {
    return this.#forbiddenSides(rule).map(({ top, height }) =>
      s("rect", { class: "forbidden", y: top, height, fill: "url(#hatch)", ...this.#range(rule) }),
    );
  }

  /** Draw the part of the curve on the forbidden side of a rule in red. */
  #breach(rule) {
    return this.#forbiddenSides(rule).map(({ top, height, bound }) => {
      const id = newId();
      const { x, width } = this.#range(rule);
      const line = width > 0 ? curvePath(this.curve, x, x + width) : "";
      return s(
        "g",
        { class: "breach" },
        s("clipPath", { id }, s("rect", { x: x - 1, width: width + 2, y: top, height })),
        s("path", {
          class: "area",
          "clip-path": `url(#${id})`,
          d: line && areaPath(line, this.y(bound), x),
        }),
        s("path", { class: "line", "clip-path": `url(#${id})`, d: line }),
      );
    });
  }

  /** Call out the lowest visible point as money with its date. */
  #lowest(rules) {
    const { left, right, from, to, bottom, isNarrow } = this.box;
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
    // In a narrow plot, the label of zero is on the left.
    const zeroWidth = isNarrow ? textWidth(formatAxisMoney(0, this.balance.currency, 1)) : 0;
    const boxX = Math.min(Math.max(pointX - width / 2, left + 4 + zeroWidth), right - width - 2);
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
    const edges = [
      [endX, right],
      [left, nowX],
      [nowX, endX],
    ];
    this.parts.forEach((part, index) => part.draw(this.curve, this.y(0), ...edges[index]));
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
