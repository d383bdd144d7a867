// The cells of a clock in the list: its figures, curve, next event and expectations.

import { lowestOfAll, nextItems, viewAt } from "./clock-model.js";
import { describeStep, plural } from "./clock-text.js";
import { h } from "./dom.js";
import { smallestAllowed, summarizeChecks } from "./expectations.js";
import { stateBadge } from "./expectations-panel.js";
import { formatCount, formatMoney, formatPercent, formatShortDay } from "./format.js";
import { sparkline } from "./sparkline.js";

export const ROW_TITLES = ["Clock, newest first", "Balance", "Lowest ahead", "", "Next event", "Expectations"];

const MAX_LENGTH = 16; // of an amount in the size of the others

const figure = (name, title, value, { isLow, note } = {}) =>
  h(
    "div",
    { class: name },
    h("dt", {}, title),
    h("dd", { class: `value${isLow ? " below-zero" : ""}${value.length > MAX_LENGTH ? " long" : ""}` }, value),
    note && h("dd", { class: "note" }, note),
  );

/** Return the balance, or the progress of the first goal of a clock without transactions. The note has the others. */
function balanceFigure(model, expectations) {
  const { balances, goals } = viewAt(model, model.now);
  const [first, second, ...others] = [...balances];
  const money = ([currency, balance]) => formatMoney(balance, currency);
  if (first) {
    const note = others.length ? `and ${others.length + 1} more currencies` : second && money(second);
    return figure("balance", "Balance", money(first), {
      isLow: first[1] < smallestAllowed(expectations, first[0], model, model.now),
      note,
    });
  }
  if (!goals.length) return figure("balance none", "Events", "None");
  const [{ name, percent }, ...rest] = goals;
  const note = rest.length ? `${name} and ${rest.length} more` : name;
  return figure("balance", plural(goals.length, "goal"), formatPercent(percent), { note });
}

/** Return the lowest balance from now on, or nothing for a clock without transactions. */
function lowestFigure(model, expectations) {
  const lowest = lowestOfAll(model, model.now);
  if (!lowest) return null;
  const { at, value, currency } = lowest;
  const note = at === model.now ? "now" : formatShortDay(at);
  return figure("lowest", "Lowest ahead", formatMoney(value, currency), {
    isLow: value < smallestAllowed(expectations, currency, model, at),
    note,
  });
}

/** Return the next event: its name and amount, its day, and how many events are posted. Several can be at one time. */
function nextEvent(model) {
  const { items } = model;
  const next = nextItems(model);
  const step = next.length > 0 && describeStep(next);
  const posted = items.filter(({ isPosted }) => isPosted).length;
  const counts = `${formatCount(posted)} of ${plural(items.length, "event")} posted`;
  const [title, note] = !items.length
    ? [h("span", { class: "add" }, "Add the first event")]
    : !step
      ? ["All events are posted", counts]
      : [
          [h("span", { class: "event" }, step.name), " ", h("strong", {}, step.amount)],
          `${formatShortDay(next[0].at)} · ${counts}`,
        ];
  return h("div", { class: "next" }, h("p", {}, title), note && h("p", { class: "note" }, note));
}

/** Return the cells of a clock between its name and its expectations. */
export const clockCells = (model, expectations) => [
  h("dl", { class: "balances" }, balanceFigure(model, expectations), lowestFigure(model, expectations)),
  model.items.length ? sparkline(model, { expectations }) : h("div", { class: "no-curve" }),
  nextEvent(model),
];

/** Return the state of the expectations: `{ isBroken, content }`. `results` are those of checkTestClock. */
export function checkCell(expectations, results, now) {
  if (!results.length) return { isBroken: false, content: h("span", { class: "muted" }, "No expectations") };
  const { state, at } = summarizeChecks(expectations, results, now);
  const texts = { holds: "All hold", "will break": "Will break", broken: "Broken" };
  const isBroken = state !== "holds";
  const text = isBroken ? `${texts[state]} ${formatShortDay(at)}` : texts[state];
  return { isBroken, content: [stateBadge(state), h("span", { class: isBroken ? "error" : undefined }, text)] };
}
