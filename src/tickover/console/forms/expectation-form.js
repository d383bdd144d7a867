// The form for an expectation, and the list of the expectations of a new clock.

import { MAX_ENTRIES, showErrors } from "../clock/create-clock.js";
import { describeExpectation } from "../clock/expectations.js";
import { amountFormat, parseAmount } from "../lib/amounts.js";
import { busyButton } from "../lib/busy-button.js";
import { disclosure } from "../lib/card.js";
import { h, render } from "../lib/dom.js";
import { amountInput, field, parseTimeText, readTime, select, textInput, withPicker } from "../lib/form-fields.js";
import { iconButton } from "../lib/icons.js";
import { withAmounts } from "../lib/nowrap.js";

const PERIODS = [
  ["MONTH", "month"],
  ["WEEK", "week"],
  ["DAY", "day"],
  ["ALL", "all of the time"],
];

const TOTALS = [
  ["EXPENSE", "Expenses"],
  ["INCOME", "Income"],
];

const dateInput = () => withPicker(textInput("", { required: true, placeholder: "2027-01-31" }), { type: "date" });

/** Return the kinds of expectations: `{ title, fields, read }`. `fields` creates controls by label. */
function kinds({ currencies: codes, accounts, goals: allGoals }) {
  const currencies = codes.map((code) => [code, code]);
  // A currency of several accounts is their total.
  const balances = [
    ...codes.map((code) => [`currency:${code}`, accounts.length ? `${code} in all accounts` : code]),
    ...accounts.map(({ key, name }) => [`account:${key}`, name]),
  ];
  const isUnique = ({ name }) => allGoals.filter((goal) => goal.name === name).length === 1;
  const goals = allGoals.map((goal) => [isUnique(goal) ? goal.name : goal.id, goal.name]);
  const timestamp = ({ value }) => readTime(value);
  const subject = accounts.length ? "Account" : "Currency";
  const bound = (title, key) => ({
    title,
    fields: () => ({ [subject]: select(balances), Amount: amountInput(0) }),
    read({ [subject]: { value }, Amount }) {
      const [member, name] = value.split(":");
      return { balance: { [member]: name, [key]: parseAmount(Amount.value) } };
    },
  });
  return [
    ...(currencies.length ? [bound("Balance never below", "atLeast"), bound("Balance never above", "atMost")] : []),
    ...(goals.length
      ? [
          {
            title: "Goal reached",
            fields: () => ({ Goal: select(goals), "By (UTC)": dateInput() }),
            read: ({ Goal, "By (UTC)": by }) => ({ goalReached: { goal: Goal.value, by: timestamp(by) } }),
          },
        ]
      : []),
    {
      title: "Transaction posted",
      fields: () => ({ Name: textInput("", { required: true }), "By (UTC)": dateInput() }),
      read: ({ Name, "By (UTC)": by }) => ({ posted: { name: Name.value, by: timestamp(by) } }),
    },
    {
      title: "Total at most",
      fields: () => ({
        Type: select(TOTALS),
        Currency: currencies.length ? select(currencies) : textInput("EUR", { maxLength: 3 }),
        "In every": select(PERIODS),
        Amount: amountInput(),
        Category: textInput("", { placeholder: "any" }),
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

/**
 * Create the form for a clock with these currencies, accounts and goals. `onAdd(expectation)` rejects with the server's error.
 * Return a div, because forms can't be nested.
 */
export function expectationForm(clock, { onAdd, onCancel }) {
  const choices = kinds(clock);
  const kind = select(
    choices.map(({ title }, index) => [String(index), title]),
    { onchange: () => show() },
  );
  const fields = h("div.fields");
  const error = h("p.error", { role: "alert" });
  const button = busyButton("button.soft", "Add expectation", () => add());
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
    if (!Object.values(controls).every((control) => control.reportValidity())) return;
    const by = controls["By (UTC)"];
    if (by && Number.isNaN(parseTimeText(by.value))) {
      error.textContent = "The date must be a day, for example 2027-01-31.";
      by.focus();
      return;
    }
    if (controls.Amount && typeof parseAmount(controls.Amount.value) !== "number") {
      error.textContent = `The amount must be a number, for example ${amountFormat.format(1234.5)}.`;
      controls.Amount.focus();
      return;
    }
    await showErrors(error, () => onAdd(choices[Number(kind.value)].read(controls)));
  }

  const onkeydown = (event) => {
    if (event.key === "Escape") onCancel();
    if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
    event.preventDefault();
    button.click();
  };

  show();
  return h(
    "div.expectation-form",
    { onkeydown },
    field("", "Expectation", kind),
    fields,
    error,
    h("div.row", button, h("button.plain", { onclick: onCancel }, "Cancel")),
  );
}

export const EXPECTATIONS_HINT = "Conditions that must hold, for example a balance that is never below zero.";

export const removeButton = (text, onclick) =>
  iconButton("close", `Remove ${text}`, { class: "plain", title: "Remove", onclick });

/**
 * Create the list of expectations of a new clock. `getClock()` returns its currencies, accounts and goals. Call
 * `onChange(expectations)` after each change.
 */
export function expectationRows(expectations, { getClock, onChange }) {
  const list = h("ul.expectations");
  const hint = h("p.muted", EXPECTATIONS_HINT);
  const { button, box } = disclosure("Add an expectation", (close) => {
    const onAdd = async (expectation) => {
      change([...expectations, expectation]);
      close();
    };
    return expectationForm(getClock(), { onAdd, onCancel: close });
  });
  button.className = ""; // as the other buttons of the form

  function change(changed) {
    expectations = changed;
    draw();
    onChange(changed);
  }

  function draw() {
    hint.hidden = expectations.length > 0;
    button.disabled = expectations.length >= MAX_ENTRIES.expectations;
    render(
      list,
      expectations.map((expectation, index) => {
        const text = describeExpectation(expectation, getClock());
        const remove = () => {
          change(expectations.toSpliced(index, 1));
          (list.querySelectorAll("button")[index] ?? button).focus();
        };
        return h("li.expectation", h("div", withAmounts(text)), removeButton(text, remove));
      }),
    );
  }

  draw();
  return h("fieldset", h("legend", "Expectations"), hint, list, button, box);
}
