// The rows of the form for a new clock, and how often a row repeats.

import { MAX_ENTRIES } from "../clock/create-clock.js";
import { parseAmount } from "../lib/amounts.js";
import { h } from "../lib/dom.js";
import { amountInput, field, readTime, select, textInput, timeInput } from "../lib/form-fields.js";
import { addMonths, DAY, HOUR, startOfDay, toTimestamp } from "../lib/instants.js";

/** Suggest a month after the last time, or the first morning of the clock. */
function suggestTime(last, start) {
  return new Date(
    last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR,
  ).toISOString();
}

/**
 * Create a list of rows that can be added and removed. `buildRow(entry, previousRow, start)` returns a row with `fields`.
 * The entry is undefined if the user adds the row. `start()` is the start of the clock.
 */
export function rowList(key, { title, noun, hint }, buildRow, start) {
  const list = h("ol", { class: `rows ${key}` });
  const rows = [];
  const button = h(
    "button",
    { onclick: () => append(undefined, true) },
    `Add ${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`,
  );
  const empty = h("p.muted", hint);

  function refresh() {
    empty.hidden = rows.length > 0;
    button.disabled = rows.length >= MAX_ENTRIES[key];
  }

  function remove(row) {
    const index = rows.indexOf(row);
    rows.splice(index, 1);
    row.element.remove();
    refresh();
    (rows[Math.min(index, rows.length - 1)]?.removeButton ?? button).focus();
  }

  function append(entry, byUser = false) {
    const row = buildRow(entry, rows.at(-1), start);
    row.removeButton = h(
      "button.plain.remove-row",
      { "aria-label": `Remove this ${noun}`, title: "Remove", onclick: () => remove(row) },
      "✕",
    );
    row.element = h("li", h("div.cells", row.fields, row.removeButton), row.nested);
    rows.push(row);
    list.append(row.element);
    refresh();
    if (byUser) row.fields.find((field) => field.read() === undefined).focusControl();
  }

  refresh();
  return { element: h("fieldset", h("legend", title), empty, list, button), rows, append };
}

/** Return the entry that a row describes. */
export function readRow({ fields, contributions }) {
  const entries = fields.map((field) => [field.key, field.read()]).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(entries),
    ...(contributions?.rows.length && { contributions: contributions.rows.map(readRow) }),
  };
}

const DEFAULT_MONTHS = 6;

const weeks = (count) => (start, index) => start + 7 * count * index * DAY;
const months = (count) => (start, index) => addMonths(start, count * index);
const REPEATS = {
  weekly: ["Weekly", weeks(1)],
  biweekly: ["Every 2 weeks", weeks(2)],
  monthly: ["Monthly", months(1)],
  quarterly: ["Quarterly", months(3)],
  yearly: ["Yearly", months(12)],
};

const repeatSelect = (value) =>
  select([["", "Once"], ...Object.entries(REPEATS).map(([key, [label]]) => [key, label])], { value });

/** Return the end of repeats if the user gives none. */
export const defaultUntil = (start) => addMonths(Date.parse(start) || startOfDay(Date.now()), DEFAULT_MONTHS);

/** Return the entries of a row that repeats until an instant. There is at least one. */
export function repeatEntry({ repeats, ...entry }, until) {
  const first = Date.parse(entry.at);
  if (!repeats || Number.isNaN(first)) return [entry];
  const [, next] = REPEATS[repeats];
  const entries = [entry];
  // One more than the limit, so that the server rejects them.
  for (let index = 1; next(first, index) <= until && index <= MAX_ENTRIES.transactions; index += 1)
    entries.push({ ...entry, at: toTimestamp(next(first, index)) });
  return entries;
}

// The user can write any JSON into a draft.
export const entriesOf = (value) =>
  Array.isArray(value) ? value.filter((entry) => entry && typeof entry === "object") : [];

const currencyInput = (value) =>
  textInput(value, {
    maxLength: 3,
    list: "currencies",
    autocapitalize: "characters",
    spellcheck: "false",
    oninput: (event) => (event.target.value = event.target.value.toUpperCase()),
  });

const accountInput = (value, placeholder) => textInput(value, { list: "accounts", spellcheck: "false", placeholder });

export const ACCOUNT_TYPES = [
  ["CHECKING", "Checking"],
  ["SAVINGS", "Savings"],
  ["CREDIT_CARD", "Credit card"],
  ["CASH", "Cash"],
  ["LOAN", "Loan"],
];

export function accountRow(entry, previousRow) {
  const last = previousRow && readRow(previousRow);
  const { key, name, type, currency, openingBalance } = entry ?? { currency: last?.currency ?? "EUR" };
  const keyInput = textInput(key, { spellcheck: "false", placeholder: "checking" });
  return {
    fields: [
      field("name", "Name", textInput(name)),
      field("key", "Key", keyInput),
      field("type", "Type", select(ACCOUNT_TYPES, { value: type })),
      field("currency", "Currency", currencyInput(currency)),
      field("openingBalance", "Opening balance", amountInput(openingBalance, { placeholder: "0" }), parseAmount),
    ],
  };
}

export function transferRow(entry, previousRow, start) {
  const last = previousRow && readRow(previousRow);
  const { at, name, from, to, amount, received, repeats } = entry ?? { at: last?.at ?? suggestTime(null, start()) };
  const arrives = amountInput(received, { placeholder: "if currencies differ" });
  return {
    fields: [
      field("name", "Name", textInput(name)),
      field("from", "From", accountInput(from)),
      field("to", "To", accountInput(to)),
      field("amount", "Amount", amountInput(amount), parseAmount),
      field("received", "Received", arrives, parseAmount),
      field("at", "Time (UTC)", timeInput(at), readTime),
      field("repeats", "Repeats", repeatSelect(repeats)),
    ],
  };
}

const TRANSACTION_TYPES = [
  ["EXPENSE", "Expense"],
  ["INCOME", "Income"],
];

export function transactionRow(entry, previousRow, start) {
  const last = previousRow && readRow(previousRow);
  const { at, name, amount, currency, type, category, account, repeats } = entry ?? {
    at: last?.at ?? suggestTime(null, start()),
    currency: last?.currency ?? "EUR",
  };
  return {
    fields: [
      field("name", "Name", textInput(name)),
      field("type", "Type", select(TRANSACTION_TYPES, { value: type })),
      field("amount", "Amount", amountInput(amount), parseAmount),
      field("currency", "Currency", currencyInput(currency)),
      field("account", "Account", accountInput(account, "the first")),
      field("category", "Category", textInput(category, { placeholder: "optional" })),
      field("at", "Time (UTC)", timeInput(at), readTime),
      field("repeats", "Repeats", repeatSelect(repeats)),
    ],
  };
}

export function goalRow(entry, _previousRow, start) {
  const { name, targetAmount, initialAmount, contributions = [] } = entry ?? {};
  const list = rowList(
    "contributions",
    { title: "Contributions", noun: "contribution", hint: "" },
    contributionRow,
    start,
  );
  entriesOf(contributions).forEach((contribution) => list.append(contribution));
  return {
    fields: [
      field("name", "Name", textInput(name)),
      field("targetAmount", "Target amount", amountInput(targetAmount), parseAmount),
      field("initialAmount", "Initial amount", amountInput(initialAmount, { placeholder: "0" }), parseAmount),
    ],
    contributions: list,
    nested: list.element,
  };
}

function contributionRow(entry, previousRow, start) {
  const last = previousRow && readRow(previousRow);
  const { at, amount, repeats } = entry ?? { at: suggestTime(last?.at, start()), amount: last?.amount };
  return {
    fields: [
      field("amount", "Amount", amountInput(amount), parseAmount),
      field("at", "Time (UTC)", timeInput(at), readTime),
      field("repeats", "Repeats", repeatSelect(repeats)),
    ],
  };
}
