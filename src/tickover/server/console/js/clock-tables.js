// <tick-transactions>, the monthly table of the timeline, and the states of their rows.

import { balanceAt, countUntil } from "./clock-model.js";
import { countsText, signedAmount } from "./clock-text.js";
import { toCommonUnit, toNumber } from "./decimals.js";
import { copyText, h, newId, render, s } from "./dom.js";
import { MARKS } from "./event-lanes.js";
import { formatCount, formatDay, formatInstant, formatMoney, formatMonthOfYear, formatTime } from "./format.js";
import { icon } from "./icons.js";
import { addMonths, toTimestamp } from "./instants.js";

const STATE_TEXTS = { posted: "posted", next: "would post", pending: "scheduled", later: "posted later" };

/** Shows the state of each row, in order of time. Updates only rows whose state changes. Some rows may be missing. */
export class RowStates {
  constructor(times, nodes) {
    Object.assign(this, { times, nodes });
  }

  /** Update the rows for a clock at `now` with a preview at `instant`. */
  update(now, instant) {
    const [postedCount, previewedCount] = [countUntil(this.times, now), countUntil(this.times, instant)];
    this.nodes.forEach((node, index) => {
      const state =
        index < previewedCount ? (index < postedCount ? "posted" : "next") : index < postedCount ? "later" : "pending";
      if (node.dataset.state === state) return;
      node.dataset.state = state;
      node.querySelector(".state").textContent = STATE_TEXTS[state];
    });
  }
}

/** Return the mark of a row, in the shape of its kind, and the text of its state. */
export function stateMark(kind) {
  return [
    s(
      "svg",
      { class: `mark ${kind}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      s("path", { d: MARKS[kind] }),
    ),
    h("span", { class: "state" }),
  ];
}

/** Create the button that cancels a pending item. It dispatches `cancelitem`. Posted rows hide it. */
export const cancelButton = (item) =>
  h(
    "button",
    {
      class: "quiet cancel-item",
      "aria-label": `Cancel ${item.name}, ${signedAmount(item)}, ${formatInstant(item.at)}`,
      title: "Cancel this event",
      onclick: ({ target }) => target.dispatchEvent(new CustomEvent("cancelitem", { detail: item, bubbles: true })),
    },
    icon("close"),
  );

/** Return the head of a table. Its columns have numbers from `firstNumber` on. */
const tableHead = (titles, firstNumber) => {
  const cell = (title, index) => h("th", { scope: "col", class: index < firstNumber ? undefined : "number" }, title);
  return h("thead", {}, h("tr", {}, titles.map(cell)));
};

const [MAX_EARLIER, MAX_LATER] = [6, 100];
// The table hides earlier rows only if there are many.
const MIN_HIDDEN = 6;

class TransactionTable extends HTMLElement {
  #scheduleKey = null;
  #opening = null;
  #isComplete = false;
  #now = 0;
  #instant = 0;

  setModel(model, instant) {
    [this.#now, this.#instant] = [model.now, instant];
    if (!this.search) this.#build();
    this.items = model.items.filter((item) => item.currency);
    this.add.className = model.items.length ? "soft" : "primary";
    // Only an amendment and another opening balance change the rows.
    if (this.#scheduleKey !== model.scheduleKey || this.#opening !== model.opening) this.#buildRows(model);
    this.#filter();
  }

  #buildRows(model) {
    this.#scheduleKey = model.scheduleKey;
    this.#opening = model.opening;
    const hadFocus = this.body.contains(document.activeElement);
    // Each row is built when the table first shows it.
    this.rows = new Array(this.items.length);
    this.states = new RowStates(
      this.items.map((item) => item.at),
      this.rows,
    );
    this.body.replaceChildren();
    this.table.hidden = this.filters.hidden = this.items.length === 0;
    if (hadFocus) this.add.focus();
  }

  #build() {
    this.body = h("tbody", { onkeydown: (event) => this.#handleKey(event) });
    this.count = h("span", { class: "muted" });
    this.nothing = h("p", { class: "muted", hidden: true });
    this.showAll = h("button", {
      type: "button",
      class: "plain show-all",
      onclick: () => {
        this.#isComplete = true;
        this.#filter();
        this.search.focus();
      },
    });
    const searchId = newId();
    this.search = h("input", {
      id: searchId,
      type: "search",
      placeholder: "Search",
      autocomplete: "off",
      oninput: () => this.#filter(),
    });
    this.type = h(
      "select",
      { "aria-label": "Type", onchange: () => this.#filter() },
      [
        ["", "All types"],
        ["income", "Income"],
        ["expense", "Expenses"],
      ].map(([value, text]) => h("option", { value }, text)),
    );
    this.add = h(
      "button",
      { type: "button", class: "soft", onclick: () => this.dispatchEvent(new CustomEvent("additem")) },
      icon("add"),
      "Add event",
    );
    this.filters = h(
      "div",
      { class: "row filters" },
      h("label", { for: searchId, class: "visually-hidden" }, "Filter by name or category"),
      this.search,
      this.type,
      h("button", { type: "button", onclick: () => this.#copyCsv() }, "Copy CSV"),
    );
    render(
      this,
      h(
        "div",
        { class: "row card-header" },
        h("h2", { id: "transactions-title" }, "Transactions"),
        this.count,
        this.filters,
        this.add,
      ),
      this.#region(),
    );
  }

  #region() {
    return h(
      "div",
      { class: "rows", role: "region", "aria-labelledby": "transactions-title" },
      this.showAll,
      (this.table = h(
        "table",
        { class: "data as-cards" },
        tableHead(["Time (UTC)", "Name", "State", "Amount", "Balance"], 3),
        this.body,
      )),
      this.nothing,
    );
  }

  draw({ now }, _currentView, { instant }) {
    this.#instant = instant;
    this.states.update(now, instant);
  }

  /** Return the cancel buttons of the shown rows. They are one tab stop; arrow keys move between them. */
  #cancelButtons() {
    const posted = countUntil(this.states.times, this.#now);
    return this.rows.flatMap((row, index) => (index >= posted && !row.hidden ? [row.cancel] : []));
  }

  #handleKey(event) {
    const buttons = this.#cancelButtons();
    const current = buttons.indexOf(event.target);
    const next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (current < 0 || !buttons[next]) return;
    event.preventDefault();
    buttons[current].tabIndex = -1;
    buttons[next].tabIndex = 0;
    buttons[next].focus();
  }

  /** Return whether an item matches the text and the type. */
  #matches({ name, category = "", kind }) {
    const text = this.search.value.trim().toLowerCase();
    return (!this.type.value || kind === this.type.value) && `${name}\n${category}`.toLowerCase().includes(text);
  }

  /** Show the rows that match. Without a filter, hide those long before and long after now. */
  #filter() {
    const isFiltered = this.search.value.trim() !== "" || this.type.value !== "";
    const posted = countUntil(this.states.times, this.#now);
    const from = posted - MAX_EARLIER > MIN_HIDDEN ? posted - MAX_EARLIER : 0;
    const isNear = (index) => this.#isComplete || (index >= from && index < posted + MAX_LATER);
    let [shown, next] = [0, null];
    for (let index = this.items.length - 1; index >= 0; index -= 1) {
      const item = this.items[index];
      const isShown = this.#matches(item) && (isFiltered || isNear(index));
      shown += isShown;
      let row = this.rows[index];
      if (isShown && !row) {
        row = this.rows[index] = transactionRow(item, index >= posted);
        this.body.insertBefore(row, next);
      }
      if (!row) continue;
      next = row;
      row.hidden = !isShown;
      if (row.cancel) row.cancel.tabIndex = -1;
    }
    this.states.update(this.#now, this.#instant);
    const [first] = this.#cancelButtons();
    if (first) first.tabIndex = 0;
    const total = formatCount(this.items.length);
    const count = isFiltered ? `${formatCount(shown)} of ${total} match` : countsText(this.items);
    this.count.textContent = this.items.length ? count : "";
    this.nothing.hidden = shown > 0;
    this.nothing.textContent = this.rows.length ? "No transaction matches." : "This clock has no transactions.";
    this.showAll.hidden = isFiltered || shown === this.rows.length;
    this.showAll.textContent = `Show all ${total} transactions`;
  }

  #copyCsv() {
    const quote = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const lines = this.items
      .filter((item) => this.#matches(item))
      .map(({ at, name, category = "", kind, amount, currency, balance }) =>
        [toTimestamp(at), name, category, kind.toUpperCase(), amount, currency, balance].map((value) =>
          quote(String(value)),
        ),
      );
    const header = ["at", "name", "category", "type", "amount", "currency", "balance"];
    return copyText(`${[header, ...lines].join("\n")}\n`, `${formatCount(lines.length)} transactions as CSV`);
  }
}

function transactionRow(item, isPending) {
  const [mark, state] = stateMark(item.kind);
  const cancel = isPending && cancelButton(item);
  const row = h(
    "tr",
    {},
    h("td", { class: "when" }, mark, formatDay(item.at), h("span", { class: "muted detail" }, formatTime(item.at))),
    h(
      "th",
      { scope: "row", class: "name" },
      item.name,
      item.category ? h("span", { class: "muted detail" }, item.category) : null,
    ),
    h("td", { class: "state-cell" }, state, cancel),
    h("td", { class: `number amount ${item.kind}` }, signedAmount(item)),
    h(
      "td",
      { class: `number balance${item.balance < 0 ? " below-zero" : ""}` },
      formatMoney(item.balance, item.currency),
    ),
  );
  return Object.assign(row, { cancel });
}

customElements.define("tick-transactions", TransactionTable);

function sum(items) {
  const { places, counts } = toCommonUnit(items.map((item) => item.amount));
  const total = counts.reduce((before, count) => before + count, 0n);
  return toNumber(total, places);
}

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** Return the row of a month, or of the total of a currency. */
function monthRow(title, items, currency, end) {
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
function monthSection({ balances }, currency, items) {
  const balance = balances.find((candidate) => candidate.currency === currency);
  const months = [...Map.groupBy(items, ({ at }) => monthOf(at))].map(([month, some]) =>
    monthRow(formatMonthOfYear(month), some, currency, balance && balanceAt(balance, addMonths(month, 1) - 0.001)),
  );
  const title = currency ?? "Goals (no currency)";
  return h(
    "tbody",
    {},
    h("tr", {}, h("th", { scope: "rowgroup", colSpan: 5 }, h("strong", {}, title))),
    months,
    months.length > 1 && Object.assign(monthRow("Total", items, currency), { className: "total" }),
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
    { class: "data" },
    tableHead(["Month", "Posted", "In", "Out", "Balance"], 1),
    sections.map(([currency, items]) => items.length > 0 && monthSection(model, currency, items)),
  );
}
