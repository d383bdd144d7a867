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

/** Return one row per month and currency, and one per month for contributions. */
function monthlyRows(model) {
  const groups = new Map();
  for (const item of model.items) {
    const key = `${monthOf(item.at)} ${item.currency ?? ""}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  const rank = ({ currency }) => (currency ? model.currencies.indexOf(currency) : Infinity);
  const rows = [...groups.values()].map((items) => {
    const [{ at, currency }] = items;
    const month = monthOf(at);
    const of = (kind) => items.filter((item) => item.kind === kind);
    const balance = model.balances.find((candidate) => candidate.currency === currency);
    const end = balance && balanceAt(balance, addMonths(month, 1) - 0.001);
    return {
      month,
      currency,
      posted: items.filter((item) => item.isPosted).length,
      count: items.length,
      income: of("income"),
      expense: of("expense"),
      goal: of("goal"),
      end,
    };
  });
  return rows.sort((left, right) => left.month - right.month || rank(left) - rank(right));
}

/** Return the timeline as a table. */
export function monthlyTable(model) {
  const isProjected = ({ posted, count }) => posted < count;
  const hasGoals = model.items.some((item) => item.kind === "goal");
  const money = (kind, row) => (row[kind].length ? formatMoney(sum(row[kind]), row.currency) : "");
  const rows = monthlyRows(model).map((row) =>
    h(
      "tr",
      { class: isProjected(row) ? "muted" : undefined },
      h("th", { scope: "row" }, formatMonthOfYear(row.month), isProjected(row) && h("small", {}, "projected")),
      h("td", {}, row.currency ?? ""),
      h("td", { class: "number" }, `${formatCount(row.posted)} of ${formatCount(row.count)}`),
      h("td", { class: "number" }, money("income", row)),
      h("td", { class: "number" }, money("expense", row)),
      hasGoals && h("td", { class: "number" }, money("goal", row)),
      h("td", { class: "number" }, row.currency ? formatMoney(row.end, row.currency) : ""),
    ),
  );
  if (rows.length === 0) return h("p", { class: "muted" }, "This clock has no items.");
  return h(
    "table",
    { class: "data" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Month", "Currency", "Posted", "In", "Out", ...(hasGoals ? ["To goals"] : []), "Balance"].map((title, index) =>
          h("th", { scope: "col", class: index > 1 ? "number" : undefined }, title),
        ),
      ),
    ),
    h("tbody", {}, rows),
  );
}
