// The small net-flow chart on clock and scenario cards.

import { scale, stepPath } from "./chart.js";
import { s } from "./dom.js";

const MARGIN = 3;

/** Draw the net flow of each currency. Screen readers skip it because the card has the same facts as text. */
export function sparkline(model, { width = 240, height = 56 } = {}) {
  const last = Math.max(model.now, model.times.at(-1) ?? model.now);
  const first = Math.min(model.now, model.times[0] ?? model.now);
  const edge = (last - first) * 0.03 || 1;
  const x = scale(first - edge, last + edge, MARGIN, width - MARGIN);
  const curves = model.flows.length ? model.flows : model.goals.map((goal) => savingsCurve(goal));
  const nowX = x(model.now);
  const drawn = curves.slice(0, 6).map((curve, index) => {
    const y = scale(Math.min(0, ...curve.values), Math.max(0, ...curve.values), height - MARGIN, MARGIN);
    return s(
      "g",
      { class: `curve curve-${index}` },
      s("path", { class: "projected", d: stepPath(curve.times, curve.values, x, y, model.now, last + edge) }),
      s("path", { class: "posted", d: stepPath(curve.times, curve.values, x, y, first - edge, model.now) }),
    );
  });
  const isEmpty = model.items.length === 0;
  return s(
    "svg",
    {
      class: "sparkline",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-hidden": "true",
      focusable: "false",
    },
    s("rect", { class: "past", x: MARGIN, y: 0, width: Math.max(0, nowX - MARGIN), height }),
    isEmpty ? s("line", { class: "zero", x1: MARGIN, x2: width - MARGIN, y1: height / 2, y2: height / 2 }) : drawn,
    s("line", { class: "now", x1: nowX, x2: nowX, y1: 0, y2: height }),
  );
}

/** Return the amount of a goal as a curve, for clocks without transactions. */
function savingsCurve(goal) {
  return { times: goal.times, values: goal.sums.map((sum) => Number(sum) / 10 ** goal.places) };
}
