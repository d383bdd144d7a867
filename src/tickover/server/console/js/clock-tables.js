// <tick-transactions>, and the states of rows in tables of events.

import { showItem } from "./clock-dialogs.js";
import { balanceAt, countUntil } from "./clock-model.js";
import { countsText, signedAmount } from "./clock-text.js";
import { copyText, h, newId, render, s } from "./dom.js";
import { MARKS } from "./event-lanes.js";
import { smallestAllowed } from "./expectations.js";
import { formatCount, formatDay, formatInstant, formatMoney, formatTime } from "./format.js";
import { icon } from "./icons.js";
import { toTimestamp } from "./instants.js";

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

/** Return the head of a table. Its columns have numbers from `firstNumber` on. `rows` follow the titles. */
export const tableHead = (titles, firstNumber, ...rows) => {
  const cell = (title, index) => h("th", { scope: "col", class: index < firstNumber ? undefined : "number" }, title);
  return h("thead", {}, h("tr", {}, titles.map(cell)), rows);
};

const [MAX_EARLIER, MAX_LATER] = [6, 100];
const MAX_AMOUNT = 14; // characters of an amount in a column of the usual width
// The table hides earlier rows only if there are many.
const MIN_HIDDEN = 6;

class TransactionTable extends HTMLElement {
  #scheduleKey = null;
  #opening = null;
  #earlier = this.#moreButton();
  #later = this.#moreButton();
  #now = 0;
  #instant = 0;
  #model = null;
  #expectations = [];

  /** Show balances below the smallest that the expectations allow in red. */
  setExpectations(expectations) {
    if (this.#expectations === expectations) return;
    this.#expectations = expectations;
    this.rows.forEach((row, index) => {
      row.balance.classList.toggle("below-zero", this.#isTooLow(this.items[index]));
    });
  }

  /** Return whether a balance is too low. Transactions of one instant count together. */
  #isTooLow({ at, currency, balance }) {
    const limit = smallestAllowed(this.#expectations, currency, this.#model, at);
    const final = this.#model.balances.find((candidate) => candidate.currency === currency);
    return balance < limit && balanceAt(final, at) < limit;
  }

  setModel(model, instant) {
    this.#model = model;
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
    this.table.classList.toggle("wide-amounts", hasLongAmounts(this.items));
    if (hadFocus) this.add.focus();
  }

  #build() {
    this.body = h("tbody", { onkeydown: (event) => this.#handleKey(event) });
    this.count = h("span", { class: "muted" });
    this.nothing = h("p", { class: "muted", hidden: true });
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
      this.opening,
      this.#region(),
    );
  }

  #region() {
    const actions = h("span", { class: "visually-hidden" }, "Actions");
    return h(
      "div",
      { class: "rows", role: "region", "aria-labelledby": "transactions-title" },
      (this.table = h(
        "table",
        { class: "data as-cards" },
        tableHead(["Time (UTC)", "Name", "State", "Amount", "Balance", actions], 3, this.#earlier.row),
        this.body,
        h("tfoot", {}, this.#later.row),
      )),
      this.nothing,
    );
  }

  /** Create a row with a button that shows hidden rows: `{ row, button, isOpen }`. */
  #moreButton() {
    const more = { isOpen: false };
    const open = () => {
      more.isOpen = true;
      this.#filter();
      this.search.focus();
    };
    more.button = h("button", { type: "button", class: "plain", onclick: open });
    more.row = h("tr", { class: "more-rows" }, h("td", { colSpan: 6 }, more.button));
    return more;
  }

  /** Say how many rows are hidden before or after the others. */
  #drawMore(more, count, word) {
    more.row.hidden = count === 0;
    more.button.textContent = `Show ${formatCount(count)} ${word}`;
  }

  draw({ now }, _currentView, { instant }) {
    this.#instant = instant;
    this.states.update(now, instant);
  }

  /** Return the buttons `show` or `cancel` of the shown rows. They are one tab stop; arrow keys move between them. */
  #buttons(kind) {
    const first = kind === "cancel" ? countUntil(this.states.times, this.#now) : 0;
    return this.rows.flatMap((row, index) => (index >= first && !row.hidden ? [row[kind]] : []));
  }

  #handleKey(event) {
    const buttons = this.#buttons(event.target.matches(".cancel-item") ? "cancel" : "show");
    const current = buttons.indexOf(event.target);
    const next = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (current < 0 || !buttons[next]) return;
    event.preventDefault();
    this.#setTabStops(buttons[next].closest("tr"));
    buttons[next].focus();
  }

  /** Make the buttons of a row the tab stops. If the row can't be cancelled, use the next one that can. */
  #setTabStops(row) {
    const cancel = this.#buttons("cancel");
    const stops = [row?.show, cancel.includes(row?.cancel) ? row.cancel : cancel[0]];
    for (const button of [...this.#buttons("show"), ...cancel]) button.tabIndex = stops.includes(button) ? 0 : -1;
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
    const from = isFiltered || this.#earlier.isOpen || posted - MAX_EARLIER <= MIN_HIDDEN ? 0 : posted - MAX_EARLIER;
    const to = isFiltered || this.#later.isOpen ? Infinity : posted + MAX_LATER;
    let [shown, next] = [0, null];
    for (let index = this.items.length - 1; index >= 0; index -= 1) {
      const item = this.items[index];
      const isShown = index >= from && index < to && this.#matches(item);
      shown += isShown;
      let row = this.rows[index];
      if (isShown && !row) {
        row = this.rows[index] = transactionRow(item, index >= posted, this.#isTooLow(item));
        this.body.insertBefore(row, next);
      }
      if (!row) continue;
      next = row;
      row.hidden = !isShown;
    }
    this.states.update(this.#now, this.#instant);
    this.#setTabStops(this.rows.find((row) => row && !row.hidden));
    const total = formatCount(this.items.length);
    const count = isFiltered ? `${formatCount(shown)} of ${total} match` : countsText(this.items);
    this.count.textContent = this.items.length ? count : "";
    this.nothing.hidden = shown > 0;
    this.nothing.textContent = this.rows.length ? "No transaction matches." : "This clock has no transactions.";
    this.#drawMore(this.#earlier, from, "earlier");
    this.#drawMore(this.#later, Math.max(0, this.items.length - to), "later");
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

/** Return whether the largest amount or balance needs a wider column. Formatting all of them is slow. */
function hasLongAmounts(items) {
  const size = ({ amount, balance }) => Math.max(amount, Math.abs(balance));
  const [largest] = items.toSorted((left, right) => size(right) - size(left));
  return items.length > 0 && formatMoney(-size(largest), largest.currency).length > MAX_AMOUNT;
}

function transactionRow(item, isPending, isLow) {
  const [mark, state] = stateMark(item.kind);
  const cancel = isPending && cancelButton(item);
  const name = h("span", { class: "clamped", title: item.name }, item.name);
  const show = h("button", { class: "show-item", onclick: () => showItem(item) }, name);
  const balance = h(
    "td",
    { class: `number balance${isLow ? " below-zero" : ""}` },
    formatMoney(item.balance, item.currency),
  );
  const row = h(
    "tr",
    {},
    h("td", { class: "when" }, mark, formatDay(item.at), h("span", { class: "muted detail" }, formatTime(item.at))),
    h(
      "th",
      { scope: "row", class: "name" },
      show,
      item.category ? h("span", { class: "muted detail" }, item.category) : null,
    ),
    h("td", { class: "state-cell" }, state),
    h("td", { class: `number amount ${item.kind}` }, signedAmount(item)),
    balance,
    h("td", { class: "row-actions" }, cancel),
  );
  return Object.assign(row, { show, cancel, balance });
}

customElements.define("tick-transactions", TransactionTable);
