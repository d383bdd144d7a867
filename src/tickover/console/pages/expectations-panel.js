// The panel of expectations: what must hold, whether it does, and a form of opening balances.

import { curveOf, lowestPoint } from "../clock/clock-model.js";
import { errorDetails } from "../clock/create-clock.js";
import {
  balanceRules,
  describeExpectation,
  describeViolation,
  expectationState,
  progressText,
} from "../clock/expectations.js";
import { EXPECTATIONS_HINT, expectationForm, removeButton } from "../forms/expectation-form.js";
import { amountFormat, formatAmount, parseAmount } from "../lib/amounts.js";
import { h, newId, onSubmit, render, withAmounts } from "../lib/dom.js";
import { formatDay, formatInstant, formatMoney } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { parseInstant } from "../lib/instants.js";
import { CallError } from "../lib/rpc.js";

/** Return the mark of a state of expectations. */
export const stateBadge = (state) =>
  h("span", { class: `result ${state.replaceAll(" ", "-")}` }, icon(state.endsWith("violated") ? "close" : "check"));

export class ExpectationsPanel {
  #model = null;
  #results = null;
  #progress = []; // the expectations with such a text: { expectation, node }
  #onChange;
  #onShow;
  #list = h("ul", { class: "expectations", "aria-labelledby": "expectations-title" });
  #empty = h("p", { class: "muted" });
  #form = h("div", { hidden: true });
  /** The form of the opening balances, which the page shows with the transactions. */
  opening = h("details", { class: "opening" });
  #error = h("p", { class: "error", role: "alert" });
  #addButton = h(
    "button",
    {
      class: "quiet",
      "aria-expanded": "false",
      onclick: () => this.#toggleForm(this.#form.hidden),
    },
    icon("add"),
    "Add",
  );

  /** Call `onChange(changes)` of updateTestClock, which rejects with the server's error, and `onShow(instant)`. */
  constructor({ onChange, onShow }) {
    this.#onChange = onChange;
    this.#onShow = onShow;
    this.element = h(
      "section",
      { class: "card", "aria-labelledby": "expectations-title" },
      h("div", { class: "row card-header" }, h("h2", { id: "expectations-title" }, "Expectations"), this.#addButton),
      this.#empty,
      this.#list,
      this.#error,
      this.#form,
    );
  }

  /** Show the expectations of a clock. `results` is null until the server responds. */
  setModel(model, results) {
    if (this.#model === model && this.#results === results) return;
    [this.#model, this.#results] = [model, results];
    const { expectations } = model;
    this.#error.textContent = "";
    this.#empty.hidden = expectations.length > 0;
    this.#empty.textContent = EXPECTATIONS_HINT;
    this.#progress = [];
    render(
      this.#list,
      expectations.map((expectation, index) => this.#item(expectation, results?.[index], index)),
    );
    this.#drawOpening();
  }

  /** Show how much of each expectation would have happened at an instant. */
  draw(_model, _currentView, { instant }) {
    for (const { expectation, node } of this.#progress) {
      const [now, then] = [this.#model, { ...this.#model, now: instant }].map((model) =>
        progressText(expectation, model),
      );
      const text = instant > this.#model.now && then !== now ? ` → ${then.replace(/( posted)? so far/, "")}` : "";
      if (node.textContent !== now + text) render(node, now, h("span", { class: "preview-text" }, text));
    }
  }

  showError(message) {
    this.#error.textContent = message;
  }

  #item(expectation, result, index) {
    const text = describeExpectation(expectation, this.#model);
    const state = expectationState(expectation, result, this.#model);
    const progress = state === "will hold" && progressText(expectation, this.#model);
    const node = h("p", { class: "progress" }, progress);
    if (progress) this.#progress.push({ expectation, node });
    return h(
      "li",
      { class: "expectation" },
      stateBadge(state),
      h(
        "div",
        {},
        h("p", {}, withAmounts(text), h("span", { class: "visually-hidden" }, state && `: ${state}`)),
        progress && node,
        result && !result.ok && this.#violation(expectation, result.violation),
      ),
      removeButton(text, () => this.#remove(index)),
    );
  }

  /** Describe the lowest balance of a violated rule, if it is below that of the first violation. */
  #lowest({ balance: rule }, { actual }) {
    const curve = rule && curveOf(this.#model, rule);
    // A currency without transactions has no curve.
    if (!curve || !(actual < rule.atLeast)) return "";
    const [{ from, to }] = balanceRules({ ...this.#model, expectations: [{ balance: rule }] }, curve);
    const { at, value } = lowestPoint(curve, from, to);
    return value < actual ? ` Its lowest is ${formatMoney(value, curve.currency)}, on ${formatDay(at)}.` : "";
  }

  #violation(expectation, violation) {
    const { at, itemIds } = violation;
    const instant = parseInstant(at);
    const names = this.#model.items.filter((item) => itemIds.includes(item.id)).map((item) => `“${item.name}”`);
    const cause = names.length === 1 ? ` with ${names[0]}` : "";
    return h(
      "p",
      { class: "violation" },
      h(
        "button",
        {
          class: "link",
          onclick: () => this.#onShow(instant),
        },
        `Violation on ${formatInstant(instant)}`,
      ),
      withAmounts(
        `${cause}. ${describeViolation(expectation, violation, this.#model)}${this.#lowest(expectation, violation)}`,
      ),
    );
  }

  async #remove(index) {
    try {
      const rest = this.#model.expectations.toSpliced(index, 1);
      await this.#onChange({ expectations: rest.length ? rest : null });
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.showError(errorDetails(error));
    }
    (this.#list.querySelectorAll(".icon-button")[index] ?? this.#addButton).focus();
  }

  #toggleForm(isOpen) {
    this.#addButton.setAttribute("aria-expanded", String(isOpen));
    this.#form.hidden = !isOpen;
    if (!isOpen) {
      this.#addButton.focus();
      return;
    }
    const add = async (expectation) => {
      await this.#onChange({ expectations: [...this.#model.expectations, expectation] });
      this.#toggleForm(false);
    };
    const form = expectationForm(this.#model, { onAdd: add, onCancel: () => this.#toggleForm(false) });
    render(this.#form, form);
    form.querySelector("select").focus();
  }

  #drawOpening() {
    const { accounts, currencies, opening } = this.#model;
    const totals = Object.entries(opening).map(([currency, amount]) => formatMoney(amount, currency));
    this.opening.hidden = accounts.length > 0;
    const input = (value, properties) => h("input", { id: newId(), autocomplete: "off", value, ...properties });
    const labelled = (label, control) => h("div", {}, h("label", { for: control.id }, label), control);
    const code = input("EUR", { maxLength: 3, spellcheck: "false" });
    const fields = (currencies.length ? currencies : [null]).map((currency) => ({
      currency: () => currency ?? code.value.trim().toUpperCase(),
      label: currency ?? "Amount",
      control: input(formatAmount(opening[currency] ?? 0), { inputMode: "decimal" }),
    }));
    const error = h("p", { class: "error", role: "alert" });
    const save = async () => {
      const entries = fields.map(({ currency, control }) => [currency(), parseAmount(control.value || "0")]);
      const invalid = entries.find(([currency, amount]) => typeof amount !== "number" || !/^[A-Z]{3}$/.test(currency));
      error.textContent = invalid
        ? `The opening balance needs a currency of three characters, and a number, for example ${amountFormat.format(1234.5)}.`
        : "";
      if (invalid) return;
      const changed = Object.fromEntries(entries.filter(([, amount]) => amount !== 0));
      await this.#onChange({ openingBalances: Object.keys(changed).length ? changed : null });
    };
    render(
      this.opening,
      h("summary", {}, withAmounts(totals.length ? `Opening balance: ${totals.join(", ")}` : "Set an opening balance")),
      h(
        "form",
        { class: "fields", onsubmit: onSubmit(save), noValidate: true },
        !currencies.length && labelled("Currency", code),
        fields.map(({ label, control }) => labelled(label, control)),
        h("button", {}, "Save"),
      ),
      error,
    );
  }
}
