// <tick-transactions> and the monthly table of the timeline.

import { countUntil } from "./clock-model.js";
import { amountOf, plural } from "./clock-text.js";
import { inCommonUnit, toNumber } from "./decimals.js";
import { h, show } from "./dom.js";
import { formatCount, formatDay, formatMoney, formatMonthOfYear, formatTime } from "./format.js";
import { addMonths, startOfDay } from "./instants.js";
import { States, stateMark } from "./item-states.js";

class Transactions extends HTMLElement {
  #schedule = "";
  #first = -1;

  show(model) {
    const items = model.items.filter((item) => item.currency);
    // The schedule of a clock never changes, so its rows are made once and only told what has become of them.
    if (this.#schedule === model.id) return;
    this.#schedule = model.id;
    this.rows = items.map(row);
    this.states = new States(
      items.map((item) => item.at),
      this.rows,
    );
    this.count = h("span", { class: "quiet" });
    this.scroller = h(
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
            ["When", "Name", "State"].map((title) => h("th", { scope: "col" }, title)),
            h("th", { scope: "col", class: "number" }, "Amount"),
          ),
        )),
        h("tbody", {}, this.rows),
      ),
    );
    show(
      this,
      h("div", { class: "row top" }, h("h2", { id: "transactions-title" }, "Transactions"), this.count),
      items.length ? this.scroller : h("p", { class: "quiet" }, "This clock has no transactions."),
    );
  }

  preview(now, instant) {
    const { posted } = this.states.update(now, instant);
    const count = this.rows.length
      ? `${posted} posted, ${plural(this.rows.length - posted, "pending", "pending")}`
      : "";
    if (this.count.textContent !== count) this.count.textContent = count;
    this.#reveal(posted);
  }

  /** What comes next is in sight, without moving the page. */
  #reveal(posted) {
    if (posted === this.#first) return;
    this.#first = posted;
    const target = this.rows[posted];
    if (!target || this.scroller.scrollHeight <= this.scroller.clientHeight) return;
    const above = this.rows[Math.max(0, posted - 2)];
    this.scroller.scrollTop = above.offsetTop - this.head.offsetHeight;
  }
}

const isMidnight = (instant) => instant === startOfDay(instant);

function row(item) {
  const [mark, state] = stateMark(item.kind);
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "when" },
      mark,
      formatDay(item.at),
      isMidnight(item.at) ? null : h("span", { class: "quiet detail" }, `${formatTime(item.at)} UTC`),
    ),
    h(
      "th",
      { scope: "row", class: "name" },
      item.name,
      item.category ? h("span", { class: "quiet detail" }, item.category) : null,
    ),
    h("td", { class: "how" }, state),
    h("td", { class: `number ${item.kind}` }, amountOf(item)),
  );
}

customElements.define("tick-transactions", Transactions);

function sum(items) {
  const { places, counts } = inCommonUnit(items.map((item) => item.amount));
  return toNumber(
    counts.reduce((total, count) => total + count, 0n),
    places,
  );
}

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** One row per month and currency, and one per month for the goals. */
function rowsOf(model) {
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
    const flow = model.flows.find((one) => one.currency === currency);
    const end = flow?.values[countUntil(flow.times, addMonths(month, 1) - 0.001)];
    return {
      month,
      currency,
      posted: items.filter((item) => item.happened).length,
      count: items.length,
      income: of("income"),
      expense: of("expense"),
      goal: of("goal"),
      end,
    };
  });
}

export function buildChartTable(model) {
  const bare = (amount, { currency }) => formatMoney(amount, currency, { bare: true });
  const money = (kind, row) => (row[kind].length ? bare(sum(row[kind]), row) : "");
  const rows = rowsOf(model).map((row) =>
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
  if (rows.length === 0) return h("p", { class: "quiet" }, "This clock has no items.");
  return h(
    "table",
    { class: "data" },
    h(
      "caption",
      { class: "quiet" },
      "By month: how many items have posted, what comes in and goes out, and the net flow of this clock at the month's end.",
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Month", "Currency", "Posted"].map((title, index) =>
          h("th", { scope: "col", class: index > 1 ? "number" : undefined }, title),
        ),
        ["In", "Out", "Net flow then"].map((title) => h("th", { scope: "col", class: "number" }, title)),
      ),
    ),
    h("tbody", {}, rows),
  );
}
