// The time axis of the timeline: the visible window and its ticks.

import { scale, textWidth } from "./chart-paths.js";
import { s } from "./dom.js";
import { formatDay, formatMonth, formatMonthOfYear, formatShortDay, formatTime, formatYear } from "./format.js";
import { addMonths, DAY, endOfDay, HOUR, MINUTE, startOfDay } from "./instants.js";

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

const ANIMATION_MS = 240;

/** Move from one window to another. Return `{ target, isRunning, stop }`. */
export function animateWindow(from, to, onFrame) {
  const animation = { target: to, isRunning: !matchMedia("(prefers-reduced-motion: reduce)").matches };
  animation.stop = () => {
    animation.isRunning = false;
    cancelAnimationFrame(frame);
  };
  const startedAt = performance.now();
  let frame = 0;
  const step = () => {
    const progress = animation.isRunning ? Math.min(1, (performance.now() - startedAt) / ANIMATION_MS) : 1;
    const eased = 1 - (1 - progress) ** 3;
    const between = (edge) => (progress === 1 ? to[edge] : from[edge] + (to[edge] - from[edge]) * eased);
    onFrame({ from: between("from"), to: between("to") });
    animation.isRunning = progress < 1;
    if (animation.isRunning) frame = requestAnimationFrame(step);
  };
  if (animation.isRunning) frame = requestAnimationFrame(step);
  else step();
  return animation;
}

const STEPS = [
  ...[1, 5, 15, 30].map((minutes) => ({ size: minutes * MINUTE, label: formatTime })),
  ...[1, 3, 6, 12].map((hours) => ({ size: hours * HOUR, label: formatTime })),
  ...[1, 2, 7].map((days) => ({ size: days * DAY, label: formatShortDay })),
  ...[1, 2, 3, 6].map((months) => ({ months, size: months * 30.4 * DAY, label: formatMonth })),
  ...[1, 2, 5].map((years) => ({ months: 12 * years, size: years * 365.25 * DAY, label: formatYear })),
];

const MIN_TEXTS = 3;

/** Return the ticks `{ at, text, strong }` of a window with a width in pixels. At least three of their texts fit. */
export function axisTicks(window, width) {
  const { from, to } = window;
  const distance = (step) => (step.size / (to - from)) * width;
  // Weeks need more distance, because months are easier to read.
  const minDistance = (step) => (step.size === 7 * DAY ? 72 : step.label === formatShortDay ? 58 : 46);
  const coarsest = STEPS.findIndex((step) => distance(step) >= minDistance(step));
  const x = scale(from, to, 0, width);
  for (let index = coarsest < 0 ? STEPS.length - 1 : coarsest; ; index -= 1) {
    const ticks = ticksOf(STEPS[index], window);
    if (index === 0 || placeTexts(ticks, x, 0, width).length >= MIN_TEXTS) return ticks;
  }
}

function ticksOf(step, { from, to }) {
  const ticks = [];
  let at = step.months ? firstMonth(from, step.months) : Math.ceil(from / step.size) * step.size;
  let lastYear = null;
  for (; at <= to; at = step.months ? addMonths(at, step.months) : at + step.size) {
    const year = formatYear(at);
    const strong = year !== lastYear;
    lastYear = year;
    ticks.push({ at, text: strong ? withYear(step, at) : step.label(at), strong });
  }
  return ticks;
}

function withYear(step, at) {
  if (step.label === formatMonth) return formatMonthOfYear(at);
  return step.label === formatYear ? formatYear(at) : formatDay(at);
}

function firstMonth(from, months) {
  const date = new Date(from);
  const month = Math.ceil(date.getUTCMonth() / months) * months;
  const at = Date.UTC(date.getUTCFullYear(), month, 1);
  return at < from ? addMonths(at, months) : at;
}

/** Return the ticks whose texts don't overlap, with the start of each text. */
function placeTexts(ticks, x, left, right) {
  let freeX = -Infinity;
  return ticks.flatMap((tick) => {
    const width = textWidth(tick.text);
    const start = Math.min(x(tick.at), right - width);
    if (start < freeX) return [];
    freeX = start + width + 6;
    return [{ ...tick, start: Math.max(left, start) }];
  });
}

/** Draw the ticks as vertical lines with their texts. */
export function drawAxis(ticks, x, { left, right, top, bottom }) {
  return s(
    "g",
    { class: "axis" },
    s("path", { d: ticks.map((tick) => `M${x(tick.at)} ${top}V${bottom + 4}`).join("") }),
    placeTexts(ticks, x, left, right).map(({ start, strong, text }) =>
      s("text", { x: start, y: bottom + 15, class: strong ? "strong" : undefined }, text),
    ),
  );
}
