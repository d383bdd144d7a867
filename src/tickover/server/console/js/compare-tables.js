// The tables of the page that compares two clocks.

import { lowestPoint } from "./clock-model.js";
import { plural, signedAmount } from "./clock-text.js";
import { h } from "./dom.js";
import { formatDay, formatMoney } from "./format.js";

const MAX_DIFFERENCES = 12;

/**
 * Return what only the first or only the second clock has: `{ item, owner, count }`. Equal items at several times count
 * together. Forks have items with other ids.
 */
function findDifferences(models) {
  const keyOf = ({ at, kind, name, amount, currency }, ...more) =>
    JSON.stringify([at, kind, name, amount, currency, ...more]);
  const onlyIn = (model, other, owner) => {
    const counts = new Map();
    for (const item of other.items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
    return model.items.flatMap((item) => {
      const left = counts.get(keyOf(item)) ?? 0;
      counts.set(keyOf(item), left - 1);
      return left > 0 ? [] : [{ item, owner }];
    });
  };
  const [first, second] = models;
  const groups = new Map();
  for (const { item, owner } of [...onlyIn(first, second, 0), ...onlyIn(second, first, 1)]) {
    const key = keyOf({ ...item, at: null }, owner);
    if (!groups.has(key)) groups.set(key, { item, owner, count: 0 });
    groups.get(key).count += 1;
  }
  return [...groups.values()].sort((left, right) => left.item.at - right.item.at);
}

/** Show the lowest and the last balance of both clocks. `label(index)` shows the name of a clock. */
export function sideBySide({ first, second }, { from, to }, currency, label) {
  const money = (value) => formatMoney(value, currency);
  const lowest = [first, second].map((balance) => lowestPoint(balance, from, to));
  const last = [first, second].map((balance) => balance.values.at(-1));
  const cell = (value, note) =>
    h("td", { class: `number${value < 0 ? " below-zero" : ""}` }, money(value), note && h("small", {}, note));
  const row = (title, values, notes = []) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, title),
      values.map((value, index) => cell(value, notes[index])),
    );
  return h(
    "section",
    { class: "card", "aria-labelledby": "side-by-side-title" },
    h("div", { class: "row card-header" }, h("h2", { id: "side-by-side-title" }, "Side by side")),
    h(
      "table",
      { class: "data" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td"),
          [0, 1].map((index) => h("th", { scope: "col", class: "number" }, label(index))),
        ),
      ),
      h(
        "tbody",
        {},
        row(
          "Lowest balance",
          lowest.map(({ value }) => value),
          lowest.map(({ at }) => formatDay(at)),
        ),
        row("After everything", last),
      ),
    ),
  );
}

/** List the items that only one of the clocks has. */
export function differenceList(models, label) {
  const differences = findDifferences(models);
  const rest = differences.length - MAX_DIFFERENCES;
  const total = differences.reduce((sum, { count }) => sum + count, 0);
  const row = ({ item, count }) =>
    h(
      "li",
      {},
      h("strong", {}, item.name),
      h("span", { class: "number" }, signedAmount(item)),
      h("span", { class: "muted" }, `${count > 1 ? `${count} times, from ` : ""}${formatDay(item.at)}`),
    );
  const group = (index) => {
    const rows = differences.slice(0, MAX_DIFFERENCES).filter(({ owner }) => owner === index);
    const id = `only-in-${index}`;
    return (
      rows.length > 0 && [
        h("h3", { class: "muted", id }, "Only in ", label(index)),
        h("ul", { class: "differences", "aria-labelledby": id }, rows.map(row)),
      ]
    );
  };
  return h(
    "section",
    { class: "card", "aria-labelledby": "differences-title" },
    h(
      "div",
      { class: "row card-header" },
      h("h2", { id: "differences-title" }, "What differs"),
      h("span", { class: "muted" }, plural(total, "event")),
    ),
    differences.length === 0 && h("p", { class: "muted" }, "Both clocks have the same events."),
    group(0),
    group(1),
    rest > 0 && h("p", { class: "muted" }, `and ${rest} more`),
  );
}
