// The layout of the timeline: the heights of the plots, the lanes and the strips, and their labels.

import { balanceRules, describeExpectation, shortLabel } from "../clock/expectations.js";
import { s } from "../lib/dom.js";
import { formatAxisValue, textWidth, valueRange, valueScale } from "./chart-paths.js";
import { ACCOUNT_LINE, barLanes, measureItems } from "./event-lanes.js";
import { boundsIn } from "./forbidden-areas.js";

export const MAX_PLOTS = 3;
export const NARROW = 560;
export const [TOP, RIGHT, TICK] = [34, 12, 4];
const MAX_STRIPS = 4;
const [GOAL_HEIGHT, STRIP_HEIGHT] = [20, 16];
const [MAX_LABEL, MAX_NARROW_LABEL] = [128, 72];
const LANE_LABEL_HEIGHT = 15;
const LABEL_SPACE = 34; // below the lowest point, for its label
const [TOP_SPACE, TITLE_SPACE] = [12, 24]; // above the highest value, without and with the title of a plot
const [BARS_GAP, LANES_GAP, PLOT_GAP] = [4, 4, 8]; // above the bars, above the other lanes and the axis, between plots

const DEFAULT_HEIGHT = 402;
const [MIN_PLOT, MAX_PLOT] = [112, 288];
const NARROW_PLOTS = [168, 112, 112];

/** Return the height of each of the plots that share the `space` of the window. If it is too small, the page scrolls. */
function plotHeight(count, space, isNarrow) {
  if (isNarrow) return NARROW_PLOTS[Math.min(count, MAX_PLOTS) - 1];
  return Math.min(Math.max(Math.floor(space / count), MIN_PLOT), MAX_PLOT);
}

/** Return the scale and ticks of the values that a plot shows. They include zero and the bounds of the rules. */
function plotScale(balance, rules, { from, to, top, bottom }, isSingle) {
  const bounds = rules.flatMap(({ atLeast = 0, atMost = 0 }) => [atLeast, atMost]);
  const range = valueRange([balance], { from, to }, bounds);
  return valueScale(range, 4, bottom - LABEL_SPACE, top + (isSingle ? TOP_SPACE : TITLE_SPACE));
}

const axisLabels = (plots) =>
  plots.flatMap(({ ticks, bounds, step, unit }) =>
    [...ticks, ...bounds.map(({ value }) => value)].map((value) => formatAxisValue(value, unit, step)),
  );

/** Return the labels of the lanes of a single curve. Those of a narrow plot share one, with their scales if there is room. */
function singleLabels({ income: { text: income }, expense: { text: expense } }, narrowWidth, fits) {
  if (narrowWidth) {
    const scales = income === expense ? `Income and expenses ${income}` : `Income: ${income}, expenses: ${expense}`;
    return { income: [textWidth(scales) < narrowWidth ? scales : "Income and expenses"] };
  }
  // Both lanes have a scale, or none of them.
  const detail = (text) => (fits(income) && fits(expense) ? text : "");
  return { income: ["Income", detail(income)], expense: ["Expenses", detail(expense)] };
}

/** Return the labels of the low lanes of one of several curves. Their titles have the scale. */
const severalLabels = ({ income, expense }) => ({
  income: income.max ? ["Income", "", income.text] : [],
  expense: expense.max ? ["Expenses", "", expense.text] : [],
});

function accountsWithTransfers({ accounts, items }) {
  const keys = new Set(measureItems(items, "transfer").items.flatMap(({ from, to }) => [from, to]));
  return accounts.filter(({ key }) => keys.has(key));
}

const transferPlace = (accounts, places) => ({
  kind: "transfer",
  accounts: accounts.map(({ key }) => key),
  top: places[0].top,
  bottom: places.at(-1).bottom,
});

/** Return the height of the bars of all plots, of the gaps, and of what is above and below all. */
function heightOfBars(bars) {
  const gaps = 3 * LANES_GAP + Math.max(0, bars.length - 1) * PLOT_GAP;
  return bars.reduce((sum, { income, expense }) => sum + BARS_GAP + income.height + expense.height, TOP + gaps + TICK);
}

/** Place the plots, lanes and strips below each other, if possible in `space` pixels. */
export function layOut({ model, curves, tracks = [], window, width, space = DEFAULT_HEIGHT, showsAll }) {
  const isNarrow = width < NARROW;
  const balances = showsAll ? curves : curves.slice(0, MAX_PLOTS);
  const isSingle = curves.length === 1;
  const strips = model.expectations.slice(0, MAX_STRIPS);
  const accounts = accountsWithTransfers(model);
  const goalHeight = model.goals.length ? GOAL_HEIGHT : 0;
  const maxLabel = isNarrow ? MAX_NARROW_LABEL : MAX_LABEL;
  // Without the labels, whose width is not yet known.
  const bars = balances.map((balance) => barLanes(model, balance, window, width - maxLabel, isSingle));
  const stripsHeight = (strips.length + tracks.length) * STRIP_HEIGHT;
  const others = heightOfBars(bars) + accounts.length * ACCOUNT_LINE + goalHeight + stripsHeight;
  const height = plotHeight(balances.length, space - others, isNarrow);
  const lanes = [];
  let [bottom, left] = [TOP, 0];
  const below = (height, label, detail, title) => {
    // A long label of a narrow plot is above its lane.
    const isAbove = isNarrow && label && textWidth(label) > left - 8;
    if (isAbove) bottom += LANE_LABEL_HEIGHT;
    const place = { top: bottom, bottom: bottom + height, label, detail, title, isAbove };
    bottom = place.bottom;
    return place;
  };
  const addBars = (pair, labels) => {
    for (const [kind, lane] of Object.entries(pair))
      lanes.push({ kind, ...lane, ...below(lane.height, ...(labels[kind] ?? [])) });
  };
  const plots = balances.map((balance, index) => {
    const rules = balanceRules(model, balance);
    if (index) bottom += PLOT_GAP;
    const place = below(height);
    // The title of a plot names its currency or account. A narrow plot has no room to repeat it.
    const unit = isNarrow && balances.length > 1 ? undefined : balance.currency;
    const values = plotScale(balance, rules, { ...window, ...place }, isSingle);
    bottom += BARS_GAP;
    if (!isSingle) addBars(bars[index], isNarrow ? {} : severalLabels(bars[index]));
    return { balance, rules, unit, ...place, ...values, bounds: boundsIn(rules, window) };
  });
  bottom += LANES_GAP;
  const fits = (label) => textWidth(label) < maxLabel - 14;
  const stripLabels = strips.map((strip) => fitLabel(shortLabel(strip, model), isNarrow ? width : MAX_LABEL - 12));
  const accountLabels = accounts.map(({ name }) => fitLabel([name, ""], maxLabel - 12));
  const barLabels = isSingle ? singleLabels(bars[0], isNarrow ? width : 0, fits) : {};
  const shownLabels = isNarrow ? stripLabels.filter((label) => textWidth(label) < MAX_NARROW_LABEL) : stripLabels;
  const laneLabels = ["Goals", ...tracks.map(({ label }) => label), ...accountLabels, ...shownLabels];
  if (!isNarrow) laneLabels.push(...Object.values(barLabels).flat());
  const allLabels = [...axisLabels(plots), ...laneLabels, ...lanes.map(({ label = "" }) => label)];
  left = Math.min(MAX_LABEL, Math.max(0, ...allLabels.map(textWidth)) + 12);
  if (isSingle) addBars(bars[0], barLabels);
  bottom += LANES_GAP;
  const accountPlaces = accountLabels.map((label) => below(ACCOUNT_LINE, label));
  if (accounts.length) lanes.push(transferPlace(accounts, accountPlaces));
  if (goalHeight) lanes.push({ kind: "goal", ...below(goalHeight, "Goals") });
  const stripPlaces = strips.map((strip, index) =>
    below(STRIP_HEIGHT, stripLabels[index], "", describeExpectation(strip, model)),
  );
  const trackPlaces = tracks.map(({ label }) => below(STRIP_HEIGHT, label));
  const places = { accountPlaces, stripPlaces, trackPlaces };
  return { isNarrow, plots, lanes, strips, ...places, left, bottom: bottom + LANES_GAP };
}

/** Cut the name of a label to fit a width, but not the rest of it. */
function fitLabel([name, rest], width) {
  const characters = [...name];
  let text = name + rest;
  while (textWidth(text) > width && characters.length) {
    characters.pop();
    text = `${characters.join("").trimEnd()}…${rest}`;
  }
  return text;
}

/**
 * Draw the label of a lane or strip. Its title is the text of an expectation. A label above its lane hides the lines
 * behind it.
 */
export function laneLabel({ label, detail, title, top, bottom, isAbove }, left) {
  if (!label) return null;
  const tooltip = title && s("title", title);
  if (isAbove)
    return s(
      "g",
      tooltip,
      s("rect.caption", { y: top - LANE_LABEL_HEIGHT, width: textWidth(label) + 4, height: LANE_LABEL_HEIGHT }),
      s("text", { y: top - 3 }, label),
    );
  const middle = (top + bottom) / 2;
  const line = (y, text) => s("text", { x: left - 8, y, "text-anchor": "end" }, text);
  return s("g", tooltip, line(middle + (detail ? -3 : 4), label), detail && line(middle + 10, detail));
}
