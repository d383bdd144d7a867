// <tick-transactions>: the transactions of a clock with their balances.

import { RowStates, stateCounts } from "../chart/row-states.js";
import { balanceAt, countUntil, curveOf } from "../clock/clock-model.js";
import { accountNames, netText } from "../clock/clock-text.js";
import { smallestAllowed } from "../clock/expectations.js";
import { h, render } from "../lib/dom.js";
import { searchInput } from "../lib/form-fields.js";
import { formatCount } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { DAY } from "../lib/instants.js";
import { tableHead } from "../lib/table.js";
import { TransactionFilter } from "./transaction-filter.js";
import { hasLongAmounts, transactionRow } from "./transaction-row.js";

const [MAX_EARLIER, MAX_LATER] = [6, 50];
// The table hides earlier rows only if there are many.
const MIN_HIDDEN = 6;

class TransactionTable extends HTMLElement {
  #scheduleKey = null;
  #account = ""; // of the amounts and balances in the rows
  #earlier = this.#moreButton();
  #later = this.#moreButton();
  #now = 0;
  #instant = 0;
  #advancedFrom = 0;
  #model = null;
  #filter = new TransactionFilter(() => this.#showMatches());

  /** Return the change of an item that its row shows: that of the chosen account, or else the first. */
  #changeOf({ changes }) {
    return changes.find(({ account }) => account === this.#account) ?? changes[0];
  }

  /** Return whether a balance is too low. Items of one instant count together. */
  #isTooLow(item) {
    const change = this.#changeOf(item);
    const curve = curveOf(this.#model, change);
    const limit = smallestAllowed(this.#model, curve, item.at);
    return change.balance < limit && balanceAt(curve, item.at) < limit;
  }

  /** Show the transactions and transfers of an account. */
  showAccount(account) {
    this.#filter.select("Account", account);
    this.#showMatches();
  }

  setModel(model, instant) {
    this.#model = model;
    this.#advancedFrom = this.#scheduleKey === model.scheduleKey ? this.#now : model.now;
    [this.#now, this.#instant] = [model.now, instant];
    if (!this.search) this.#build();
    this.items = model.items.filter(({ changes }) => changes.length);
    this.add.className = model.items.length ? "soft" : "primary";
    // Only an amendment changes the rows.
    if (this.#scheduleKey !== model.scheduleKey) this.#buildRows(model);
    this.#showMatches();
  }

  #buildRows(model) {
    this.#scheduleKey = model.scheduleKey;
    const hadFocus = this.body.contains(document.activeElement);
    // Each row is built when the table first shows it.
    this.rows = new Array(this.items.length);
    this.states = new RowStates(
      this.items.map((item) => item.at),
      this.rows,
    );
    this.body.replaceChildren();
    this.#filter.setItems(this.items, model);
    this.#account = this.#filter.account;
    this.table.hidden = this.filters.hidden = this.items.length === 0;
    this.table.classList.toggle("wide-amounts", hasLongAmounts(this.items.map((item) => this.#changeOf(item))));
    this.table.classList.toggle("one-year", (model.times.at(-1) ?? 0) - model.start <= 366 * DAY);
    if (hadFocus) this.add.focus();
  }

  #build() {
    this.body = h("tbody", { onkeydown: (event) => this.#handleKey(event) });
    this.count = h("span.muted");
    this.nothing = h("p.muted", { hidden: true });
    const label = "Filter by name or category";
    this.search = searchInput(label, { oninput: () => this.#showMatches() });
    const add = () => this.dispatchEvent(new CustomEvent("additem"));
    this.add = h("button.soft", { onclick: add }, icon("add"), "Add event");
    this.filters = h("div.row.filters", this.search, this.#filter.element);
    render(
      this,
      h(
        "div.row.card-header",
        h("div.titles", h("h2", { id: "transactions-title" }, "Transactions"), this.count),
        this.filters,
        this.add,
      ),
      this.opening,
      this.#region(),
    );
  }

  #region() {
    const actions = h("span.visually-hidden", "Actions");
    const titles = ["Time (UTC)", "Name", "State", "Amount", "Balance", actions];
    return h(
      "div.rows",
      { role: "region", "aria-labelledby": "transactions-title" },
      (this.table = h(
        "table.data.as-cards",
        tableHead(titles, 3, this.#earlier.row),
        this.body,
        h("tfoot", this.#later.row),
      )),
      this.nothing,
    );
  }

  /** Create a row with a button that shows hidden rows: `{ row, button, isOpen }`. */
  #moreButton() {
    const more = { isOpen: false };
    const open = () => {
      more.isOpen = true;
      this.#showMatches();
      this.search.focus();
    };
    more.button = h("button.plain", { onclick: open });
    more.row = h("tr.more-rows", h("td", { colSpan: 6 }, more.button));
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
    return this.search.value.trim() !== "" || this.#filter.isActive;
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

  /** Return whether an item matches the text and the filter. */
  #matches(item) {
    const { name, category = "" } = item;
    const text = this.search.value.trim().toLowerCase();
    return (
      this.#filter.matches(item) &&
      `${name}\n${category}\n${accountNames(item, this.#model)}`.toLowerCase().includes(text)
    );
  }

  /** Show the rows that match. Without a filter, hide those long before and long after now. */
  #showMatches() {
    if (this.#filter.account !== this.#account) this.#buildRows(this.#model);
    const showsAll = this.#isFiltered;
    const posted = countUntil(this.states.times, this.#now);
    const from = showsAll || this.#earlier.isOpen || posted - MAX_EARLIER <= MIN_HIDDEN ? 0 : posted - MAX_EARLIER;
    const to = showsAll || this.#later.isOpen ? Infinity : posted + MAX_LATER;
    const shown = [];
    let next = null;
    for (let index = this.items.length - 1; index >= 0; index -= 1) {
      const item = this.items[index];
      const isShown = index >= from && index < to && this.#matches(item);
      if (isShown) shown.push(item);
      if (isShown && !this.rows[index])
        this.rows[index] = transactionRow(item, {
          model: this.#model,
          account: this.#account,
          change: this.#changeOf(item),
          isPending: index >= posted,
          isLow: this.#isTooLow(item),
          isFollowed: item.at === this.items[index + 1]?.at,
        });
      const row = this.rows[index];
      if (!row) continue;
      if (!row.isConnected) this.body.insertBefore(row, next);
      next = row;
      row.hidden = !isShown;
    }
    this.count.textContent = this.#isFiltered ? this.#describeMatches(shown) : "";
    this.#drawStates();
    this.#setTabStops(this.body.querySelector("tr:not([hidden])"));
    this.nothing.hidden = shown.length > 0;
    this.nothing.textContent = this.rows.length ? "No transaction matches." : "This clock has no transactions.";
    this.#drawMore(this.#earlier, from, "earlier");
    this.#drawMore(this.#later, Math.max(0, this.items.length - to), "later");
  }

  /** Count the items that match and add them up. */
  #describeMatches(items) {
    const count = `${formatCount(items.length)} of ${formatCount(this.items.length)} match`;
    const sum = netText(items, this.#account);
    return sum ? `${count}, sum ${sum}` : count;
  }
}

customElements.define("tick-transactions", TransactionTable);
