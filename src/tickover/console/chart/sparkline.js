// The small chart on clock and scenario cards: the balance of each currency.

import { balanceAt, MAX_SHOWN_CURRENCIES } from "../clock/clock-model.js";
import { lowerLimits } from "../clock/expectations.js";
import { h, newId, s } from "../lib/dom.js";
import { areaPath, scale, stepPath } from "./chart-paths.js";

const [MARGIN, DOT_MARGIN] = [6, 4];

/**
 * Draw the balances in strips, each with its own scale. They have a dot at the present balance of a clock, or at the
 * lowest balances `lows` of a scenario. They are red where they violate an expectation, or where they are below zero
 * without one. Screen readers skip them because the card has the same facts as text.
 */
export function sparkline(model, { width = 320, height = 88, lows = [] } = {}) {
  const curves = model.balances.length ? model.balances : model.goals.map((goal) => savingsCurve(goal));
  const last = Math.max(model.now, model.times.at(-1) ?? model.now);
  const from = Math.min(...curves.map((curve) => curveStart(curve, model)));
  const to = last + ((last - from) * 0.03 || 1);
  // The dot of a clock at its start needs space.
  const x = scale(from, to, model.id === null ? 0 : DOT_MARGIN, width);
  const shown = curves.slice(0, MAX_SHOWN_CURRENCIES);
  const strip = height / shown.length;
  return s(
    "svg.sparkline",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      focusable: "false",
    },
    model.id !== null && s("path.now", { d: `M${x(model.now)} 0V${height}` }),
    shown.map((curve, index) =>
      drawCurve(curve, { model, x, to, width, top: index * strip, bottom: (index + 1) * strip, lows }),
    ),
  );
}

/** Draw the balances of a scenario. With several currencies, label each strip. */
export function labelledSparkline(model, options) {
  const shown = model.currencies.slice(0, MAX_SHOWN_CURRENCIES);
  const labels = shown.map((currency) => h("span", currency));
  return h("div.strips", { "aria-hidden": "true" }, labels.length > 1 && h("div", labels), sparkline(model, options));
}

/** Return where a curve starts. That of a scenario without an opening balance starts with its first item. */
export const curveStart = ({ times, values }, { id, start }) =>
  id === null && values[0] === 0 && times.length ? times[0] : Math.min(start, times[0] ?? start);

function drawCurve(curve, { model, x, to, width, top, bottom, lows }) {
  const from = curveStart(curve, model);
  const [low, high] = [Math.min(0, ...curve.values), Math.max(0, ...curve.values)];
  const y = scale(low, high > low ? high : 1, bottom - MARGIN, top + MARGIN);
  const now = Math.max(from, model.id === null ? to : model.now);
  const part = (name, from, to) => {
    const line = stepPath(curve, x, y, from, to);
    return s(
      "g",
      { class: `curve ${name}` },
      s("path.area", { d: areaPath(line, y(0), x(from)) }),
      s("path.line", { d: line }),
    );
  };
  const id = newId();
  const isClock = model.id !== null;
  const limits = lowerLimits(model, curve);
  const forbidden = limits.map((limit) => {
    const [left, right] = [Math.max(limit.from, from), Math.min(limit.to, to)].map(x);
    const edge = Math.max(top, y(limit.atLeast) + 1);
    return s("rect", { x: left, width: Math.max(0, right - left), y: edge, height: Math.max(0, bottom - edge) });
  });
  const dotTime = isClock ? now : lows.find(({ currency }) => currency === curve.currency)?.at;
  return s(
    "g",
    part("rest", now, to),
    part("past", from, now),
    s("line.zero", { x2: width, y1: y(0), y2: y(0) }),
    s("clipPath", { id }, forbidden),
    s("path.line.below-zero", { "clip-path": `url(#${id})`, d: stepPath(curve, x, y, from, to) }),
    dotTime !== undefined && drawDot(curve, dotTime, limits, { x, y, width, isHollow: !isClock }),
  );
}

/**
 * Draw a dot. It is a line without length, because the chart is stretched and a circle would not stay round. That of the
 * lowest balance is hollow, as in the timeline.
 */
function drawDot(curve, at, limits, { x, y, width, isHollow }) {
  const value = balanceAt(curve, at);
  const isLow = limits.some(({ atLeast, from, to }) => value < atLeast && from <= at && at <= to);
  const left = Math.min(Math.max(x(at), DOT_MARGIN), width - DOT_MARGIN);
  const d = `M${left} ${y(value)}h0`;
  return [
    s("path.halo", { d }),
    s("path", { class: isLow ? "dot below-zero" : "dot", d }),
    isHollow && s("path.hole", { d }),
  ];
}

/** Return the amount of a goal as a curve, for clocks without transactions. */
function savingsCurve(goal) {
  return { times: goal.times, values: goal.sums.map((sum) => Number(sum) / 10 ** goal.places) };
}
