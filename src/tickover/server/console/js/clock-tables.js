// <tick-transactions>: the transactions of a clock with their balances.

import { showItem } from "./clock-dialogs.js";
import { balanceAt, countUntil, isOpening } from "./clock-model.js";
import { signedAmount } from "./clock-text.js";
import { copyText, h, newId, render } from "./dom.js";
import { smallestAllowed } from "./expectations.js";
import { formatCount, formatMoney, formatShortDay, formatTime, formatYear } from "./format.js";
import { icon } from "./icons.js";
import { DAY, toTimestamp } from "./instants.js";
import { cancelButton, RowStates, stateCounts, stateMark } from "./row-states.js";

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
  #advancedFrom = 0;
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
    this.#advancedFrom = this.#scheduleKey === model.scheduleKey ? this.#now : model.now;
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
    this.table.classList.toggle("one-year", (model.times.at(-1) ?? 0) - model.start <= 366 * DAY);
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
        h("div", { class: "titles" }, h("h2", { id: "transactions-title" }, "Transactions"), this.count),
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
    if (instant !== this.#instant) this.#advancedFrom = now;
    this.#instant = instant;
    this.#drawStates();
  }

  #drawStates() {
    const [now, instant] = [this.#now, this.#instant];
    this.states.update(now, instant, this.#advancedFrom);
    if (!this.#isFiltered && this.items.length) render(this.count, stateCounts(this.states.times, now, instant));
  }

  get #isFiltered() {
    return this.search.value.trim() !== "" || this.type.value !== "";
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
  #matches(item) {
    const { name, category = "" } = item;
    const text = this.search.value.trim().toLowerCase();
    return ["", rowKind(item)].includes(this.type.value) && `${name}\n${category}`.toLowerCase().includes(text);
  }

  /** Show the rows that match. Without a filter, hide those long before and long after now. */
  #filter() {
    const isFiltered = this.#isFiltered;
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
        const isFollowed = item.at === this.items[index + 1]?.at;
        row = this.rows[index] = transactionRow(item, {
          isPending: index >= posted,
          isLow: this.#isTooLow(item),
          isFollowed,
        });
        this.body.insertBefore(row, next);
      }
      if (!row) continue;
      next = row;
      row.hidden = !isShown;
    }
    this.count.textContent = isFiltered ? `${formatCount(shown)} of ${formatCount(this.items.length)} match` : "";
    this.#drawStates();
    this.#setTabStops(this.rows.find((row) => row && !row.hidden));
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

/** Return the kind of a row. An opening balance is neither income nor expense. */
const rowKind = (item) => (isOpening(item) ? "start" : item.kind);

/** Return whether a category says more than the name. */
const hasOwnCategory = (item) =>
  item.category && !isOpening(item) && item.category.toLowerCase() !== item.name.toLowerCase();

/** Create the row of a transaction. If another one follows at the same time, no line is between them. */
function transactionRow(item, { isPending, isLow, isFollowed }) {
  const [mark, state] = stateMark(rowKind(item));
  const cancel = isPending && cancelButton(item);
  const name = h("span", { class: "clamped", title: item.name }, item.name);
  const show = h("button", { class: "show-item", onclick: () => showItem(item, state.textContent) }, name);
  const balance = h(
    "td",
    {
      class: `number balance${isLow ? " below-zero" : ""}`,
      title: isFollowed ? "The next event has the same time. The chart shows the balance after both." : undefined,
    },
    formatMoney(item.balance, item.currency),
  );
  const row = h(
    "tr",
    { class: isFollowed ? "followed" : undefined },
    h(
      "td",
      { class: "when" },
      mark,
      formatShortDay(item.at),
      h("span", { class: "year" }, ` ${formatYear(item.at)}`),
      h("span", { class: "muted detail" }, formatTime(item.at)),
    ),
    h(
      "th",
      { scope: "row", class: "name" },
      show,
      hasOwnCategory(item) ? h("span", { class: "muted detail" }, item.category) : null,
    ),
    h("td", { class: "state-cell" }, state),
    h("td", { class: `number amount ${rowKind(item)}` }, signedAmount(item)),
    balance,
    h("td", { class: "row-actions" }, cancel),
  );
  return Object.assign(row, { show, cancel, balance });
}

customElements.define("tick-transactions", TransactionTable);
