// Scales, ticks, paths and legends of the charts.

import { countUntil } from "../clock/clock-model.js";
import { h, s } from "../lib/dom.js";
import { formatAxisMoney, formatMoney } from "../lib/format.js";

const COLUMN = 2; // pixels, the width of a curve's line
const HIDDEN = 0.5; // pixels, hidden by the line
const [LABEL_HEIGHT, TEXT_HEIGHT] = [14, 12]; // with and without a space
const CHUNK = 50;
const MAX_WIDTHS = 1000;
let canvas;
const widths = new Map();

/** Return the width of a text in the charts, in pixels. */
export function textWidth(text) {
  // Computing the style of the page in each frame is slow, and its font never changes.
  canvas ??= document.createElement("canvas").getContext("2d");
  if (widths.size === 0) canvas.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  if (widths.size === MAX_WIDTHS) widths.clear();
  if (!widths.has(text)) widths.set(text, canvas.measureText(text).width);
  return widths.get(text);
}

/** Round to a tenth of a pixel to keep paths short. */
const pixel = (number) => Math.round(number * 10) / 10;

/** Return a function that converts a time or a value to pixels. */
export function scale(from, to, first, last) {
  const factor = to > from ? (last - first) / (to - from) : 0;
  return (value) => pixel(first + (value - from) * factor);
}

/** Return an item of a legend. Its name is the class of its swatch. */
export const legendItem = (name, text = name) =>
  h("li", h("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text);

/** The posted, the previewed and the other part of a chart, in chunks. A frame draws only the chunks that it changes. */
export class Chunks {
  /** A chunk starts at some of the positions. The chart and its parts have class names. */
  constructor(positions, end, name, partNames) {
    this.node = s("g", { class: name });
    this.parts = [];
    for (let first = 0; first < positions.length; first += CHUNK) {
      const bounds = { start: positions[first], end: positions[first + CHUNK] ?? end };
      this.parts.push(...partNames.map((name, index) => ({ ...bounds, index, name })));
    }
  }

  /** Move the bounds of the parts. `draw(from, to, name)` returns the node of a range. */
  update(bounds, draw) {
    for (const part of this.parts) {
      const [from, to] = [Math.max(part.start, bounds[part.index]), Math.min(part.end, bounds[part.index + 1])];
      const key = from < to && `${from} ${to}`;
      if (part.key === key) continue;
      part.key = key;
      if (part.node) part.node.remove();
      part.node = key && this.node.appendChild(draw(from, to, part.name));
    }
  }
}

/** Return the lowest and highest of some values and of all balances between two times. */
export function valueRange(balances, { from, to }, values) {
  let [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  for (const { times, values } of balances) {
    for (let index = countUntil(times, from); index === 0 || times[index - 1] <= to; index += 1) {
      low = Math.min(low, values[index]);
      high = Math.max(high, values[index]);
    }
  }
  return [low, high === low ? low + 1 : high];
}

/**
 * Return `{ y, ticks, step }`: a scale, at least `minCount` round numbers, and their distance. The last number is not
 * below the range. Zero is one of them if it is in the range.
 */
export function valueScale([low, high], minCount, bottom, top) {
  const power = 10 ** Math.ceil(Math.log10(high - low));
  for (const step of [1, 0.5, 0.2, 0.1, 0.05, 0.02].map((factor) => factor * power)) {
    const [first, last] = [low, high].map((value) => Math.ceil(value / step - 1e-9));
    const ticks = Array.from({ length: last - first + 1 || 0 }, (_, index) => (first + index) * step || 0);
    if (ticks.length >= minCount) return { y: scale(low, ticks.at(-1), bottom, top), ticks, step };
  }
  // The range is too small for round numbers.
  return { y: scale(low, high, bottom, top), ticks: [], step: 1 };
}

/** Format a value on the axis of a plot. A bound is a value between its ticks. */
export const formatAxisValue = (value, currency, step) =>
  Number.isInteger(value) || step < 1 ? formatAxisMoney(value, currency, step) : formatMoney(value, currency);

/**
 * Return the values of a scale with labels: those on the left of the plot, and those at its right edge. Of dense ticks,
 * every second has a label. A bound has one too, and hides those that are too close, except zero. A bound that is too
 * close to zero has a label at the right edge, if it holds there.
 */
export function labelledValues({ y, ticks, step, bounds = [] }) {
  const isDense = y(0) - y(step) < LABEL_HEIGHT;
  const isLabelled = (value) => !isDense || Math.round(value / step) % 2 === 0;
  const [atLeft, atRight] = [[], []];
  const add = (labels, value, distance) => {
    const isFree = labels.every((other) => Math.abs(y(other) - y(value)) >= distance);
    if (isFree) labels.push(value);
    return isFree;
  };
  add(atLeft, 0, 0);
  for (const { value, isLast } of bounds)
    if (value && !add(atLeft, value, TEXT_HEIGHT) && isLast) add(atRight, value, TEXT_HEIGHT);
  for (const value of ticks.filter(isLabelled)) add(atLeft, value, LABEL_HEIGHT);
  return { atLeft, atRight };
}

/** Draw the ticks of a scale as `lines`, and its `labels`. */
export function valueGrid(scale, currency, { left, right }) {
  const { y, ticks, step } = scale;
  const { atLeft, atRight } = labelledValues(scale);
  const label = (x, height, text) => s("text", { x, y: height, "text-anchor": "end" }, text);
  const format = (value) => formatAxisValue(value, currency, step);
  return {
    lines: ticks.map((value) => s("path", { class: value ? "grid" : "zero", d: `M${left} ${y(value)}H${right}` })),
    labels: [
      ...atLeft.map((value) => label(left - 8, y(value) + 4, format(value))),
      ...atRight.map((value) => label(right - 4, y(value) - 4, `limit ${format(value)}`)),
    ],
  };
}

/** Return the path from the height of the previous column. Drawing many lines is slow, so leave out invisible ones. */
function columnPath(distance, previous, { column, height, top, bottom }) {
  const [least, most] = previous < height ? [previous, height] : [height, previous];
  if (top < least - HIDDEN || bottom > most + HIDDEN) return `H${column}V${top}V${bottom}V${height}`;
  return distance < 2 * COLUMN && most - least < COLUMN ? `L${column} ${height}` : `H${column}V${height}`;
}

/**
 * Return the curve `{ xs, ys, parts, highest, lowest }` of a step function between two times. `x` and `y` convert times and
 * values to pixels. Changes that are less than a column apart share a part from their lowest to their highest value.
 */
export function stepCurve({ times, values }, x, y, from, to) {
  let index = countUntil(times, from);
  const end = countUntil(times, to);
  const [xs, ys, parts] = [[x(from)], [y(values[index])], [""]];
  let [highest, lowest] = [ys[0], ys[0]];
  while (index < end) {
    const column = x(times[index]);
    let height = y(values[++index]);
    let [top, bottom] = [height, height];
    while (index < end && x(times[index]) < column + COLUMN) {
      height = y(values[++index]);
      if (height < top) top = height;
      else if (height > bottom) bottom = height;
    }
    parts.push(columnPath(column - xs.at(-1), ys.at(-1), { column, height, top, bottom }));
    xs.push(column);
    ys.push(height);
    [highest, lowest] = [Math.min(highest, top), Math.max(lowest, bottom)];
  }
  return { xs, ys, parts, highest, lowest };
}

/** Return the path of a curve between two x coordinates. */
export function curvePath({ xs, ys, parts }, left, right) {
  const first = Math.max(1, countUntil(xs, left));
  return `M${left} ${ys[first - 1]}${parts.slice(first, countUntil(xs, right)).join("")}H${right}`;
}

export const stepPath = (balance, x, y, from, to) => curvePath(stepCurve(balance, x, y, from, to), x(from), x(to));

/** Close a step path that starts at `left` to an area above or below a horizontal line. */
export const areaPath = (line, y, left) => `${line}V${y}H${left}Z`;

export const CALLOUT_HEIGHT = 22;

/**
 * Call out a point in pixels with a label and an amount at the bottom of a plot. No curve reaches its space. Without room
 * for a long amount, only the date of the label is shown.
 */
export function callout(name, [x, y], fullLabel, money, { left, right, bottom }) {
  const space = textWidth(money) + 28;
  const label = textWidth(fullLabel) + space < right ? fullLabel : fullLabel.split(", ").at(-1);
  const width = textWidth(label) + space;
  const boxX = Math.min(Math.max(x - width / 2, left + 4), right - width - 2);
  const boxY = bottom - CALLOUT_HEIGHT;
  const node = s(
    "g",
    { class: `lowest ${name}` },
    s("path.zero", { d: `M${x} ${y}V${boxY}` }),
    s("circle", { r: 4, cx: x, cy: y }),
    s("rect", { x: boxX, y: boxY, width, height: CALLOUT_HEIGHT, rx: 6 }),
    s("text", { x: boxX + 8, y: boxY + 15 }, label),
    s("text.money", { x: boxX + width - 8, y: boxY + 15, "text-anchor": "end" }, money),
  );
  return Object.assign(node, { edges: { from: boxX, to: boxX + width } });
}
