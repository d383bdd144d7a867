// The accounts of a clock with their balances.

import { lowestAhead } from "../clock/clock-model.js";
import { smallestAllowed } from "../clock/expectations.js";
import { ACCOUNT_TYPES } from "../forms/clock-form-rows.js";
import { card } from "../lib/card.js";
import { h, render } from "../lib/dom.js";
import { formatMoney, formatPastDay } from "../lib/format.js";
import { tableHead } from "../lib/table.js";

const TYPES = Object.fromEntries(ACCOUNT_TYPES);

export class AccountsPanel {
  #onShow;
  #body = h("tbody");
  element = card(
    { title: "Accounts" },
    h("table.data", tableHead(["Account", "Balance", "Lowest ahead"], 1), this.#body),
  );

  /** Call `onShow(key)` to show one account on the page. */
  constructor({ onShow }) {
    this.#onShow = onShow;
  }

  draw(model, currentView, view) {
    const focused = [...this.#body.querySelectorAll("button")].indexOf(document.activeElement);
    const rows = model.accountBalances.map((curve) => this.#row(curve, model, currentView, view));
    const totals = model.balances.map(({ currency }) => {
      const [now, then] = [currentView, view].map(({ balances }) => balances.get(currency));
      return h(
        "tr.total",
        h("th", { scope: "row" }, `${currency} in all accounts`),
        h("td.number", amounts(now, then, currency)),
        h("td"),
      );
    });
    render(this.#body, rows, totals);
    if (focused >= 0) this.#body.querySelectorAll("button")[focused].focus();
  }

  #row(curve, model, currentView, view) {
    const { account, name, type, currency } = curve;
    const [now, then] = [currentView, view].map(({ accounts }) => accounts.get(account));
    const { at, value } = lowestAhead(curve, model);
    const red = (amount, instant) => (amount < smallestAllowed(model, curve, instant) ? "number below-zero" : "number");
    return h(
      "tr",
      h(
        "th",
        { scope: "row" },
        h("button.link", { onclick: () => this.#onShow(account) }, name),
        h("small.muted", TYPES[type]),
      ),
      h("td", { class: red(now, model.now) }, amounts(now, then, currency)),
      h(
        "td",
        { class: red(value, at) },
        formatMoney(value, currency),
        h("small.muted", at === model.now ? "now" : formatPastDay(at, model.now)),
      ),
    );
  }
}

/** Return a balance, and that of the preview if it differs. */
const amounts = (now, then, currency) => [
  formatMoney(now, currency),
  then !== now && h("small.preview-text", `→ ${formatMoney(then, currency)}`),
];
