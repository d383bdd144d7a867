// The form for a new clock. The server validates it; errors appear next to their fields.

import { MAX_NAME_LENGTH } from "../clock/clock-text.js";
import { faultList, sameParams, tryToCreate } from "../clock/create-clock.js";
import { isExpectation } from "../clock/expectations.js";
import { amountFormat } from "../lib/amounts.js";
import { withBusyState } from "../lib/busy-button.js";
import { h, render } from "../lib/dom.js";
import {
  field,
  onSubmit,
  parseTimeText,
  readTime,
  TIME_FAULT,
  textInput,
  timeInput,
  toTimeText,
} from "../lib/form-fields.js";
import {
  accountRow,
  defaultUntil,
  entriesOf,
  goalRow,
  readRow,
  repeatEntry,
  rowList,
  transactionRow,
  transferRow,
} from "./clock-form-rows.js";
import { draftPreview } from "./draft-preview.js";
import { expectationRows } from "./expectation-form.js";

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];
const TRANSACTIONS = {
  title: "Transactions",
  noun: "transaction",
  hint: "Income and expenses, such as salary and rent.",
};
const ACCOUNTS = {
  title: "Accounts",
  noun: "account",
  hint: "Optional. Each has its own balance. Transactions and transfers name it by its key.",
};
const TRANSFERS = { title: "Transfers", noun: "transfer", hint: "Money that moves from one account to another." };
const GOALS = { title: "Goals", noun: "goal", hint: "Savings goals and their contributions." };
const HINT =
  "Without a start, the clock starts now. A row that repeats ends at “Repeat until”, or after six months. Events can be up to ten years after the start.";

/** Return why the text of a field can't be sent, or null. Numbers are already parsed. */
function textFault(path, value) {
  if (typeof value !== "string") return null;
  if (/(amount|received|openingBalance)$/i.test(path))
    return `must be a number, for example ${amountFormat.format(1234.5)}`;
  return /(\.at|Time|Until)$/.test(path) && Number.isNaN(parseTimeText(value)) ? TIME_FAULT : null;
}

export class ClockForm {
  #draft;
  #savedParams;
  #name;
  #start;
  #until;
  #lists; // of rows, by the names of the params
  #expectations;
  #currencies = h("datalist", { id: "currencies" });
  #accounts = h("datalist", { id: "accounts" });
  #error = h("div", { role: "alert" });
  #button = h("button.primary", "Create clock");
  #preview = draftPreview("The balance appears here when you enter an amount.");

  /** `draft` is `{ name, params, text, rows }`; the form updates it. `rows` has entries with `repeats`. */
  constructor(draft) {
    this.#draft = draft;
    this.#createFields();
    this.#addDraftRows();
    this.#savedParams = this.params();
    this.#preview.draw(this.#savedParams);
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
    this.#lists = {
      accounts: rowList("accounts", ACCOUNTS, accountRow, this.#start.read),
      transactions: rowList("transactions", TRANSACTIONS, transactionRow, this.#start.read),
      transfers: rowList("transfers", TRANSFERS, transferRow, this.#start.read),
      goals: rowList("goals", GOALS, goalRow, this.#start.read),
    };
  }

  #addDraftRows() {
    const { rows, params, text } = this.#draft;
    const entries = rows ?? params;
    const lists = Object.entries(this.#lists);
    for (const [key, list] of lists) entriesOf(entries[key]).forEach((entry) => list.append(entry));
    this.#expectations = entriesOf(entries.expectations).filter(isExpectation);
    // A new form shows what a transaction consists of.
    if (!rows && text === undefined && lists.every(([, { rows }]) => !rows.length)) this.#lists.transactions.append();
    this.#drawOptions();
  }

  #build() {
    const create = onSubmit(() => withBusyState(this.#button, () => this.#create()));
    const save = () => this.#saveDraft();
    return h(
      "form.card.clock-form",
      { noValidate: true, oninput: save, onclick: save, onsubmit: create },
      this.#currencies,
      this.#accounts,
      h("div.cells.clock-fields", this.#name, this.#start, this.#until),
      h("p.muted", HINT),
      Object.values(this.#lists).map(({ element }) => element),
      expectationRows(this.#expectations, {
        getClock: () => this.#clock(),
        onChange: (expectations) => {
          this.#expectations = expectations;
          this.#saveDraft();
        },
      }),
      this.#preview.element,
      h("div.row.submit-row", this.#button, this.#error),
    );
  }

  #rows() {
    const start = this.#start.read();
    const lists = Object.entries(this.#lists).map(([key, { rows }]) => [key, rows.map(readRow)]);
    const entries = [...lists, ["expectations", this.#expectations]].filter(([, list]) => list.length);
    return { ...(start && { frozenTime: start }), ...Object.fromEntries(entries) };
  }

  #repeat(entry) {
    return repeatEntry(entry, Date.parse(this.#until.read()) || defaultUntil(this.#start.read()));
  }

  /** Return the parameters of createTestClock. */
  params() {
    const { transactions, transfers, goals, ...rest } = this.#rows();
    const repeat = (entry) => this.#repeat(entry);
    return {
      ...rest,
      ...(transactions && { transactions: transactions.flatMap(repeat) }),
      ...(transfers && { transfers: transfers.flatMap(repeat) }),
      ...(goals && {
        goals: goals.map(({ contributions, ...goal }) => ({
          ...goal,
          ...(contributions && { contributions: contributions.flatMap(repeat) }),
        })),
      }),
    };
  }

  /** Return what an expectation can name: `{ currencies, accounts, goals }`. */
  #clock() {
    const { accounts = [], transactions = [], goals = [] } = this.#rows();
    const isUnique = ({ name }) => name && goals.filter((goal) => goal.name === name).length === 1;
    const used = [...accounts, ...transactions].map(({ currency }) => currency);
    const currencies = used.filter((code) => /^[A-Z]{3}$/.test(code));
    return {
      currencies: [...new Set(currencies.length ? currencies : ["EUR"])],
      accounts: accounts.filter(({ key }) => key).map(({ name, ...rest }) => ({ ...rest, name: name ?? rest.key })),
      goals: goals.filter(isUnique),
    };
  }

  /** Offer the currencies and the keys of the accounts. Transfers need two accounts. */
  #drawOptions() {
    const { accounts } = this.#clock();
    render(
      this.#currencies,
      CURRENCIES.map((value) => h("option", { value })),
    );
    render(
      this.#accounts,
      accounts.map(({ key, name }) => h("option", { value: key }, name)),
    );
    const { transactions, transfers } = this.#lists;
    transfers.element.hidden = accounts.length < 2 && !transfers.rows.length;
    transactions.element.classList.toggle("without-accounts", !accounts.length);
  }

  #saveDraft() {
    this.#draft.name = this.#name.read() ?? "";
    const params = this.params();
    if (sameParams(params, this.#savedParams)) return;
    this.#savedParams = params;
    this.#drawOptions();
    this.#preview.draw(params);
    const rows = { ...this.#rows(), repeatUntil: this.#until.read() };
    Object.assign(this.#draft, { params, text: undefined, rows });
  }

  /** Yield every field with its path in the params. */
  *#fieldsByPath() {
    yield ["frozenTime", this.#start];
    yield ["repeatUntil", this.#until];
    for (const [key, list] of Object.entries(this.#lists)) yield* this.#rowFields(key, list);
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
      message && h("p.error", message, first && " Check the marked fields."),
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
