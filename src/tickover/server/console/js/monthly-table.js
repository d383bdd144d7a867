// The timeline as a table of months.

import { balanceAt, isOpening, openingBalance } from "./clock-model.js";
import { tableHead } from "./clock-tables.js";
import { exactSum } from "./decimals.js";
import { h } from "./dom.js";
import { formatCount, formatMoney, formatMonthOfYear } from "./format.js";
import { addMonths } from "./instants.js";

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** Return the row of a month, or of the total of a currency. The opening balance is neither income nor expense. */
function monthRow(title, items, currency, end, className) {
  const posted = items.filter(({ isPosted }) => isPosted).length;
  const scheduled = items.length - posted;
  const total = (...kinds) => {
    const some = items.filter((item) => kinds.includes(item.kind) && !isOpening(item));
    return some.length ? formatMoney(exactSum(some.map(({ amount }) => amount)), currency) : "";
  };
  const cells = {
    posted: items.length ? `${formatCount(posted)} of ${formatCount(items.length)}` : "",
    in: total("income", "goal"),
    out: total("expense"),
    balance: end === undefined ? "" : formatMoney(end, currency),
  };
  return h(
    "tr",
    { class: className ?? (scheduled ? "muted" : undefined) },
    h("th", { scope: "row" }, title, scheduled > 0 && h("small", {}, `${formatCount(scheduled)} to come`)),
    Object.entries(cells).map(([name, text]) => h("td", { class: `number ${name}` }, text)),
  );
}

/** Return the months of a currency with their total. Contributions have no currency. */
function monthSection(model, currency, items) {
  const balance = model.balances.find((candidate) => candidate.currency === currency);
  const openings = items.filter(isOpening);
  const others = items.filter((item) => !isOpening(item));
  const months = [...Map.groupBy(others, ({ at }) => monthOf(at))].map(([month, some]) =>
    monthRow(formatMonthOfYear(month), some, currency, balance && balanceAt(balance, addMonths(month, 1) - 0.001)),
  );
  return h(
    "tbody",
    {},
    h("tr", {}, h("th", { scope: "rowgroup", colSpan: 5 }, h("strong", {}, currency ?? "Goals (no currency)"))),
    (openings.length > 0 || model.opening[currency]) &&
      monthRow("Opening", openings, currency, openingBalance(model, currency)),
    months,
    months.length > 1 && monthRow("Total", items, currency, balance?.values.at(-1), "total"),
  );
}

/** Return the timeline as a table with a section for each currency and for goals. Only amounts of a currency add up. */
export function monthlyTable(model) {
  if (model.items.length === 0) return h("p", { class: "muted" }, "This clock has no events.");
  const sections = [...model.currencies, undefined].map((currency) => [
    currency,
    model.items.filter((item) => item.currency === currency),
  ]);
  return h(
    "table",
    { class: "data months" },
    tableHead(["Month", "Posted", "In", "Out", "Balance"], 1),
    sections.map(([currency, items]) => items.length > 0 && monthSection(model, currency, items)),
  );
}
