// The small chart on clock and scenario cards: the balance of each currency.

import { areaPath, scale, stepPath } from "./chart-paths.js";
import { lowestPoint } from "./clock-model.js";
import { newId, s } from "./dom.js";

const MARGIN = 6;
const MAX_CURVES = 3;

/** Draw the balances. Screen readers skip them because the card has the same facts as text. */
export function sparkline(model, { width = 320, height = 88 } = {}) {
  const last = Math.max(model.now, model.times.at(-1) ?? model.now);
  const first = Math.min(model.now, model.times[0] ?? model.now);
  const edge = (last - first) * 0.03 || 1;
  const [from, to] = [first - edge, last + edge];
  const x = scale(from, to, 0, width);
  const curves = model.balances.length ? model.balances : model.goals.map((goal) => savingsCurve(goal));
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
    curves.slice(0, MAX_CURVES).map((curve, index) => drawCurve(curve, index, { model, x, from, to, width, height })),
  );
}

function drawCurve(curve, index, { model, x, from, to, width, height }) {
  const y = scale(Math.min(0, ...curve.values), Math.max(0, ...curve.values), height - MARGIN, MARGIN);
  const line = stepPath(curve, x, y, from, to);
  const nowX = Math.min(Math.max(x(model.now), 0), width);
  const isScheduled = model.id === null;
  const clip = (edges) => {
    const id = newId();
    return [id, s("clipPath", { id }, s("rect", { x: edges[0], width: edges[1] - edges[0], y: 0, height }))];
  };
  const parts = isScheduled
    ? [["past", 0, width]]
    : [
        ["rest", nowX, width],
        ["past", 0, nowX],
      ];
  const lowest = lowestPoint(curve, from, to);
  const [belowId, belowZero] = [newId(), s("rect", { x: 0, width, y: y(0), height })];
  return s(
    "g",
    { class: `curve-${index}` },
    parts.map(([name, ...edges]) => {
      const [id, node] = clip(edges);
      return s(
        "g",
        { class: `curve ${name}`, "clip-path": `url(#${id})` },
        node,
        index === 0 && s("path", { class: "area", d: areaPath(line, y(0), x(from)) }),
        s("path", { class: "line", d: line }),
      );
    }),
    index === 0 && s("path", { class: "zero", d: `M0 ${y(0)}H${width}` }),
    lowest.value < 0 && [
      s("clipPath", { id: belowId }, belowZero),
      s("path", { class: "line below-zero", "clip-path": `url(#${belowId})`, d: line }),
    ],
    !isScheduled && index === 0 && s("path", { class: "now", d: `M${nowX} 0V${height}` }),
  );
}

/** Return the amount of a goal as a curve, for clocks without transactions. */
function savingsCurve(goal) {
  return { times: goal.times, values: goal.sums.map((sum) => Number(sum) / 10 ** goal.places) };
}
