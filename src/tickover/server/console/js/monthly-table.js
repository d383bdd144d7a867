// The timeline as a table of months.

import { balanceAt, countUntil, isOpening, openingBalance } from "./clock-model.js";
import { tableHead } from "./clock-tables.js";
import { exactSum } from "./decimals.js";
import { h } from "./dom.js";
import { smallestAllowed } from "./expectations.js";
import { formatCount, formatDay, formatMoney, formatMonthOfYear } from "./format.js";
import { addMonths } from "./instants.js";

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/**
 * Return the row `{ element, preview }` of a month, or of the total of a currency. The opening balance is neither income
 * nor expense. `preview(instant)` says how many of the scheduled events would post.
 */
function monthRow(title, items, { currency, balance, isLow, className }) {
  const scheduled = items.filter(({ isPosted }) => !isPosted).map(({ at }) => at);
  const [toCome, all] = [formatCount(scheduled.length), formatCount(items.length)];
  const total = (...kinds) => {
    const some = items.filter((item) => kinds.includes(item.kind) && !isOpening(item));
    return some.length ? formatMoney(exactSum(some.map(({ amount }) => amount)), currency) : "";
  };
  const cells = {
    posted: items.length ? `${formatCount(items.length - scheduled.length)} of ${all}` : "",
    in: total("income", "goal"),
    out: total("expense"),
    balance: balance === undefined ? "" : formatMoney(balance, currency),
  };
  const note = scheduled.length > 0 && h("small");
  const element = h(
    "tr",
    { class: className },
    h("th", { scope: "row" }, title, note),
    Object.entries(cells).map(([name, text]) =>
      h("td", { class: `number ${name}${isLow && name === "balance" ? " below-zero" : ""}` }, text),
    ),
  );
  let shown = -1;
  const preview = (instant) => {
    const count = countUntil(scheduled, instant);
    if (!note || count === shown) return;
    shown = count;
    const share = count === scheduled.length ? toCome : `${formatCount(count)} of ${toCome}`;
    note.textContent = count ? `${share} would post` : `${toCome} to come`;
    note.className = count ? "state" : "";
    element.toggleAttribute("data-state", count > 0);
    if (count) element.dataset.state = "next";
    if (!className) element.className = count ? "" : "muted";
  };
  return { element, preview };
}

/** Return the rows of the months of a currency with their total. Contributions have no currency. */
function monthSection(model, currency, items, expectations) {
  const curve = model.balances.find((candidate) => candidate.currency === currency);
  const atEnd = (at, balance = curve && balanceAt(curve, at)) => ({
    currency,
    balance,
    isLow: balance < smallestAllowed(expectations, currency, model, at),
  });
  const openings = items.filter(isOpening);
  const others = items.filter((item) => !isOpening(item));
  const groups = [...Map.groupBy(others, ({ at }) => monthOf(at))];
  const starts = groups.map(([month]) => month);
  const months = groups.map(([month, some]) =>
    monthRow(formatMonthOfYear(month), some, atEnd(addMonths(month, 1) - 0.001)),
  );
  const title = h("th", { scope: "rowgroup", colSpan: 5 }, h("strong", {}, currency ?? "Goals (no currency)"));
  const total = months.length > 1 && monthRow("Total", items, { ...atEnd(items.at(-1).at), className: "total" });
  const nextMonths = [...months, total].filter(Boolean);
  const instantRow = (name, at) => monthRow(`${name}, ${formatDay(at)}`, [], { ...atEnd(at), className: "instant" });
  /** Return the row before which an instant comes: that of its month, whose balance is later. */
  const rowAfter = (at) => nextMonths[starts.findIndex((month) => month >= monthOf(at))] ?? total;
  const now = curve && instantRow("Now", model.now);
  const rows = [
    { element: h("tr", {}, title), preview: () => {} },
    (openings.length > 0 || model.opening[currency]) &&
      monthRow("Opening", openings, atEnd(model.start, openingBalance(model, currency))),
    ...months,
    total,
  ].filter(Boolean);
  if (!now) return rows;
  const index = rows.indexOf(rowAfter(model.now));
  rows.splice(index < 0 ? rows.length : index, 0, now);
  const shown = { element: null, instant: model.now };
  shown.preview = (instant) => {
    if (instant === shown.instant) return;
    shown.instant = instant;
    shown.element?.remove();
    if (instant === model.now) return;
    shown.element = instantRow("Preview", instant).element;
    shown.element.dataset.state = "next";
    const after = instant < model.now && monthOf(instant) === monthOf(model.now) ? now : rowAfter(instant);
    now.element.parentElement.insertBefore(shown.element, after?.element ?? null);
  };
  return [...rows, shown];
}

/**
 * Return the timeline as a table `{ element, preview }` with a section for each currency and for goals. Only amounts of a
 * currency add up. `preview(instant)` shows what would post.
 */
export function monthlyTable(model, expectations = []) {
  if (model.items.length === 0)
    return { element: h("p", { class: "muted" }, "This clock has no events."), preview: () => {} };
  const groups = Map.groupBy(model.items, ({ currency }) => currency);
  const sections = [...model.currencies, undefined]
    .filter((currency) => groups.has(currency))
    .map((currency) => monthSection(model, currency, groups.get(currency), expectations));
  const element = h(
    "table",
    { class: "data months" },
    h("caption", {}, "In, Out and Balance include scheduled events."),
    tableHead(["Month", "Posted", "In", "Out", "Balance at the end"], 1),
    sections.map((rows) =>
      h(
        "tbody",
        {},
        rows.map((row) => row.element),
      ),
    ),
  );
  const rows = sections.flat();
  const preview = (instant) => {
    for (const row of rows) row.preview(instant);
  };
  return { element, preview };
}
