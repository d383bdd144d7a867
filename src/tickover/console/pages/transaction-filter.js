// The filter of transactions.

import { h, render } from "../lib/dom.js";
import { formatCount } from "../lib/format.js";

const KINDS = { income: "Income", expense: "Expenses", transfer: "Transfers" };

/** What a filter can select: its title, and the values of an item. */
const FACETS = {
  Account: ({ changes }) => changes.map(({ account }) => account),
  Type: (item) => [KINDS[item.kind]],
  Currency: ({ changes }) => changes.map(({ currency }) => currency),
  Category: ({ category }) => [category],
};

/** A choice of an account, type, currency or category, with the number of items of each. */
export class TransactionFilter {
  constructor(onChange) {
    this.element = h("select", { "aria-label": "Show only", onchange: onChange });
  }

  /** Offer the values of all items. Keep the choice if it is still possible. `accounts` have the names. */
  setItems(items, { accounts }) {
    const { value } = this.element;
    const nameOf = (key) => accounts.find((account) => account.key === key)?.name ?? key;
    const options = Object.entries(FACETS).map(([facet, read]) => {
      const values = items.flatMap((item) => [...new Set(read(item))]);
      const groups = [...Map.groupBy(values, (each) => each)];
      const option = ([key, { length }]) =>
        key &&
        h(
          "option",
          { value: `${facet}:${key}` },
          `${facet === "Account" ? nameOf(key) : key} (${formatCount(length)})`,
        );
      groups.sort(([left = ""], [right = ""]) => left.localeCompare(right));
      return groups.length > 1 && h("optgroup", { label: facet }, groups.map(option));
    });
    render(this.element, h("option", { value: "" }, "All transactions"), options);
    this.select(...value.split(/:(.*)/s));
  }

  /** Select a value, or all items if no item has it. */
  select(facet, value) {
    this.element.value = facet && `${facet}:${value}`;
    if (this.element.selectedIndex < 0) this.element.value = "";
  }

  /** The key of the selected account, or an empty text. */
  get account() {
    return this.element.value.startsWith("Account:") ? this.element.value.slice("Account:".length) : "";
  }

  get isActive() {
    return this.element.value !== "";
  }

  matches(item) {
    const [facet, ...name] = this.element.value.split(":");
    return !facet || FACETS[facet](item).includes(name.join(":"));
  }
}
