// The timeline as a table of months: what comes in and goes out, and the lowest and the last balance.

import { balanceAt, changeOf, curvesOf, lowestPoint } from "../clock/clock-model.js";
import { curveName } from "../clock/clock-text.js";
import { smallestAllowed } from "../clock/expectations.js";
import { exactSum } from "../lib/decimals.js";
import { h } from "../lib/dom.js";
import { formatCount, formatMoney, formatMonthOfYear, formatShortDay } from "../lib/format.js";
import { addMonths, startOfMonth } from "../lib/instants.js";
import { tableHead } from "../lib/table.js";

/** Return the row of a month with some items. */
function monthRow(model, curve, month, items) {
  const { currency } = curve;
  const end = addMonths(month, 1) - 0.001;
  const lowest = lowestPoint(curve, Math.max(month, model.start), end);
  const amounts = items.map((item) => changeOf(item, curve));
  const total = (name, sign) => {
    const some = amounts.filter((amount) => amount * sign > 0);
    return h(`td.number.${name}`, some.length > 0 && formatMoney(Math.abs(exactSum(some)), currency));
  };
  const balance = (name, { at, value }, note) => {
    const isLow = value < smallestAllowed(model, curve, at);
    return h("td", { class: `number ${name}${isLow ? " below-zero" : ""}` }, formatMoney(value, currency), note);
  };
  return h(
    "tr",
    { "data-state": end > model.now ? "pending" : "posted" },
    h("th", { scope: "row" }, formatMonthOfYear(month), month <= model.now && model.now < end && " in progress"),
    h("td.number.events", formatCount(items.length)),
    total("in", 1),
    total("out", -1),
    balance("lowest", lowest, h("span.muted", ` ${formatShortDay(lowest.at)}`)),
    balance("balance", { at: end, value: balanceAt(curve, end) }),
  );
}

/** Return the months of each account and currency with their events. */
export function monthlyTable(model) {
  const totals = model.accounts.length ? model.balances : [];
  const sections = [
    ...curvesOf(model).map((curve) => ({ title: curveName(curve), curve })),
    ...totals.map((curve) => ({ title: `${curve.currency} in all accounts`, curve })),
  ];
  if (!sections.length) return h("p.muted", "This clock has no transactions.");
  return h(
    "table.data.months",
    tableHead(["Month", "Events", "In", "Out", "Lowest", "Balance at the end"], 1),
    sections.map(({ title, curve }) =>
      h(
        "tbody",
        h("tr", h("th", { scope: "rowgroup", colSpan: 6 }, h("strong", title))),
        [...Map.groupBy(curve.items, ({ at }) => startOfMonth(at))].map((month) => monthRow(model, curve, ...month)),
      ),
    ),
  );
}
