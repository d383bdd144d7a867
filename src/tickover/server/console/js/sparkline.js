// The small chart on clock and scenario cards: the balance of each currency.

import { areaPath, scale, stepPath } from "./chart-paths.js";
import { balanceAt } from "./clock-model.js";
import { h, newId, s } from "./dom.js";

const [MARGIN, DOT_MARGIN] = [6, 4];
const MAX_CURVES = 3;

/** Create the colour of a curve for the name of its currency. Curves after the third are not drawn. */
export const curveKey = (index) => index < MAX_CURVES && h("span", { class: `curve-key key-${index}` });

/**
 * Draw the balances, with a dot at the present balance of a clock, or at `lowest` of a scenario. Screen readers skip
 * them because the card has the same facts as text.
 */
export function sparkline(model, { width = 320, height = 88, lowest = null } = {}) {
  const curves = model.balances.length ? model.balances : model.goals.map((goal) => savingsCurve(goal));
  const last = Math.max(model.now, model.times.at(-1) ?? model.now);
  const from = Math.min(...curves.map((curve) => curveStart(curve, model)));
  const to = last + ((last - from) * 0.03 || 1);
  // The dot of a clock at its start needs space.
  const x = scale(from, to, model.id === null ? 0 : DOT_MARGIN, width);
  const shown = curves.slice(0, MAX_CURVES);
  // Each curve has its own scale. Their zero lines are the same.
  const low = Math.min(0, ...shown.map((curve) => Math.min(...curve.values) / largest(curve)));
  const high = Math.max(0, ...shown.map((curve) => Math.max(...curve.values) / largest(curve)));
  return s(
    "svg",
    {
      class: "sparkline",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
      focusable: "false",
    },
    shown.map((curve, index) => drawCurve(curve, index, { model, x, low, high, to, width, height, lowest })),
  );
}

/** Return where a curve starts. That of a scenario without an opening balance starts with its first item. */
const curveStart = ({ times, values }, { id, start }) =>
  id === null && values[0] === 0 && times.length ? times[0] : Math.min(start, times[0] ?? start);

/** Return the largest absolute value of a curve. */
const largest = ({ values }) => Math.max(...values.map(Math.abs)) || 1;

function drawCurve(curve, index, { model, x, low, high, to, width, height, lowest }) {
  const from = curveStart(curve, model);
  const y = scale(low * largest(curve), high * largest(curve), height - MARGIN, MARGIN);
  const now = Math.max(from, model.id === null ? to : model.now);
  const part = (name, from, to) => {
    const line = stepPath(curve, x, y, from, to);
    return s(
      "g",
      { class: `curve ${name}` },
      index === 0 && s("path", { class: "area", d: areaPath(line, y(0), x(from)) }),
      s("path", { class: "line", d: line }),
    );
  };
  const id = newId();
  const isClock = model.id !== null;
  const hasDot = isClock ? index === 0 : lowest !== null && lowest.currency === curve.currency;
  return s(
    "g",
    { class: `curve-${index}` },
    part("rest", now, to),
    part("past", from, now),
    index === 0 && s("path", { class: "zero", d: `M0 ${y(0)}H${width}` }),
    s("clipPath", { id }, s("rect", { width, y: y(0) + 1, height })),
    s("path", { class: "line below-zero", "clip-path": `url(#${id})`, d: stepPath(curve, x, y, from, to) }),
    isClock && index === 0 && s("path", { class: "now", d: `M${x(now)} 0V${height}` }),
    hasDot && drawDot(curve, isClock ? now : lowest.at, x, y, width),
  );
}

/** Draw a dot. It is a line without length, because the chart is stretched and a circle would not stay round. */
function drawDot(curve, at, x, y, width) {
  const value = balanceAt(curve, at);
  const left = Math.min(Math.max(x(at), DOT_MARGIN), width - DOT_MARGIN);
  const d = `M${left} ${y(value)}h0`;
  return [s("path", { class: "halo", d }), s("path", { class: value < 0 ? "dot below-zero" : "dot", d })];
}

/** Return the amount of a goal as a curve, for clocks without transactions. */
function savingsCurve(goal) {
  return { times: goal.times, values: goal.sums.map((sum) => Number(sum) / 10 ** goal.places) };
}
