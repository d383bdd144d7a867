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

export const TRANSACTION_TYPES = [
  ["EXPENSE", "Expense"],
  ["INCOME", "Income"],
];

const amount = (label, placeholder) => ({
  label,
  control: (value) => amountInput(value, { placeholder }),
  read: parseAmount,
});

/** The fields of the rows. The key is the name in the params, unless the field has another one. */
const FIELDS = {
  name: { label: "Name", control: textInput },
  key: { label: "Key", control: (value) => textInput(value, { spellcheck: "false", placeholder: "checking" }) },
  accountType: { key: "type", label: "Type", control: (value) => select(ACCOUNT_TYPES, { value }) },
  type: { label: "Type", control: (value) => select(TRANSACTION_TYPES, { value }) },
  currency: { label: "Currency", control: currencyInput },
  openingBalance: amount("Opening balance", "0"),
  from: { label: "From", control: accountInput },
  to: { label: "To", control: accountInput },
  account: { label: "Account", control: (value) => accountInput(value, "the first") },
  category: { label: "Category", control: (value) => textInput(value, { placeholder: "optional" }) },
  amount: amount("Amount"),
  received: amount("Received", "if currencies differ"),
  targetAmount: amount("Target amount"),
  initialAmount: amount("Initial amount", "0"),
  at: { label: "Time (UTC)", control: timeInput, read: readTime },
  repeats: { label: "Repeats", control: repeatSelect },
};

const fieldsOf = (entry, names) =>
  names.map((name) => {
    const { key = name, label, control, read } = FIELDS[name];
    return field(key, label, control(entry[key]), read);
  });

export function accountRow(entry, previousRow) {
  const currency = previousRow ? readRow(previousRow).currency : "EUR";
  return { fields: fieldsOf(entry ?? { currency }, ["name", "key", "accountType", "currency", "openingBalance"]) };
}

export function transferRow(entry, previousRow, start) {
  const at = previousRow ? readRow(previousRow).at : suggestTime(null, start());
  return { fields: fieldsOf(entry ?? { at }, ["name", "from", "to", "amount", "received", "at", "repeats"]) };
}

export function transactionRow(entry, previousRow, start) {
  const { at = suggestTime(null, start()), currency = "EUR" } = previousRow ? readRow(previousRow) : {};
  const names = ["name", "type", "amount", "currency", "account", "category", "at", "repeats"];
  return { fields: fieldsOf(entry ?? { at, currency }, names) };
}

export function goalRow(entry = {}, _previousRow, start) {
  const texts = { title: "Contributions", noun: "contribution", hint: "" };
  const contributions = rowList("contributions", texts, contributionRow, start);
  entriesOf(entry.contributions).forEach((contribution) => contributions.append(contribution));
  const fields = fieldsOf(entry, ["name", "targetAmount", "initialAmount"]);
  return { fields, contributions, nested: contributions.element };
}

function contributionRow(entry, previousRow, start) {
  const last = previousRow ? readRow(previousRow) : {};
  return {
    fields: fieldsOf(entry ?? { at: suggestTime(last.at, start()), amount: last.amount }, ["amount", "at", "repeats"]),
  };
}
