// The chart of two clocks: both balances, the band between them, and the difference below.

import { areaPath, scale, stepCurve, stepPath, textWidth, valueGrid, valueRange, valueScale } from "./chart-paths.js";
import { balanceAt } from "./clock-model.js";
import { difference } from "./decimals.js";
import { render, s } from "./dom.js";
import { formatAxisMoney } from "./format.js";
import { axisTicks, drawAxis } from "./time-axis.js";
import { drawBreaches, drawForbidden, hatch } from "./timeline-plot.js";

const [PLOT_TOP, PLOT_HEIGHT, GAP, DIFFERENCE_HEIGHT, AXIS_HEIGHT, RIGHT_MARGIN] = [12, 260, 30, 64, 26, 12];
const EMPTY = { times: [], values: [0] };

/** Return the balances of both clocks in a currency, their difference, and when they first differ. */
export function compareBalances(models, currency) {
  const [first, second] = models.map(({ balances }) => balances.find((each) => each.currency === currency) ?? EMPTY);
  const times = [...new Set([...first.times, ...second.times])].sort((left, right) => left - right);
  const at = (instant) => difference(balanceAt(second, instant), balanceAt(first, instant));
  const delta = { times, values: [difference(second.values[0], first.values[0]), ...times.map(at)] };
  const index = delta.values.findIndex((value) => value !== 0);
  return { first, second, delta, differsFrom: index < 0 ? Infinity : index === 0 ? -Infinity : times[index - 1] };
}

/** Return the band between two step curves: one forwards, and the other back. */
function bandPath({ first, second, delta: { times } }, x, y, from, to) {
  const inside = times.filter((time) => time > from && time < to);
  const edges = [from, ...inside];
  const forwards = edges.map((time) => `H${x(time)}V${y(balanceAt(first, time))}`).join("");
  const back = edges
    .toReversed()
    .map((time) => `V${y(balanceAt(second, time))}H${x(time)}`)
    .join("");
  return `M${x(from)} ${y(balanceAt(first, from))}${forwards}H${x(to)}${back}Z`;
}

/** Draw the chart into the SVG. `rules` are the balance rules of each clock. Return `{ left, right, moveCursor(instant) }`. */
export function drawComparison(svg, comparison, { window, currency, width, rules }) {
  const { first, second, delta, differsFrom } = comparison;
  const { from, to } = window;
  const [plotBottom, stripTop] = [PLOT_TOP + PLOT_HEIGHT, PLOT_TOP + PLOT_HEIGHT + GAP];
  const bottom = stripTop + DIFFERENCE_HEIGHT;
  const bounds = rules.flat().flatMap(({ atLeast = 0, atMost = 0 }) => [atLeast, atMost]);
  const plot = valueScale(valueRange([first, second], window, bounds), 4, plotBottom - 8, PLOT_TOP + 8);
  const strip = valueScale(valueRange([delta], window, []), 2, bottom - 4, stripTop + 4);
  const { y } = plot;
  const labels = [plot, strip].flatMap(({ ticks, step }) =>
    ticks.map((value) => textWidth(formatAxisMoney(value, currency, step))),
  );
  const left = Math.max(...labels) + 12;
  const right = width - RIGHT_MARGIN;
  const x = scale(from, to, left, right);
  const split = Math.min(Math.max(differsFrom, from), to);
  const grids = [plot, strip].map((scale) => valueGrid(scale, currency, { left, right }));
  const box = { from, to, top: PLOT_TOP, bottom: plotBottom, y };
  const dots = ["first", "second"].map((name) => s("circle", { class: `dot ${name}`, r: 5 }));
  const cursor = s("path", { class: "cursor" });
  svg.setAttribute("viewBox", `0 0 ${width} ${bottom + AXIS_HEIGHT}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", bottom + AXIS_HEIGHT);
  render(
    svg,
    drawAxis(axisTicks({ from, to }, right - left), x, { left, right, top: PLOT_TOP, bottom }),
    s("defs", {}, hatch()),
    grids.map(({ lines }) => lines),
    drawForbidden(rules.flat(), x, box),
    split < to && s("path", { class: "band", d: bandPath(comparison, x, y, split, to) }),
    split > from && s("path", { class: "line shared", d: stepPath(first, x, y, from, split) }),
    split < to && [
      s("path", { class: "line first", d: stepPath(first, x, y, split, to) }),
      s("path", { class: "line second", d: stepPath(second, x, y, split, to) }),
    ],
    [first, second].map((balance, index) => drawBreaches(stepCurve(balance, x, y, from, to), rules[index], x, box)),
    s("path", { class: "delta", d: areaPath(stepPath(delta, x, strip.y, from, to), strip.y(0), left) }),
    cursor,
    grids.map(({ labels }) => labels),
    s("text", { class: "title", x: left, y: stripTop - 8 }, "Difference"),
    dots,
  );
  const moveCursor = (instant) => {
    cursor.setAttribute("d", `M${x(instant)} ${PLOT_TOP}V${bottom}`);
    [first, second].forEach((balance, index) => {
      dots[index].setAttribute("cx", x(instant));
      dots[index].setAttribute("cy", y(balanceAt(balance, instant)));
    });
  };
  return { left, right, moveCursor };
}
