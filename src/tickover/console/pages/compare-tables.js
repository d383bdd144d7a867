// The tables of the page that compares two clocks.

import { lowestPoint, openingBalance } from "../clock/clock-model.js";
import { plural, signedAmount } from "../clock/clock-text.js";
import { findDifferences, firstViolation, totalChange, totalOf } from "../clock/compare-model.js";
import { lastChange, smallestOf } from "../clock/expectations.js";
import { card } from "../lib/card.js";
import { difference } from "../lib/decimals.js";
import { h } from "../lib/dom.js";
import { formatDay, formatInstant, formatMoney } from "../lib/format.js";
import { withAmounts } from "../lib/nowrap.js";

const MAX_DIFFERENCES = 12;

/** Show whether the rules of a clock hold, and when the first of them is violated. */
function ruleCell(balance, rules, now) {
  if (!rules.length) return h("td.number.muted", "none");
  const at = firstViolation(balance, rules);
  if (at === Infinity) {
    const isHeld = rules.every(({ to }) => lastChange(balance, to) <= now);
    return h("td.number", isHeld ? "held" : "will hold");
  }
  const text = at > now ? "will be violated" : "violated";
  return h("td.number.below-zero", text, h("small", formatDay(at)));
}

/** Show a value of each clock and their difference. `instants` are the times of the values, and decide what is too low. */
function valueRow({ currency, rules }, title, values, instants = [], hasDates = true) {
  const change = formatMoney(difference(values[1], values[0]), currency, { sign: "exceptZero" });
  const isTooLow = (value, index) => index in instants && value < smallestOf(rules[index], instants[index]);
  return h(
    "tr",
    h("th", { scope: "row" }, title, h("small.change", withAmounts(`Difference ${change}`))),
    values.map((value, index) =>
      h(
        "td",
        { class: `number${isTooLow(value, index) ? " below-zero" : ""}` },
        formatMoney(value, currency),
        index in instants && hasDates && h("small", formatDay(instants[index])),
      ),
    ),
    h("td.number.change", change),
  );
}

/** Show the totals, the lowest and the last balance of both clocks. `label(index)` shows the name of a clock. */
export function sideBySide(models, { balances, starts }, { window, currency, rules }, label) {
  const lowest = balances.map((balance, index) => lowestPoint(balance, starts[index], window.to));
  const openings = models.map((model) => openingBalance(model, currency));
  const total = (kind) => models.map((model) => totalOf(model, kind, currency));
  const expenses = total("expense").map((sum) => 0 - sum);
  const row = (...cells) => valueRow({ currency, rules }, ...cells);
  return card(
    { title: "Side by side" },
    h(
      "table.data",
      h(
        "thead",
        h(
          "tr",
          h("td"),
          [0, 1].map((index) => h("th.number", { scope: "col" }, label(index))),
          h("th.number.change", { scope: "col" }, "Difference"),
        ),
      ),
      h(
        "tbody",
        openings.some(Boolean) && row("Opening balance", openings, starts, false),
        row("Income", total("income")),
        row("Expenses", expenses),
        row(
          "Lowest balance",
          lowest.map(({ value }) => value),
          lowest.map(({ at }) => at),
        ),
        row(
          "Balance at the end",
          balances.map(({ values }) => values.at(-1)),
          models.map(({ times, now }) => times.at(-1) ?? now),
        ),
        rules.flat().length > 0 &&
          h(
            "tr",
            h("th", { scope: "row" }, "Balance expectations"),
            balances.map((balance, index) => ruleCell(balance, rules[index], models[index].now)),
            h("td.change"),
          ),
      ),
    ),
  );
}

/** Show when the items of a difference take effect. */
function timeText({ items, count }) {
  const times = [...new Set(items.filter(Boolean).map(({ at }) => at))];
  const days = times.map(formatDay);
  const texts = days[0] === days[1] ? times.map(formatInstant) : days;
  return `${count > 1 ? `${count} times, from ` : ""}${texts.join(" → ")}`;
}

/** Show the amounts before and after a change, or the amount of one of several items. */
function amountText({ items, count }) {
  const amounts = [...new Set(items.filter(Boolean).map(signedAmount))];
  if (amounts.length > 1) return amounts.join(" → ");
  return count > 1 ? `${amounts[0]} each` : "";
}

function differenceRow(entry) {
  const [first, second] = entry.items;
  const total = totalChange(entry);
  return h(
    "li",
    h("strong", (first ?? second).name),
    total === 0
      ? h("span.muted", "moved")
      : h("span.number", formatMoney(total, (first ?? second).currency, { sign: "always" })),
    h("span.muted", timeText(entry)),
    h("span.number.muted", withAmounts(amountText(entry))),
  );
}

/** List what differs: changed events with the effect on the balance, and events that only one of the clocks has. */
export function differenceList(models, label) {
  const differences = findDifferences(models);
  const shown = differences.slice(0, MAX_DIFFERENCES);
  const rest = differences.length - shown.length;
  const total = differences.reduce((sum, { count }) => sum + count, 0);
  const groups = [
    ["changed", "Changed", shown.filter(({ items: [first, second] }) => first && second)],
    ["only-in-0", ["Only in ", label(0)], shown.filter(({ items }) => !items[1])],
    ["only-in-1", ["Only in ", label(1)], shown.filter(({ items }) => !items[0])],
  ];
  return card(
    { title: "What differs", aside: total > 0 && h("span.muted", plural(total, "event")) },
    total === 0 && h("p.muted", "Nothing. Both clocks have the same events."),
    groups
      .filter(([, , entries]) => entries.length > 0)
      .map(([id, title, entries]) => [
        h("h3.muted", { id }, title),
        h("ul.differences", { "aria-labelledby": id }, entries.map(differenceRow)),
      ]),
    rest > 0 && h("p.muted", `and ${rest} more`),
  );
}
