// The monthly table of the timeline.

import { balanceAt } from "./clock-model.js";
import { toCommonUnit, toNumber } from "./decimals.js";
import { h } from "./dom.js";
import { formatCount, formatMoney, formatMonthOfYear } from "./format.js";
import { addMonths } from "./instants.js";

function sum(items) {
  const { places, counts } = toCommonUnit(items.map((item) => item.amount));
  return toNumber(
    counts.reduce((total, count) => total + count, 0n),
    places,
  );
}

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** Return the row of a month, or of the total of a currency. */
function row(title, items, currency, end) {
  const posted = items.filter(({ isPosted }) => isPosted).length;
  const isProjected = posted < items.length;
  const total = (...kinds) => {
    const some = items.filter(({ kind }) => kinds.includes(kind));
    return some.length ? formatMoney(sum(some), currency) : "";
  };
  const cells = [
    `${formatCount(posted)} of ${formatCount(items.length)}`,
    total("income", "goal"),
    total("expense"),
    end === undefined ? "" : formatMoney(end, currency),
  ];
  return h(
    "tr",
    { class: isProjected ? "muted" : undefined },
    h("th", { scope: "row" }, title, isProjected && h("small", {}, "projected")),
    cells.map((text) => h("td", { class: "number" }, text)),
  );
}

/** Return the months of a currency with their total. Contributions have no currency. */
function section({ balances }, currency, items) {
  const balance = balances.find((candidate) => candidate.currency === currency);
  const months = [...Map.groupBy(items, ({ at }) => monthOf(at))].map(([month, some]) =>
    row(formatMonthOfYear(month), some, currency, balance && balanceAt(balance, addMonths(month, 1) - 0.001)),
  );
  const title = currency ?? "Goals, amounts without a currency";
  return h(
    "tbody",
    {},
    h("tr", {}, h("th", { scope: "rowgroup", colSpan: 5 }, h("strong", {}, title))),
    months,
    months.length > 1 && Object.assign(row("Total", items, currency), { className: "total" }),
  );
}

/** Return the timeline as a table with a section for each currency and for goals. Only amounts of a currency add up. */
export function monthlyTable(model) {
  if (model.items.length === 0) return h("p", { class: "muted" }, "This clock has no items.");
  const sections = [...model.currencies, undefined].map((currency) => [
    currency,
    model.items.filter((item) => item.currency === currency),
  ]);
  return h(
    "table",
    { class: "data" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Month", "Posted", "In", "Out", "Balance"].map((title, index) =>
          h("th", { scope: "col", class: index > 0 ? "number" : undefined }, title),
        ),
      ),
    ),
    sections.map(([currency, items]) => items.length > 0 && section(model, currency, items)),
  );
}
