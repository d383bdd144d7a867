// The timeline as a table of months. Now and the preview divide the months in which they are, so each row has one state.

import { balanceAt, changeOf, curvesOf, lowestPoint } from "../clock/clock-model.js";
import { curveName } from "../clock/clock-text.js";
import { smallestAllowed } from "../clock/expectations.js";
import { exactSum } from "../lib/decimals.js";
import { h, render, tableHead } from "../lib/dom.js";
import { formatCount, formatDay, formatMoney, formatMonthOfYear, formatShortDay, isMidnight } from "../lib/format.js";
import { addMonths } from "../lib/instants.js";
import { STATE_TEXTS } from "./row-states.js";

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** Return the parts `{ state, from, to }` into which now and the preview divide the time. */
function partsOfTime(now, instant) {
  const [first, last] = [Math.min(now, instant), Math.max(now, instant)];
  return [
    { state: "posted", from: -Infinity, to: first },
    { state: now < instant ? "next" : "later", from: first, to: last },
    { state: "pending", from: last, to: Infinity },
  ];
}

/** Return the title of a month or of a part of it: `Jan 2027` or `1–16 Jan 2027`. `items` are in it. */
function periodTitle(month, from, to, items) {
  const last = addMonths(month, 1) - 1;
  if (from <= month && to >= last) return formatMonthOfYear(month);
  // The day after a midnight belongs to the next part, unless an item is at midnight.
  const end = Math.min(last, isMidnight(to) && items.at(-1).at < to ? to - 1 : to);
  const [first, final] = [Math.max(month, from), end].map((instant) => new Date(instant).getUTCDate());
  return first === final ? formatDay(end) : `${first}–${formatDay(end)}`;
}

/**
 * Return a row. Without a state, it is a total. `balance` at the end
 * and `lowest` are `{ at, value, isLow }`. Contributions have no curve.
 */
function periodRow(title, items, { curve, balance, lowest, state }) {
  const currency = curve?.currency;
  const amounts = items.map((item) => (curve ? changeOf(item, curve) : item.amount));
  const total = (sign) => {
    const some = amounts.filter((amount) => amount * sign > 0);
    return some.length ? formatMoney(Math.abs(exactSum(some)), currency) : "";
  };
  const cells = {
    events: items.length > 0 && h("span.state", formatCount(items.length), ` ${STATE_TEXTS[state] ?? ""}`),
    in: total(1),
    out: total(-1),
    lowest: lowest && [formatMoney(lowest.value, currency), h("span.muted", ` ${formatShortDay(lowest.at)}`)],
    balance: balance && formatMoney(balance.value, currency),
  };
  const isLow = { lowest: lowest?.isLow, balance: balance?.isLow };
  return h(
    "tr",
    { class: state ? undefined : "total", "data-state": state },
    h("th", { scope: "row" }, title),
    Object.entries(cells).map(([name, content]) =>
      h("td", { class: `number ${name}${isLow[name] ? " below-zero" : ""}` }, content),
    ),
  );
}

/** Return the rows of a curve with their total. Contributions have no curve. */
function sectionRows(model, { title, curve, items }, instant) {
  const point = (at, value) => ({ at, value, isLow: value < smallestAllowed(model, curve, at) });
  const figures = (from, to, state) => {
    if (!curve) return { state };
    const lowest = lowestPoint(curve, Math.max(from, model.start), to);
    return { curve, state, balance: point(to, balanceAt(curve, to)), lowest: point(lowest.at, lowest.value) };
  };
  const periods = partsOfTime(model.now, instant).flatMap(({ state, from, to }) => {
    const some = items.filter(({ at }) => at > from && at <= to);
    return [...Map.groupBy(some, ({ at }) => monthOf(at))].map(([month, group]) => {
      const [start, end] = [Math.max(from, month), Math.min(to, addMonths(month, 1) - 0.001)];
      return periodRow(periodTitle(month, from, to, group), group, figures(start, end, state));
    });
  });
  return [
    h("tr", h("th", { scope: "rowgroup", colSpan: 6 }, h("strong", title))),
    curve &&
      curve.values[0] !== 0 &&
      periodRow("Opening", [], { curve, state: "posted", balance: point(model.start, curve.values[0]) }),
    periods,
    periods.length > 1 && periodRow("Total", items, figures(model.start, items.at(-1).at)),
  ];
}

/**
 * Return the timeline as a table `{ element, preview }` with a section for each account, currency and for goals. Only
 * amounts of a currency add up. `preview(instant)` shows what would post.
 */
export function monthlyTable(model) {
  if (model.items.length === 0) return { element: h("p.muted", "This clock has no events."), preview: () => {} };
  const totals = model.accounts.length ? model.balances : [];
  const sections = [
    ...curvesOf(model).map((curve) => ({ title: curveName(curve), curve, items: curve.items })),
    ...totals.map((curve) => ({ title: `${curve.currency} in all accounts`, curve, items: curve.items })),
    { title: "Contributions to goals", items: model.items.filter(({ kind }) => kind === "goal") },
  ]
    .filter(({ items }) => items.length)
    .map((section) => ({ ...section, body: h("tbody") }));
  const head = tableHead(["Period", "Transactions", "In", "Out", "Lowest", "Balance at the end"], 1);
  const element = h(
    "table.data.months",
    head,
    sections.map(({ body }) => body),
  );
  let shown = null;
  const preview = (instant) => {
    if (instant === shown) return;
    shown = instant;
    for (const section of sections) render(section.body, sectionRows(model, section, instant));
  };
  return { element, preview };
}
