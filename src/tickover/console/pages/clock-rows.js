// The cells of a clock in the list: its figures, curve, next event and expectations. The filters and orders of the list.

import { sparkline } from "../chart/sparkline.js";
import { lowestPoints, nextItems, viewAt } from "../clock/clock-model.js";
import { describeStep, plural } from "../clock/clock-text.js";
import { smallestAllowed, summarizeChecks } from "../clock/expectations.js";
import { h, render } from "../lib/dom.js";
import { select } from "../lib/form-fields.js";
import { formatCount, formatDuration, formatMoney, formatPercent, formatShortDay } from "../lib/format.js";
import { stateBadge } from "../lib/icons.js";
import { DAY } from "../lib/instants.js";
import { onSessionEnd } from "../lib/session.js";

const COLUMNS = ["Clock", "Now", "Balance", "Lowest ahead", "Trend", "Next event", "Expectations", "Expires in"];

export const CLOCK_FILTERS = [
  ["All", () => true],
  ["Violations", ({ isViolated }) => isViolated],
  ["Goes below zero", ({ lowest }) => lowest?.value < 0],
];

/** Orders of the list `{ title, keyOf, needsDetails }`. The key of an entry is a number or a text. */
const SORTS = [
  { title: "Newest first", keyOf: () => 0 },
  { title: "Name, A to Z", keyOf: ({ clock }) => clock.name || "\uffff" },
  { title: "Lowest ahead first", keyOf: ({ lowest }) => lowest?.value ?? Infinity, needsDetails: true },
  { title: "Next event first", keyOf: ({ nextAt }) => nextAt ?? Infinity, needsDetails: true },
  { title: "Expires first", keyOf: ({ clock }) => Date.parse(clock.expiresAt) },
];

let lastSort = 0; // an index
onSessionEnd(() => (lastSort = 0));

const compareKeys = (left, right) =>
  left.localeCompare?.(right, "en", { numeric: true }) ?? (left === right ? 0 : left - right);

/** Sort the cards `[element, entry]` of a list, the newest first, in an order. The card with the focus is not removed. */
function sortCards(list, cards, { keyOf }) {
  const sorted = cards
    .toSorted(([, left], [, right]) => compareKeys(keyOf(left), keyOf(right)))
    .map(([element]) => element);
  if (sorted.every((card, index) => card === list.children[index])) return;
  // An element that moves loses the focus.
  const index = sorted.findIndex((card) => card.contains(document.activeElement));
  const fixed = Math.max(0, index);
  sorted[fixed].before(...sorted.slice(0, fixed));
  sorted[fixed].after(...sorted.slice(fixed + 1));
}

/** The titles of the columns, for the eye. Each cell names its content for screen readers. */
export const columnTitles = () =>
  h(
    "div.clock-titles",
    { "aria-hidden": "true" },
    COLUMNS.map((title) => h("span", title)),
  );

/** Create the choice of an order, which calls `onSort`. `isRestored` starts with the last order. */
export function sortChoice(onSort, isRestored) {
  const onchange = () => {
    lastSort = choice.selectedIndex;
    onSort();
  };
  const titles = SORTS.map(({ title }) => [title, title]);
  const choice = select(titles, { "aria-label": "Sort", onchange });
  choice.selectedIndex = isRestored ? lastSort : 0;
  return {
    element: h("div.sort", h("span.muted", "Sort"), choice),
    needsDetails: () => SORTS[choice.selectedIndex].needsDetails,
    sort: (list, cards) => sortCards(list, cards, SORTS[choice.selectedIndex]),
  };
}

/** Create a figure with amounts `{ value, isLow, note }`. */
const figure = (name, title, amounts) =>
  h(
    "div",
    { class: name },
    h("dt", title),
    amounts.map(({ value, isLow, note }) =>
      h("dd", h("span", { class: isLow ? "value below-zero" : "value" }, value), note && h("span.note", note)),
    ),
  );

/** Return the balances, or the progress of the first goal of a clock without transactions. The note has the others. */
function balanceFigure(model) {
  const { balances, goals } = viewAt(model, model.now);
  const amounts = model.balances.map((curve) => ({
    value: formatMoney(balances.get(curve.currency), curve.currency),
    isLow: balances.get(curve.currency) < smallestAllowed(model, curve, model.now),
  }));
  if (amounts.length > 2)
    return figure("balance", "Balance", [{ ...amounts[0], note: `and ${amounts.length - 1} more` }]);
  if (amounts.length) return figure("balance", "Balance", amounts);
  if (!goals.length) return figure("balance none", "Events", [{ value: "None" }]);
  const [{ name, percent }, ...rest] = goals;
  const note = rest.length ? `${name} and ${rest.length} more` : name;
  return figure("balance", plural(goals.length, "goal"), [{ value: formatPercent(percent), note }]);
}

/** Return the lowest balances from now on, or nothing for a clock without transactions. */
function lowestFigure(model) {
  const amounts = lowestPoints(model, model.now).map(({ at, value, currency, curve }) => ({
    value: formatMoney(value, currency),
    isLow: value < smallestAllowed(model, curve, at),
    note: at === model.now ? "now" : formatShortDay(at),
  }));
  return amounts.length > 0 && figure("lowest", "Lowest ahead", amounts);
}

/** Return the next event with its amount and day. Several can be at one time. */
function nextEvent(model) {
  const next = nextItems(model);
  if (!next.length) {
    const text = model.items.length ? "All events are posted" : h("span.add", "Add the first event");
    return h("div.next", h("p", text));
  }
  const { name, amount, title } = describeStep(next);
  return h(
    "div.next",
    { title },
    h("p.event", name),
    " ",
    h("p.note", h("strong", amount), amount && " · ", formatShortDay(next[0].at)),
  );
}

/** Return how many events are posted, or an empty text for a clock without events. */
export function postedCount({ items }) {
  const posted = items.filter(({ isPosted }) => isPosted).length;
  return items.length ? `${formatCount(posted)} of ${formatCount(items.length)} posted` : "";
}

/** Show how much time a clock has left. */
export function showExpiry(node, left) {
  const isSoon = node.classList.toggle("soon", left < DAY);
  const time = left > 0 ? [h("span.prefix", "Expires in "), formatDuration(left)] : "Expired";
  render(node, isSoon && "▲ ", time);
}

/** Return the model with the currencies that its row shows: one or two, or the first of more. */
const withShownCurrencies = (model) =>
  model.balances.length > 2 ? { ...model, balances: model.balances.slice(0, 1) } : model;

/** Return the cells of a clock between its name and its expectations. */
export const clockCells = (model) => [
  h("dl.balances", balanceFigure(model), lowestFigure(model)),
  model.items.length ? sparkline(withShownCurrencies(model)) : h("div.no-curve"),
  nextEvent(model),
];

/** Return the state of the expectations: `{ isViolated, content }`. `results` are those of checkTestClock. */
export function checkCell(results, model) {
  if (!results.length) return { isViolated: false, content: h("span.muted", "No expectations") };
  const { state, text, at } = summarizeChecks(model, results);
  const isViolated = at !== undefined;
  const shown = isViolated ? h("span.error", `Violation ${formatShortDay(at)}`) : h("span", text);
  return { isViolated, content: [stateBadge(state), shown] };
}
