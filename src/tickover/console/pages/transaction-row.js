// The row of a transaction.

import { cancelButton, stateMark } from "../chart/row-states.js";
import { accountNames, signedAmount } from "../clock/clock-text.js";
import { h } from "../lib/dom.js";
import { formatMoney, formatShortDay, formatTime, formatYear } from "../lib/format.js";
import { showItem } from "./clock-dialogs.js";

const MAX_AMOUNT = 14; // characters of an amount in a column of the usual width

/** Return whether the largest change or balance needs a wider column. Formatting all of them is slow. */
export function hasLongAmounts(changes) {
  const size = ({ amount, balance }) => Math.max(Math.abs(amount), Math.abs(balance));
  const [largest] = changes.toSorted((left, right) => size(right) - size(left));
  return changes.length > 0 && formatMoney(-size(largest), largest.currency).length > MAX_AMOUNT;
}

/** Return whether a category says more than the name. */
const hasOwnCategory = (item) => item.category && item.category.toLowerCase() !== item.name.toLowerCase();

/**
 * Create the row of a transaction or transfer with its `change` of a balance. The amount is that for an account, if there
 * is one. If another row follows at the same time, no line is between them.
 */
export function transactionRow(item, { model, account, change, isPending, isLow, isFollowed }) {
  const [mark, state] = stateMark(item.kind);
  const cancel = isPending && cancelButton(item);
  const name = h("span.clamped", { title: item.name }, item.name);
  const show = h("button.show-item", { onclick: () => showItem(item, state.textContent, model) }, name);
  const balance = h(
    "td",
    {
      class: `number balance${isLow ? " below-zero" : ""}`,
      title: isFollowed ? "The next event has the same time. The chart shows the balance after both." : undefined,
    },
    formatMoney(change.balance, change.currency),
  );
  const row = h(
    "tr",
    { class: isFollowed ? "followed" : undefined },
    h(
      "td.when",
      mark,
      formatShortDay(item.at),
      h("span.year", ` ${formatYear(item.at)}`),
      h("span.muted.detail", formatTime(item.at)),
    ),
    h(
      "th.name",
      { scope: "row" },
      show,
      h("span.muted.detail", accountNames(item, model)),
      hasOwnCategory(item) && h("span.muted.detail", item.category),
    ),
    h("td.state-cell", state),
    h("td", { class: `number amount ${item.kind}` }, signedAmount(item, account)),
    balance,
    h("td.row-actions", cancel),
  );
  return Object.assign(row, { show, cancel, balance });
}
