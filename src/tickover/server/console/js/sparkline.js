// The small chart on clock and scenario cards: the balance of each currency.

import { areaPath, scale, stepPath } from "./chart-paths.js";
import { newId, s } from "./dom.js";

const MARGIN = 6;
const MAX_CURVES = 3;

/** Draw the balances. Screen readers skip them because the card has the same facts as text. */
export function sparkline(model, { width = 320, height = 88 } = {}) {
  const curves = model.balances.length ? model.balances : model.goals.map((goal) => savingsCurve(goal));
  const last = Math.max(model.now, model.times.at(-1) ?? model.now);
  const from = Math.min(...curves.map((curve) => curveStart(curve, model)));
  const to = last + ((last - from) * 0.03 || 1);
  const x = scale(from, to, 0, width);
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
    shown.map((curve, index) => drawCurve(curve, index, { model, x, low, high, to, width, height })),
  );
}

/** Return where a curve starts. That of a scenario without an opening balance starts with its first item. */
const curveStart = ({ times, values }, { id, start }) =>
  id === null && values[0] === 0 && times.length ? times[0] : Math.min(start, times[0] ?? start);

/** Return the largest absolute value of a curve. */
const largest = ({ values }) => Math.max(...values.map(Math.abs)) || 1;

function drawCurve(curve, index, { model, x, low, high, to, width, height }) {
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
  return s(
    "g",
    { class: `curve-${index}` },
    part("rest", now, to),
    part("past", from, now),
    index === 0 && s("path", { class: "zero", d: `M0 ${y(0)}H${width}` }),
    s("clipPath", { id }, s("rect", { width, y: y(0) + 1, height })),
    s("path", { class: "line below-zero", "clip-path": `url(#${id})`, d: stepPath(curve, x, y, from, to) }),
    model.id !== null && index === 0 && s("path", { class: "now", d: `M${x(now)} 0V${height}` }),
  );
}

/** Return the amount of a goal as a curve, for clocks without transactions. */
function savingsCurve(goal) {
  return { times: goal.times, values: goal.sums.map((sum) => Number(sum) / 10 ** goal.places) };
}
