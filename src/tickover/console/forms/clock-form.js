// The form and the JSON editor for a new clock. The server validates them; errors appear next to their fields.

import { OPENING_BALANCE } from "../clock/clock-model.js";
import { MAX_NAME_LENGTH, plural } from "../clock/clock-text.js";
import { createClock, creationErrorMessage, faultList, faultsIn, sameParams, withName } from "../clock/create-clock.js";
import { amountFormat, parseAmount } from "../lib/amounts.js";
import { h, newId, onSubmit, render, withBusyState } from "../lib/dom.js";
import { amountInput, field, readTime, textInput, timeInput, toTimeText } from "../lib/form-fields.js";
import { parseInstant } from "../lib/instants.js";
import { defaultUntil, readRow, repeatEntry, repeatSelect, rowList, suggestTime } from "./clock-form-rows.js";
import { draftPreview } from "./draft-preview.js";
import { expectationRows } from "./expectation-form.js";

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];

// The user can write any JSON into a draft.
const entriesOf = (value) => (Array.isArray(value) ? value.filter((entry) => entry && typeof entry === "object") : []);

function transactionFields(entry, previousRow, start) {
  const last = previousRow && readRow(previousRow);
  const { at, name, amount, currency, type, category, repeats } = entry ?? {
    at: last?.at ?? suggestTime(null, start()),
    currency: last?.currency ?? "EUR",
  };
  const currencyInput = textInput(currency, {
    maxLength: 3,
    list: "currencies",
    autocapitalize: "characters",
    spellcheck: "false",
    oninput: (event) => (event.target.value = event.target.value.toUpperCase()),
  });
  const typeSelect = h(
    "select",
    {},
    [
      ["EXPENSE", "Expense"],
      ["INCOME", "Income"],
    ].map(([value, label]) => h("option", { value, selected: value === type }, label)),
  );
  return {
    fields: [
      field("name", "Name", textInput(name)),
      field("type", "Type", typeSelect),
      field("amount", "Amount", amountInput(amount), parseAmount),
      field("currency", "Currency", currencyInput),
      field("category", "Category", textInput(category, { placeholder: "optional" })),
      field("at", "Time (UTC)", timeInput(at), readTime),
      field("repeats", "Repeats", repeatSelect(repeats)),
    ],
  };
}

function goalRow(entry, _previousRow, start) {
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

/** Create the clock of a draft. If that fails, call `showError(message, faults)`. */
async function tryToCreate(params, { name, expectations }, showError) {
  try {
    await createClock(withName(params, name), { expectations });
  } catch (error) {
    showError(creationErrorMessage(error), faultsIn(error));
  }
}

/**
 * Create the form. `draft` is `{ name, params, expectations, text, rows }`; the form updates it. `rows` has entries with
 * `repeats`.
 */
export function clockForm(draft) {
  const { frozenTime, repeatUntil, transactions = [], goals = [] } = draft.rows ?? draft.params;
  const name = field(
    "clock-name",
    "Clock name",
    textInput(draft.name, { placeholder: "optional", maxLength: MAX_NAME_LENGTH }),
  );
  const start = field("frozenTime", "Start (UTC)", timeInput(frozenTime), readTime);
  const untilInput = timeInput(repeatUntil);
  const until = field("repeatUntil", "Repeat until (UTC)", untilInput, readTime);
  const showDefaultUntil = () => (untilInput.placeholder = toTimeText(new Date(defaultUntil(start.read()))));
  start.addEventListener("input", showDefaultUntil);
  showDefaultUntil();
  const transactionRows = rowList(
    "transactions",
    { title: "Transactions", noun: "transaction", hint: "Income and expenses, for example salary and rent." },
    transactionFields,
    start.read,
  );
  const goalRows = rowList(
    "goals",
    { title: "Goals", noun: "goal", hint: "Savings goals and their contributions." },
    goalRow,
    start.read,
  );
  entriesOf(transactions).forEach((entry) => transactionRows.append(entry));
  entriesOf(goals).forEach((entry) => goalRows.append(entry));
  // A new form shows what a transaction consists of.
  if (!draft.rows && draft.text === undefined && !transactionRows.rows.length && !goalRows.rows.length)
    transactionRows.append();
  const addOpening = () =>
    transactionRows.append(
      {
        name: OPENING_BALANCE,
        category: OPENING_BALANCE,
        at: start.read() ?? new Date().toISOString(),
        currency: "EUR",
        type: "INCOME",
      },
      true,
    );
  transactionRows.element.append(" ", h("button", { class: "plain", onclick: addOpening }, "Add an opening balance"));
  const errorBox = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, "Create clock");

  const rows = () => ({
    ...(start.read() && { frozenTime: start.read() }),
    ...(transactionRows.rows.length && { transactions: transactionRows.rows.map(readRow) }),
    ...(goalRows.rows.length && { goals: goalRows.rows.map(readRow) }),
  });

  const repeat = (entry) => repeatEntry(entry, Date.parse(until.read()) || defaultUntil(start.read()));
  const params = () => {
    const { transactions, goals, ...rest } = rows();
    return {
      ...rest,
      ...(transactions && { transactions: transactions.flatMap(repeat) }),
      ...(goals && {
        goals: goals.map(({ contributions, ...goal }) => ({
          ...goal,
          ...(contributions && { contributions: contributions.flatMap(repeat) }),
        })),
      }),
    };
  };

  /** Yield every field with its path in the params. */
  function* fieldsByPath() {
    yield ["frozenTime", start];
    yield ["repeatUntil", until];
    for (const [key, list] of [
      ["transactions", transactionRows],
      ["goals", goalRows],
    ])
      yield* rowFields(key, list);
  }

  function* rowFields(key, list) {
    let index = 0;
    for (const row of list.rows) {
      // A fault of a repeated row is shown once, at its first entry.
      for (const field of row.fields) yield [`${key}[${index}].${field.key}`, field];
      if (row.contributions) yield* rowFields(`${key}[${index}].contributions`, row.contributions);
      index += repeat(readRow(row)).length;
    }
  }

  function showError(message, faults = []) {
    const byPath = new Map(faults.map(({ path, message }) => [path, message]));
    let first = null;
    for (const [path, field] of fieldsByPath()) {
      field.setFault(byPath.get(path) ?? "");
      if (byPath.delete(path)) first ??= field;
    }
    render(
      errorBox,
      message && h("p", { class: "error" }, message, first && " Check the marked fields."),
      faultList([...byPath].map(([path, message]) => ({ path, message }))),
    );
    first?.focusControl();
  }

  async function create() {
    const faults = [...fieldsByPath()].flatMap(([path, field]) => {
      const value = field.read();
      if (typeof value !== "string") return [];
      if (/amount$/i.test(path))
        return [{ path, message: `must be a number, for example ${amountFormat.format(1234.5)}` }];
      return /(\.at|Time|Until)$/.test(path) && Number.isNaN(parseInstant(value))
        ? [{ path, message: "must be a time, for example 2027-01-31 09:00" }]
        : [];
    });
    showError(faults.length ? "Nothing was sent." : "", faults);
    if (faults.length) return;
    const unfinished = form.querySelector(".expectation-form select");
    if (unfinished) {
      showError("Nothing was sent. Add the expectation, or cancel it.");
      unfinished.focus();
      return;
    }
    await tryToCreate(params(), draft, showError);
  }

  const preview = draftPreview("The balance appears here when you enter an amount.");
  let savedParams = params();
  preview.draw(savedParams, draft.expectations);
  const getClock = () => {
    const { transactions = [], goals = [] } = rows();
    const isUnique = ({ name }) => name && goals.filter((goal) => goal.name === name).length === 1;
    const currencies = transactions.map(({ currency }) => currency).filter((code) => /^[A-Z]{3}$/.test(code));
    return {
      currencies: [...new Set(currencies.length ? currencies : ["EUR"])],
      goals: goals.filter(isUnique),
    };
  };
  const onChange = (expectations) => {
    draft.expectations = expectations;
    preview.draw(params(), expectations);
  };
  const saveDraft = () => {
    draft.name = name.read() ?? "";
    const newParams = params();
    if (sameParams(newParams, savedParams)) return;
    savedParams = newParams;
    preview.draw(newParams, draft.expectations);
    Object.assign(draft, { params: newParams, text: undefined, rows: { ...rows(), repeatUntil: until.read() } });
  };
  const form = h(
    "form",
    {
      class: "card clock-form",
      noValidate: true,
      oninput: saveDraft,
      onclick: saveDraft,
      onsubmit: onSubmit(() => withBusyState(button, create)),
    },
    h(
      "datalist",
      { id: "currencies" },
      CURRENCIES.map((value) => h("option", { value })),
    ),
    h("div", { class: "cells clock-fields" }, name, start, until),
    h(
      "p",
      { class: "muted" },
      "Without a start, the clock starts now. A row that repeats ends at “Repeat until”, or after six months. Events can be up to ten years after the start.",
    ),
    transactionRows.element,
    goalRows.element,
    expectationRows(draft.expectations ?? [], { getClock, onChange }),
    preview.element,
    h("div", { class: "row submit-row" }, button, errorBox),
  );
  return Object.assign(form, { params });
}

function parseParamsObject(text) {
  const params = JSON.parse(text.trim() || "{}");
  if (params === null || typeof params !== "object" || Array.isArray(params))
    throw new SyntaxError("the parameters must be a JSON object");
  return params;
}

/** Take the JSON text of the draft into its params. Return why the form can't show it, or an empty string. */
export function formProblem(draft) {
  if (draft.text === undefined) return "";
  let params;
  try {
    params = parseParamsObject(draft.text);
  } catch (error) {
    return `The form can't read this JSON: ${error.message}.`;
  }
  if (!sameParams(clockForm({ params, rows: params }).params(), params))
    return "The form can't show all of this JSON. You can create the clock from here.";
  if (!sameParams(params, draft.params)) Object.assign(draft, { params, rows: undefined });
  return "";
}

/** Create the editor. `draft` is `{ name, params, expectations, text }`; the text stays in it until the form changes the params. */
export function clockJsonForm(draft) {
  const errorBox = h("div", { role: "alert", id: newId() });
  const text = h(
    "textarea",
    { id: newId(), class: "mono", rows: 18, spellcheck: "false", "aria-describedby": errorBox.id },
    draft.text ?? JSON.stringify(draft.params, null, 2),
  );
  const button = h("button", { class: "primary" }, "Create clock");

  function showError(message, faults = []) {
    if (message) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    render(errorBox, message && h("p", { class: "error" }, message), faultList(faults));
    if (message) text.focus();
  }

  async function create() {
    showError("");
    let params;
    try {
      params = parseParamsObject(text.value);
    } catch (error) {
      showError(`Invalid parameters: ${error.message}.`);
      return;
    }
    await tryToCreate(params, draft, showError);
  }

  const preview = draftPreview();
  const drawPreview = () => {
    try {
      preview.draw(parseParamsObject(text.value), draft.expectations);
    } catch {
      preview.draw({}); // The user is still typing.
    }
  };
  drawPreview();
  text.addEventListener("input", () => {
    draft.text = text.value;
    drawPreview();
  });
  const form = h(
    "form",
    {
      class: "card clock-form",
      noValidate: true,
      onsubmit: onSubmit(() => withBusyState(button, create)),
    },
    errorBox,
    h("div", {}, h("label", { for: text.id }, "Parameters of createTestClock"), text),
    preview.element,
    draft.expectations.length > 0 &&
      h("p", { class: "muted" }, `With ${plural(draft.expectations.length, "expectation")} from the form.`),
    h(
      "div",
      { class: "row submit-row" },
      button,
      h("a", { href: "docs#createTestClock", target: "_blank" }, "Parameter reference"),
    ),
  );
  return Object.assign(form, { showError });
}
