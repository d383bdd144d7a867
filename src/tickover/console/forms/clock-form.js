// The form for a new clock. The server validates it; errors appear next to their fields.

import { OPENING_BALANCE } from "../clock/clock-model.js";
import { MAX_NAME_LENGTH } from "../clock/clock-text.js";
import { faultList, sameParams, tryToCreate } from "../clock/create-clock.js";
import { amountFormat } from "../lib/amounts.js";
import { h, onSubmit, render, withBusyState } from "../lib/dom.js";
import { field, parseTimeText, readTime, TIME_FAULT, textInput, timeInput, toTimeText } from "../lib/form-fields.js";
import { defaultUntil, entriesOf, goalRow, readRow, repeatEntry, rowList, transactionRow } from "./clock-form-rows.js";
import { draftPreview } from "./draft-preview.js";
import { expectationRows } from "./expectation-form.js";

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];
const TRANSACTIONS = {
  title: "Transactions",
  noun: "transaction",
  hint: "Income and expenses, such as salary and rent.",
};
const GOALS = { title: "Goals", noun: "goal", hint: "Savings goals and their contributions." };
const HINT =
  "Without a start, the clock starts now. A row that repeats ends at “Repeat until”, or after six months. Events can be up to ten years after the start.";

/** Return why the text of a field can't be sent, or null. Numbers are already parsed. */
function textFault(path, value) {
  if (typeof value !== "string") return null;
  if (/amount$/i.test(path)) return `must be a number, for example ${amountFormat.format(1234.5)}`;
  return /(\.at|Time|Until)$/.test(path) && Number.isNaN(parseTimeText(value)) ? TIME_FAULT : null;
}

export class ClockForm {
  #draft;
  #savedParams;
  #name;
  #start;
  #until;
  #transactions;
  #goals;
  #error = h("div", { role: "alert" });
  #button = h("button", { class: "primary" }, "Create clock");
  #preview = draftPreview("The balance appears here when you enter an amount.");

  /** `draft` is `{ name, params, expectations, text, rows }`; the form updates it. `rows` has entries with `repeats`. */
  constructor(draft) {
    this.#draft = draft;
    this.#createFields();
    this.#addDraftRows();
    this.#savedParams = this.params();
    this.#preview.draw(this.#savedParams, draft.expectations);
    this.element = this.#build();
  }

  #createFields() {
    const { frozenTime, repeatUntil } = this.#draft.rows ?? this.#draft.params;
    const name = textInput(this.#draft.name, { placeholder: "optional", maxLength: MAX_NAME_LENGTH });
    const until = timeInput(repeatUntil);
    this.#name = field("clock-name", "Clock name", name);
    this.#start = field("frozenTime", "Start (UTC)", timeInput(frozenTime), readTime);
    this.#until = field("repeatUntil", "Repeat until (UTC)", until, readTime);
    const showDefaultUntil = () => (until.placeholder = toTimeText(new Date(defaultUntil(this.#start.read()))));
    this.#start.addEventListener("input", showDefaultUntil);
    showDefaultUntil();
    this.#transactions = rowList("transactions", TRANSACTIONS, transactionRow, this.#start.read);
    this.#goals = rowList("goals", GOALS, goalRow, this.#start.read);
    const addOpening = h("button", { class: "plain", onclick: () => this.#addOpening() }, "Add an opening balance");
    this.#transactions.element.append(" ", addOpening);
  }

  #addDraftRows() {
    const { rows, params, text } = this.#draft;
    const { transactions = [], goals = [] } = rows ?? params;
    entriesOf(transactions).forEach((entry) => this.#transactions.append(entry));
    entriesOf(goals).forEach((entry) => this.#goals.append(entry));
    // A new form shows what a transaction consists of.
    if (!rows && text === undefined && !this.#transactions.rows.length && !this.#goals.rows.length)
      this.#transactions.append();
  }

  #addOpening() {
    const at = this.#start.read() ?? new Date().toISOString();
    const names = { name: OPENING_BALANCE, category: OPENING_BALANCE };
    this.#transactions.append({ ...names, at, currency: "EUR", type: "INCOME" }, true);
  }

  #build() {
    const create = onSubmit(() => withBusyState(this.#button, () => this.#create()));
    const save = () => this.#saveDraft();
    return h(
      "form",
      { class: "card clock-form", noValidate: true, oninput: save, onclick: save, onsubmit: create },
      h(
        "datalist",
        { id: "currencies" },
        CURRENCIES.map((value) => h("option", { value })),
      ),
      h("div", { class: "cells clock-fields" }, this.#name, this.#start, this.#until),
      h("p", { class: "muted" }, HINT),
      this.#transactions.element,
      this.#goals.element,
      expectationRows(this.#draft.expectations ?? [], {
        getClock: () => this.#clock(),
        onChange: (expectations) => {
          this.#draft.expectations = expectations;
          this.#preview.draw(this.params(), expectations);
        },
      }),
      this.#preview.element,
      h("div", { class: "row submit-row" }, this.#button, this.#error),
    );
  }

  #rows() {
    const start = this.#start.read();
    const [transactions, goals] = [this.#transactions, this.#goals].map(({ rows }) => rows.map(readRow));
    return {
      ...(start && { frozenTime: start }),
      ...(transactions.length && { transactions }),
      ...(goals.length && { goals }),
    };
  }

  #repeat(entry) {
    return repeatEntry(entry, Date.parse(this.#until.read()) || defaultUntil(this.#start.read()));
  }

  /** Return the parameters of createTestClock. */
  params() {
    const { transactions, goals, ...rest } = this.#rows();
    const repeat = (entry) => this.#repeat(entry);
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
  }

  /** Return what an expectation can name: `{ currencies, goals }`. */
  #clock() {
    const { transactions = [], goals = [] } = this.#rows();
    const isUnique = ({ name }) => name && goals.filter((goal) => goal.name === name).length === 1;
    const currencies = transactions.map(({ currency }) => currency).filter((code) => /^[A-Z]{3}$/.test(code));
    return { currencies: [...new Set(currencies.length ? currencies : ["EUR"])], goals: goals.filter(isUnique) };
  }

  #saveDraft() {
    this.#draft.name = this.#name.read() ?? "";
    const params = this.params();
    if (sameParams(params, this.#savedParams)) return;
    this.#savedParams = params;
    this.#preview.draw(params, this.#draft.expectations);
    const rows = { ...this.#rows(), repeatUntil: this.#until.read() };
    Object.assign(this.#draft, { params, text: undefined, rows });
  }

  /** Yield every field with its path in the params. */
  *#fieldsByPath() {
    yield ["frozenTime", this.#start];
    yield ["repeatUntil", this.#until];
    yield* this.#rowFields("transactions", this.#transactions);
    yield* this.#rowFields("goals", this.#goals);
  }

  *#rowFields(key, list) {
    let index = 0;
    for (const row of list.rows) {
      // A fault of a repeated row is shown once, at its first entry.
      for (const field of row.fields) yield [`${key}[${index}].${field.key}`, field];
      if (row.contributions) yield* this.#rowFields(`${key}[${index}].contributions`, row.contributions);
      index += this.#repeat(readRow(row)).length;
    }
  }

  #showError(message, faults = []) {
    const byPath = new Map(faults.map(({ path, message }) => [path, message]));
    let first = null;
    for (const [path, field] of this.#fieldsByPath()) {
      field.setFault(byPath.get(path) ?? "");
      if (byPath.delete(path)) first ??= field;
    }
    render(
      this.#error,
      message && h("p", { class: "error" }, message, first && " Check the marked fields."),
      faultList([...byPath].map(([path, message]) => ({ path, message }))),
    );
    first?.focusControl();
  }

  async #create() {
    const faults = [...this.#fieldsByPath()]
      .map(([path, field]) => ({ path, message: textFault(path, field.read()) }))
      .filter(({ message }) => message);
    this.#showError(faults.length ? "Nothing was sent." : "", faults);
    if (faults.length) return;
    const unfinished = this.element.querySelector(".expectation-form select");
    if (unfinished) {
      this.#showError("Nothing was sent. Add the expectation, or cancel it.");
      unfinished.focus();
      return;
    }
    await tryToCreate(this.params(), this.#draft, (message, faults) => this.#showError(message, faults));
  }
}
