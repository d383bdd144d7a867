// The form for a new clock. The server validates it; errors appear next to their fields.

import { format, readAmount } from "./amount-input.js";
import { amount, field, fromField, likelyTime, read, rows, text, when } from "./clock-form-fields.js";
import { createClock, faultList, faultsOf, whyNotCreated } from "./create-clock.js";
import { h, onSubmit, show, whileBusy } from "./dom.js";
import { saysSame } from "./params-equality.js";

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];

// A draft that was written as JSON may be anything.
const listOf = (given) => (Array.isArray(given) ? given.filter((entry) => entry && typeof entry === "object") : []);

function transaction(entry, before, start) {
  const last = before && read(before);
  const {
    at,
    name,
    amount: sum,
    currency,
    type,
    category,
  } = entry ?? { at: last?.at ?? likelyTime(null, start()), currency: last?.currency ?? "EUR" };
  const letters = text(currency, {
    maxLength: 3,
    list: "currencies",
    autocapitalize: "characters",
    spellcheck: "false",
    oninput: (event) => (event.target.value = event.target.value.toUpperCase()),
  });
  const kind = h(
    "select",
    {},
    [
      ["EXPENSE", "Expense"],
      ["INCOME", "Income"],
    ].map(([value, label]) => h("option", { value, selected: value === type }, label)),
  );
  return {
    fields: [
      field("name", "Name", text(name)),
      field("type", "Type", kind),
      field("amount", "Amount", amount(sum), readAmount),
      field("currency", "Currency", letters),
      field("category", "Category", text(category, { placeholder: "optional" })),
      field("at", "When (UTC)", when(at), fromField),
    ],
  };
}

function goal(entry, _before, start) {
  const { name, targetAmount, initialAmount, contributions = [] } = entry ?? {};
  const list = rows(
    "contributions",
    { title: "Contributions", add: "Add a contribution", hint: "" },
    contribution,
    start,
  );
  listOf(contributions).forEach((one) => list.append(one));
  return {
    fields: [
      field("name", "Name", text(name)),
      field("targetAmount", "Target", amount(targetAmount), readAmount),
      field("initialAmount", "Saved already", amount(initialAmount, { placeholder: "0" }), readAmount),
    ],
    contributions: list,
    more: list.element,
  };
}

function contribution(entry, before, start) {
  const last = before && read(before);
  const { at, amount: sum } = entry ?? { at: likelyTime(last?.at, start()), amount: last?.amount };
  return {
    fields: [field("amount", "Amount", amount(sum), readAmount), field("at", "When (UTC)", when(at), fromField)],
  };
}

/** `draft` is `{ name, params, text }`; what is written is kept in it. */
export function createForm(draft) {
  const { frozenTime, transactions = [], goals = [] } = draft.params;
  const name = field(
    "clock-name",
    "Name of the clock",
    text(draft.name, { placeholder: "optional; stays in this browser" }),
  );
  const start = field("frozenTime", "Starts at (UTC)", when(frozenTime), fromField);
  const money = rows(
    "transactions",
    { title: "Transactions", add: "Add a transaction", hint: "Salaries, rents, and whatever else comes and goes." },
    transaction,
    start.read,
  );
  const saving = rows(
    "goals",
    { title: "Goals", add: "Add a goal", hint: "What is saved for, with what is put aside and when." },
    goal,
    start.read,
  );
  listOf(transactions).forEach((entry) => money.append(entry));
  listOf(goals).forEach((entry) => saving.append(entry));
  const outcome = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, "Create clock");

  const params = () => ({
    ...(start.read() && { frozenTime: start.read() }),
    ...(money.all.length && { transactions: money.all.map(read) }),
    ...(saving.all.length && { goals: saving.all.map(read) }),
  });

  /** Every field with the path by which the server calls it. */
  function* paths() {
    yield ["frozenTime", start];
    for (const [key, list] of [
      ["transactions", money],
      ["goals", saving],
    ])
      yield* pathsOf(key, list);
  }

  function* pathsOf(key, list) {
    for (const [index, row] of list.all.entries()) {
      for (const one of row.fields) yield [`${key}[${index}].${one.key}`, one];
      if (row.contributions) yield* pathsOf(`${key}[${index}].contributions`, row.contributions);
    }
  }

  function refuse(sentence, faults = []) {
    const byPath = new Map(faults.map(({ path, message }) => [path, message]));
    let first = null;
    for (const [path, one] of paths()) {
      one.complain(byPath.get(path) ?? "");
      if (byPath.delete(path)) first ??= one;
    }
    show(
      outcome,
      sentence && h("p", { class: "error" }, sentence, first && " Look at the marked fields."),
      faultList([...byPath].map(([path, message]) => ({ path, message }))),
    );
    first?.focusOn();
  }

  async function create() {
    const noNumbers = [...paths()].filter(([path, one]) => /amount$/i.test(path) && typeof one.read() === "string");
    refuse(
      noNumbers.length ? "Nothing was sent." : "",
      noNumbers.map(([path]) => ({ path, message: `must be a number, such as ${format.format(1234.5)}` })),
    );
    if (noNumbers.length) return;
    try {
      await createClock(params(), name.read());
    } catch (error) {
      refuse(whyNotCreated(error), faultsOf(error));
    }
  }

  let kept = params();
  const keep = () => {
    draft.name = name.read() ?? "";
    const now = params();
    if (saysSame(now, kept)) return;
    kept = now;
    Object.assign(draft, { params: now, text: undefined });
  };
  const form = h(
    "form",
    {
      class: "card create",
      noValidate: true,
      oninput: keep,
      onclick: keep,
      onsubmit: onSubmit(() => whileBusy(button, create)),
    },
    h(
      "datalist",
      { id: "currencies" },
      CURRENCIES.map((value) => h("option", { value })),
    ),
    h("div", { class: "cells head" }, name, start),
    h(
      "p",
      { class: "quiet" },
      "Without a start the clock begins now. It ends ten years after its start; all that happens lies between the two.",
    ),
    money.element,
    saving.element,
    h("div", { class: "row finish" }, button, outcome),
  );
  return Object.assign(form, { params });
}
