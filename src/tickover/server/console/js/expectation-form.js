// The form for a new expectation.

import { amountFormat, parseAmount } from "./amount-input.js";
import { field } from "./clock-form-fields.js";
import { errorDetails } from "./create-clock.js";
import { h, onSubmit, render, withBusyState } from "./dom.js";
import { RpcError, ServerUnavailable } from "./rpc.js";

const PERIODS = [
  ["MONTH", "month"],
  ["WEEK", "week"],
  ["DAY", "day"],
  ["ALL", "all of the time"],
];

const select = (options) =>
  h(
    "select",
    {},
    options.map(([value, text]) => h("option", { value }, text)),
  );
const amount = (value = "") => h("input", { inputMode: "decimal", autocomplete: "off", value });
const date = () => h("input", { type: "date", required: true });
const text = (properties = {}) => h("input", { autocomplete: "off", ...properties });

/** Return the kinds of expectations: `{ title, fields, read }`. `fields` creates controls by label. */
function kinds(model) {
  const currencies = model.currencies.map((code) => [code, code]);
  const isUnique = ({ name }) => model.goals.filter((goal) => goal.name === name).length === 1;
  const goals = model.goals.map((goal) => [isUnique(goal) ? goal.name : goal.id, goal.name]);
  const timestamp = ({ value }) => `${value}T00:00:00Z`;
  const bound = (title, key) => ({
    title,
    fields: () => ({ Currency: select(currencies), Amount: amount("0") }),
    read: ({ Currency, Amount }) => ({ balance: { currency: Currency.value, [key]: parseAmount(Amount.value) } }),
  });
  return [
    ...(currencies.length ? [bound("Balance never below", "atLeast"), bound("Balance never above", "atMost")] : []),
    ...(goals.length
      ? [
          {
            title: "Goal reached",
            fields: () => ({ Goal: select(goals), "By (UTC)": date() }),
            read: ({ Goal, "By (UTC)": by }) => ({ goalReached: { goal: Goal.value, by: timestamp(by) } }),
          },
        ]
      : []),
    {
      title: "Transaction posted",
      fields: () => ({ Name: text({ required: true }), "By (UTC)": date() }),
      read: ({ Name, "By (UTC)": by }) => ({ posted: { name: Name.value, by: timestamp(by) } }),
    },
    {
      title: "Total at most",
      fields: () => ({
        Type: select([
          ["EXPENSE", "Expenses"],
          ["INCOME", "Income"],
        ]),
        Currency: currencies.length ? select(currencies) : text({ maxLength: 3, value: "EUR" }),
        "In every": select(PERIODS),
        Amount: amount(),
        Category: text({ placeholder: "any" }),
      }),
      read: ({ Type, Currency, Amount, Category, "In every": per }) => ({
        total: {
          type: Type.value,
          currency: Currency.value,
          per: per.value,
          atMost: parseAmount(Amount.value),
          ...(Category.value && { category: Category.value }),
        },
      }),
    },
  ];
}

/** Create the form. `onAdd(expectation)` rejects with the server's error. */
export function expectationForm(model, { onAdd, onCancel }) {
  const choices = kinds(model);
  const kind = h(
    "select",
    { onchange: () => show() },
    choices.map(({ title }, index) => h("option", { value: String(index) }, title)),
  );
  const fields = h("div", { class: "fields" });
  const error = h("p", { class: "error", role: "alert" });
  const button = h("button", { class: "soft" }, "Add expectation");
  let controls = {};

  function show() {
    controls = choices[Number(kind.value)].fields();
    render(
      fields,
      Object.entries(controls).map(([label, control]) => field("", label, control)),
    );
  }

  async function add() {
    error.textContent = "";
    if (controls.Amount && typeof parseAmount(controls.Amount.value) !== "number") {
      error.textContent = `The amount must be a number, for example ${amountFormat.format(1234.5)}.`;
      controls.Amount.focus();
      return;
    }
    try {
      await onAdd(choices[Number(kind.value)].read(controls));
    } catch (caught) {
      if (!(caught instanceof ServerUnavailable || caught instanceof RpcError)) throw caught;
      error.textContent = errorDetails(caught);
    }
  }

  show();
  return h(
    "form",
    {
      class: "expectation-form",
      onsubmit: onSubmit(() => withBusyState(button, add)),
      onkeydown: (event) => event.key === "Escape" && onCancel(),
    },
    field("", "Expectation", kind),
    fields,
    error,
    h("div", { class: "row" }, button, h("button", { type: "button", class: "plain", onclick: onCancel }, "Cancel")),
  );
}
