// <tick-transactions> and the monthly table of the timeline.

import { countUntil } from "./clock-model.js";
import { signedAmount } from "./clock-text.js";
import { toCommonUnit, toNumber } from "./decimals.js";
import { h, render } from "./dom.js";
import { formatCount, formatDay, formatMoney, formatMonthOfYear, formatTime } from "./format.js";
import { addMonths, startOfDay } from "./instants.js";
import { RowStates, stateMark } from "./item-states.js";

class TransactionTable extends HTMLElement {
  #clockId = "";
  #lastPostedCount = -1;

  setModel(model) {
    const items = model.items.filter((item) => item.currency);
    // The schedule of a clock never changes, so its rows are built once.
    if (this.#clockId === model.id) return;
    this.#clockId = model.id;
    this.rows = items.map(transactionRow);
    this.states = new RowStates(
      items.map((item) => item.at),
      this.rows,
    );
    this.count = h("span", { class: "muted" });
    this.scrollArea = h(
      "div",
      { class: "rows", tabindex: "0", role: "region", "aria-labelledby": "transactions-title" },
      h(
        "table",
        { class: "data as-cards" },
        (this.head = h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Time", "Name", "State"].map((title) => h("th", { scope: "col" }, title)),
            h("th", { scope: "col", class: "number" }, "Amount"),
          ),
        )),
        h("tbody", {}, this.rows),
      ),
    );
    render(
      this,
      h("div", { class: "row card-header" }, h("h2", { id: "transactions-title" }, "Transactions"), this.count),
      items.length ? this.scrollArea : h("p", { class: "muted" }, "This clock has no transactions."),
    );
  }

  preview(now, instant) {
    const posted = this.states.update(now, instant);
    const count = this.rows.length
      ? `${formatCount(posted)} posted, ${formatCount(this.rows.length - posted)} pending`
      : "";
    if (this.count.textContent !== count) this.count.textContent = count;
    this.#scrollToNext(posted);
  }

  /** Scroll the table, not the page, to the next item. */
  #scrollToNext(posted) {
    if (posted === this.#lastPostedCount) return;
    this.#lastPostedCount = posted;
    const next = this.rows[posted];
    if (!next || this.scrollArea.scrollHeight <= this.scrollArea.clientHeight) return;
    const above = this.rows[Math.max(0, posted - 2)];
    this.scrollArea.scrollTop = above.offsetTop - this.head.offsetHeight;
  }
}

const isMidnight = (instant) => instant === startOfDay(instant);

function transactionRow(item) {
  const [mark, state] = stateMark(item.kind);
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "when" },
      mark,
      formatDay(item.at),
      isMidnight(item.at) ? null : h("span", { class: "muted detail" }, `${formatTime(item.at)} UTC`),
    ),
    h(
      "th",
      { scope: "row", class: "name" },
      item.name,
      item.category ? h("span", { class: "muted detail" }, item.category) : null,
    ),
    h("td", { class: "state-cell" }, state),
    h("td", { class: `number ${item.kind}` }, signedAmount(item)),
  );
}

customElements.define("tick-transactions", TransactionTable);

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
  return [...groups.values()].map((items) => {
    const [{ at, currency }] = items;
    const month = monthOf(at);
    const of = (kind) => items.filter((item) => item.kind === kind);
    const flow = model.flows.find((candidate) => candidate.currency === currency);
    const end = flow?.values[countUntil(flow.times, addMonths(month, 1) - 0.001)];
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
}

/** Return the timeline as a table. */
export function monthlyTable(model) {
  const bare = (amount, { currency }) => formatMoney(amount, currency, { bare: true });
  const money = (kind, row) => (row[kind].length ? bare(sum(row[kind]), row) : "");
  const rows = monthlyRows(model).map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, formatMonthOfYear(row.month)),
      h("td", {}, row.currency ?? "goals"),
      h("td", { class: "number" }, `${formatCount(row.posted)} of ${formatCount(row.count)}`),
      h("td", { class: "number" }, money(row.currency ? "income" : "goal", row)),
      h("td", { class: "number" }, money("expense", row)),
      h("td", { class: "number" }, row.currency ? bare(row.end, row) : ""),
    ),
  );
  if (rows.length === 0) return h("p", { class: "muted" }, "This clock has no items.");
  return h(
    "table",
    { class: "data" },
    h("caption", { class: "muted" }, "Posted items, income, expenses and net flow of each month."),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Month", "Currency", "Posted"].map((title, index) =>
          h("th", { scope: "col", class: index > 1 ? "number" : undefined }, title),
        ),
        ["In", "Out", "Net flow"].map((title) => h("th", { scope: "col", class: "number" }, title)),
      ),
    ),
    h("tbody", {}, rows),
  );
}
