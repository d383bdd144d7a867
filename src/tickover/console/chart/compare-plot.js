// The chart of two clocks: both balances, the band between them, and the difference below.

import { balanceAt, lowestPoint } from "../clock/clock-model.js";
import { smallestOf } from "../clock/expectations.js";
import { render, s } from "../lib/dom.js";
import { formatDay, formatMoney, formatShortDay, shorten } from "../lib/format.js";
import { DAY } from "../lib/instants.js";
import {
  areaPath,
  CALLOUT_HEIGHT,
  callout,
  formatAxisValue,
  scale,
  stepCurve,
  stepPath,
  textWidth,
  valueGrid,
  valueRange,
  valueScale,
} from "./chart-paths.js";
import { boundsIn, drawForbidden, drawViolations, hatch } from "./forbidden-areas.js";
import { halfWidth, Pill } from "./pill.js";
import { axisTicks, drawAxis } from "./time-axis.js";

const [PLOT_TOP, PLOT_HEIGHT, GAP, DIFFERENCE_HEIGHT, AXIS_HEIGHT, RIGHT_MARGIN] = [34, 228, 34, 72, 26, 12];
const CALLOUT_ROW = CALLOUT_HEIGHT + 4;

/** Return the band between two step curves: one forwards, and the other back. */
function bandPath({ balances: [first, second], delta: { times } }, x, y, from, to) {
  const inside = times.filter((time) => time > from && time < to);
  const edges = [from, ...inside];
  const forwards = edges.map((time) => `H${x(time)}V${y(balanceAt(first, time))}`).join("");
  const back = edges
    .toReversed()
    .map((time) => `V${y(balanceAt(second, time))}H${x(time)}`)
    .join("");
  return `M${x(from)} ${y(balanceAt(first, from))}${forwards}H${x(to)}${back}Z`;
}

/** Return the scale of the differences. It ends at the largest one, because the strip is low. */
function stripScale(delta, window, bottom, top) {
  const [low, high] = valueRange([delta], window, []);
  const y = scale(low, high, bottom, top);
  if (delta.values.every((value) => value === 0)) return { y, step: 1, ticks: [0] };
  const { step, ticks } = valueScale([low, high], 3, bottom, top);
  return { y, step, ticks: ticks.filter((tick) => tick <= high) };
}

class Mark extends Pill {
  /**
   * Draw the pill above x, beside the taken ranges `[from, to]`, at most `reach` of its half widths away. Return its
   * range, or null if it has no room.
   */
  draw(text, x, { left, right, bottom }, taken, reach = 2.2) {
    const half = halfWidth(text);
    const clamp = (middle) => Math.min(Math.max(middle, left + half - 8), right - half + 8);
    const isFree = (middle) =>
      Math.abs(middle - x) <= reach * half && taken.every(([from, to]) => middle + half < from || middle - half > to);
    const middle = [x, ...taken.flatMap(([from, to]) => [from - half - 2, to + half + 2])]
      .map(clamp)
      .toSorted((one, other) => Math.abs(one - x) - Math.abs(other - x))
      .find(isFree);
    this.drawLine(x, bottom);
    if (middle === undefined) this.hide();
    else this.place(text, middle);
    return middle === undefined ? null : [middle - half, middle + half];
  }
}

/** Return `{ mark, at, name }` for the time of each clock, the earlier first, or one for both. */
function nowMarks([first, second], clocks) {
  if (first === second) return [{ mark: new Mark("both"), at: first, name: "Both" }];
  return [
    { mark: new Mark("first"), at: first, name: clocks[0] },
    { mark: new Mark("second"), at: second, name: clocks[1] },
  ].toSorted((left, right) => left.at - right.at);
}

const MAX_LABEL_NAME = 20; // characters in a label

const NAMES = ["first", "second"]; // the classes of the clocks

/** Return where everything is: the scales, the edges and the lowest points. */
function layOut(comparison, { window, currency, width, rules }) {
  const { balances, starts, delta, differsFrom } = comparison;
  const { from, to } = window;
  const lows = balances.map((balance, index) => lowestPoint(balance, starts[index], to));
  const low = [0, 1].filter((index) => lows[index].value < smallestOf(rules[index], lows[index].at));
  // The lowest point of each clock below its bounds has a call-out, or the lowest one of both.
  const calledOut = low.length ? low : [lows[1].value < lows[0].value ? 1 : 0];
  const curveBottom = PLOT_TOP + PLOT_HEIGHT - CALLOUT_ROW;
  const plotBottom = curveBottom + calledOut.length * CALLOUT_ROW;
  const stripTop = plotBottom + GAP;
  const bottom = stripTop + DIFFERENCE_HEIGHT;
  const bounds = rules.flat().flatMap(({ atLeast = 0, atMost = 0 }) => [atLeast, atMost]);
  const values = valueScale(valueRange(balances, window, bounds), 4, curveBottom - 8, PLOT_TOP + 8);
  const plot = { ...values, bounds: boundsIn(rules.flat(), window) };
  const strip = stripScale(delta, window, bottom - 4, stripTop + 4);
  const axisWidths = [plot, strip].flatMap(({ ticks, bounds = [], step }) =>
    [...ticks, ...bounds.map(({ value }) => value)].map((value) => textWidth(formatAxisValue(value, currency, step))),
  );
  const [left, right] = [Math.max(...axisWidths) + 12, width - RIGHT_MARGIN];
  const shared = Math.max(comparison.from, from);
  const split = Math.min(Math.max(differsFrom, shared), to);
  const x = scale(from, to, left, right);
  const rows = { curveBottom, plotBottom, stripTop, bottom };
  return { ...rows, lows, low, calledOut, plot, strip, left, right, x, from, to, shared, split };
}

/** Draw both curves. Each begins at the start of its clock. Where both are equal, only the shared one is drawn. */
function drawCurves({ balances, starts }, { x, plot: { y }, shared, split, to }) {
  const ownPath = (index) =>
    [
      [starts[index], shared],
      [split, to],
    ]
      .filter(([start, end]) => start < end)
      .map(([start, end]) => stepPath(balances[index], x, y, start, end))
      .join("");
  return [
    split > shared && s("path.line.shared", { d: stepPath(balances[0], x, y, shared, split) }),
    NAMES.map((name, index) => s("path", { class: `line ${name}`, d: ownPath(index) })),
  ];
}

/** Draw the lowest points. The box of the first clock hides the line to that of the second. */
function drawCallouts({ x, plot: { y }, lows, low, calledOut, plotBottom, left, right }, currency, labels) {
  return calledOut.toReversed().map((index, row) => {
    const { at, value } = lows[index];
    const [label, money] = [`${labels[index]}, ${formatDay(at)}`, formatMoney(value, currency)];
    const fullLabel = `Lowest of ${label}`;
    return callout(
      `${NAMES[index]}${low.length ? " low" : ""}`,
      [x(at), y(value)],
      textWidth(fullLabel + money) + 34 < right - left ? fullLabel : label,
      money,
      { left, right, bottom: plotBottom - row * CALLOUT_ROW },
    );
  });
}

/** The cursor with a dot on each curve, and the marks of both clocks' times. */
class Cursor {
  #comparison;
  #layout;
  #edges;
  mark = new Mark("cursor");
  dots = NAMES.map((name) => s("circle", { class: `dot ${name}`, r: 5 }));
  gap = s("path.gap");

  constructor(comparison, layout, labels) {
    this.#comparison = comparison;
    this.#layout = layout;
    this.#edges = { left: layout.left, right: layout.right, bottom: layout.bottom };
    this.nows = nowMarks(comparison.nows, labels);
  }

  /** Draw the marks beside the cursor. Both have the same kind of text: the first for which both have room. */
  #drawNows(cursorRange) {
    const { x, from, to } = this.#layout;
    const formatNow = to - from > 366 * DAY ? formatDay : formatShortDay;
    // Without a name, they have the mark of the legend.
    const key = this.nows.length > 1 ? "━ " : "";
    const texts = [
      ({ at, name }) => `${name}, now ${formatNow(at)}`,
      ({ at }) => `${key}Now ${formatNow(at)}`,
      () => `${key}Now`,
    ];
    texts.some((textOf, kind) => {
      const taken = [cursorRange];
      for (const each of this.nows) {
        const range = each.mark.draw(textOf(each), x(each.at), this.#edges, taken, kind === 0 ? 1 : undefined);
        if (range) taken.push(range);
      }
      return taken.length > this.nows.length;
    });
  }

  move(instant) {
    const { balances, starts, from } = this.#comparison;
    const { x, plot } = this.#layout;
    this.#drawNows(this.mark.draw(formatDay(instant), x(instant), this.#edges, []));
    const heights = balances.map((balance) => plot.y(balanceAt(balance, instant)));
    this.dots.forEach((dot, index) => {
      dot.setAttribute("visibility", instant < starts[index] ? "hidden" : "visible");
      dot.setAttribute("cx", x(instant));
      dot.setAttribute("cy", heights[index]);
    });
    this.gap.setAttribute("d", instant < from ? "" : `M${x(instant)} ${heights[0]}V${heights[1]}`);
  }
}

/**
 * Draw the chart into the SVG. `rules` are the balance rules of each clock, and `clocks` their names. Return
 * `{ left, right, moveCursor(instant) }`.
 */
export function drawComparison(svg, comparison, { window, currency, width, rules, clocks }) {
  const labels = clocks.map((name) => shorten(name, MAX_LABEL_NAME));
  const layout = layOut(comparison, { window, currency, width, rules });
  const { x, plot, strip, left, right, bottom, plotBottom, curveBottom, stripTop, shared, split, from, to } = layout;
  const { balances, starts, delta } = comparison;
  const grids = [plot, strip].map((scale) => valueGrid(scale, currency, { left, right }));
  const box = { from, to, top: PLOT_TOP, bottom: plotBottom, y: plot.y };
  const cursor = new Cursor(comparison, layout, labels);
  const title = `${clocks[1]} minus ${clocks[0]}`;
  svg.setAttribute("viewBox", `0 0 ${width} ${bottom + AXIS_HEIGHT}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", bottom + AXIS_HEIGHT);
  render(
    svg,
    drawAxis(axisTicks({ from, to }, right - left), x, { left, right, top: PLOT_TOP, bottom }),
    s("defs", hatch()),
    grids.map(({ lines }) => lines),
    // The call-outs are below the hatched area.
    drawForbidden(rules.flat(), x, { ...box, bottom: curveBottom }),
    cursor.nows.map(({ mark }) => mark.stem),
    split < to && s("path.band", { d: bandPath(comparison, x, plot.y, split, to) }),
    // Each curve keeps its colour.
    balances.map((balance, index) =>
      drawViolations(stepCurve(balance, x, plot.y, starts[index], to), rules[index], x, {
        ...box,
        from: starts[index],
      }),
    ),
    drawCurves(comparison, layout),
    s("path.delta", { d: areaPath(stepPath(delta, x, strip.y, shared, to), strip.y(0), x(shared)) }),
    cursor.mark.stem,
    grids.map(({ labels }) => labels),
    s("text.title", { x: left, y: stripTop - 10 }, textWidth(title) < right - left ? title : "Difference"),
    drawCallouts(layout, currency, labels),
    cursor.gap,
    cursor.dots,
    cursor.nows.map(({ mark }) => mark.node),
    cursor.mark.node,
  );
  return { left, right, moveCursor: (instant) => cursor.move(instant) };
}
