// The time axis of the timeline: the visible window and its ticks.

import { s } from "../lib/dom.js";
import { formatMonth, formatShortDay, formatTime, formatYear, isMidnight } from "../lib/format.js";
import { addMonths, DAY, endOfDay, HOUR, MINUTE, startOfDay } from "../lib/instants.js";
import { scale, textWidth } from "./chart-paths.js";

/** The zoom levels in months. Zero shows everything up to shortly after the last item. */
export const ZOOMS = [
  { name: "1 month", label: "1M", months: 1 },
  { name: "3 months", label: "3M", months: 3 },
  { name: "1 year", label: "1Y", months: 12 },
  { name: "All", label: "All", months: 0 },
];

/** Return the window from the clock's start to its last item, its time or the preview, whichever is latest. */
function wholeWindow(model, instant) {
  const last = Math.max(model.now, instant, model.times.at(-1) ?? model.start);
  const first = Math.min(model.start, model.times[0] ?? model.start);
  // An empty clock shows a month. A clock of a few hours shows less than a day.
  const length = last - first || 30 * DAY;
  if (length < 2 * DAY) return { from: first, to: Math.min(model.maxTime, first + Math.max(length * 1.05, MINUTE)) };
  const to = endOfDay(first + length + Math.max(DAY, length * 0.03));
  return { from: startOfDay(first), to: Math.min(to, Math.max(endOfDay(model.maxTime), last)) };
}

/** Return a window of some months, or of the length of `previous`, with the instant after the first quarter. */
export function windowAround(model, instant, months, previous) {
  if (months === 0) return wholeWindow(model, instant);
  if (months === undefined) {
    const length = previous.to - previous.from;
    return clampWindow(model, { from: instant - length / 4, to: instant + (length * 3) / 4 });
  }
  const earliest = startOfDay(model.start);
  const length = addMonths(earliest, months) - earliest;
  const from = Math.max(earliest, startOfDay(instant - length / 4));
  return { from, to: Math.min(from + length, endOfDay(model.maxTime)) };
}

const MIN_WINDOW = HOUR;

/** Limit a window to the time of the clock. */
export function clampWindow(model, { from, to }) {
  const [earliest, latest] = [startOfDay(model.start), Math.max(endOfDay(model.maxTime), model.now)];
  const length = Math.min(Math.max(to - from, MIN_WINDOW), latest - earliest);
  const start = Math.min(Math.max(from, earliest), latest - length);
  return { from: start, to: start + length };
}

/** Return the window `factor` times as long that keeps the instant in its place. */
export function zoomWindow({ from, to }, instant, factor) {
  return { from: instant - (instant - from) * factor, to: instant + (to - instant) * factor };
}

/** Return the window moved by a fraction of its length. */
export function panWindow({ from, to }, fraction) {
  const distance = (to - from) * fraction;
  return { from: from + distance, to: to + distance };
}

/** Format a time of day. Midnight is the start of a day. */
const formatClockTime = (at) => (isMidnight(at) ? formatShortDay(at) : formatTime(at));

const STEPS = [
  ...[1, 5, 15, 30].map((minutes) => ({ size: minutes * MINUTE, label: formatClockTime })),
  ...[1, 3, 6, 12].map((hours) => ({ size: hours * HOUR, label: formatClockTime })),
  ...[1, 2, 7].map((days) => ({ size: days * DAY, label: formatShortDay })),
  // Months are easier to read than two weeks.
  { months: 1, size: 30.4 * DAY, label: formatMonth },
  { size: 14 * DAY, label: formatShortDay },
  ...[2, 3, 6].map((months) => ({ months, size: months * 30.4 * DAY, label: formatMonth })),
  ...[1, 2, 5].map((years) => ({ months: 12 * years, size: years * 365.25 * DAY, label: formatYear })),
];

const MIN_TEXTS = 3;
const YEAR_FORMATS = [formatYear, (at) => `’${formatYear(at).slice(-2)}`, () => ""];
const MONDAY = 4 * DAY; // the first one after 1970-01-01

/**
 * Return the ticks `{ at, text, strong }` of a window with a width in pixels. At least three of their texts fit. If
 * possible, all of them fit, with a short year or none if need be, so that their distances are equal.
 */
export function axisTicks(window, width) {
  const { from, to } = window;
  const distance = (step) => (step.size / (to - from)) * width;
  // Weeks need more distance, because months are easier to read.
  const minDistance = (step) => (step.size === 7 * DAY ? 72 : step.label === formatShortDay ? 58 : 46);
  const coarsest = STEPS.findIndex((step) => distance(step) >= minDistance(step));
  const finest = coarsest < 0 ? STEPS.length - 1 : coarsest;
  const x = scale(from, to, 0, width);
  for (const yearFormat of YEAR_FORMATS)
    for (const step of STEPS.slice(finest)) {
      const ticks = ticksOf(step, window, yearFormat);
      const count = countTexts(ticks, x, width);
      if (count >= MIN_TEXTS && count === ticks.filter(({ at, text }) => fits(x(at), text, width)).length) return ticks;
    }
  for (let index = finest; ; index -= 1) {
    const ticks = ticksOf(STEPS[index], window, YEAR_FORMATS.at(-1));
    if (index === 0 || countTexts(ticks, x, width) >= MIN_TEXTS) return ticks;
  }
}

function ticksOf(step, { from, to }, yearFormat) {
  const ticks = [];
  const first = step.size % (7 * DAY) === 0 ? MONDAY : 0;
  let at = step.months ? firstMonth(from, step.months) : Math.ceil((from - first) / step.size) * step.size + first;
  let lastYear = null;
  for (; at <= to; at = step.months ? addMonths(at, step.months) : at + step.size) {
    const year = new Date(at).getUTCFullYear();
    const strong = year !== lastYear;
    lastYear = year;
    ticks.push({ at, text: strong ? withYear(step, at, yearFormat(at)) : step.label(at), strong });
  }
  return ticks;
}

function withYear({ label }, at, year) {
  if (label === formatYear) return formatYear(at);
  return `${label === formatMonth ? formatMonth(at) : formatShortDay(at)} ${year}`.trim();
}

function firstMonth(from, months) {
  const date = new Date(from);
  const month = Math.ceil(date.getUTCMonth() / months) * months;
  const at = Date.UTC(date.getUTCFullYear(), month, 1);
  return at < from ? addMonths(at, months) : at;
}

const fits = (start, text, right) => start + textWidth(text) <= right + 4;

/**
 * Return the ticks whose texts don't overlap, with the `start` of their texts. All end in the plot. The last text moves to
 * the left for that, if there is room.
 */
function placeTexts(ticks, x, right) {
  let freeX = -Infinity;
  const placed = [];
  for (const tick of ticks) {
    const { at, text } = tick;
    const isMoved = !fits(x(at), text, right);
    const start = isMoved ? right + 4 - textWidth(text) : x(at);
    if (start < freeX || (isMoved && tick !== ticks.at(-1))) continue;
    freeX = start + textWidth(text) + 6;
    placed.push({ ...tick, start, isMoved });
  }
  return placed;
}

/** Count the texts that start at their ticks. */
const countTexts = (ticks, x, right) => placeTexts(ticks, x, right).filter(({ isMoved }) => !isMoved).length;

/** Draw the ticks as vertical lines. */
export const axisLines = (ticks, x, { top, bottom }) =>
  s("path", { d: ticks.map((tick) => `M${x(tick.at)} ${top}V${bottom + 4}`).join("") });

/** Draw the ticks as vertical lines with their texts. */
export function drawAxis(ticks, x, { right, top, bottom }) {
  return s(
    "g.axis",
    axisLines(ticks, x, { top, bottom }),
    placeTexts(ticks, x, right).map(({ start, strong, text }) =>
      s("text", { x: start, y: bottom + 15, class: strong ? "strong" : undefined }, text),
    ),
  );
}
