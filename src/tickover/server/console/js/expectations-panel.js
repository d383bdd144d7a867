// The panel of expectations: what must hold, whether it does, and the opening balances.

import { amountFormat, formatAmount, parseAmount } from "./amount-input.js";
import { h, newId, onSubmit, render } from "./dom.js";
import { expectationForm } from "./expectation-form.js";
import { describeExpectation, describeViolation } from "./expectations.js";
import { formatInstant, formatMoney } from "./format.js";
import { icon } from "./icons.js";
import { parseInstant } from "./instants.js";

export class ExpectationsPanel {
  #model = null;
  #checks = { opening: {}, expectations: [] };
  #results = null;
  #onChange;
  #onShow;
  #list = h("ul", { class: "expectations", "aria-labelledby": "expectations-title" });
  #empty = h("p", { class: "muted" });
  #form = h("div", { hidden: true });
  #opening = h("details", { class: "opening" });
  #error = h("p", { class: "error", role: "alert" });
  #addButton = h(
    "button",
    { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => this.#toggleForm(this.#form.hidden) },
    icon("add"),
    "Add",
  );

  /** Call `onChange(checks)`, which rejects if the server rejects them, and `onShow(instant)`. */
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
      this.#opening,
    );
  }

  /** Show the checks of a clock. `results` is null until the server responds. */
  draw(model, checks, results) {
    const isSameList = this.#model?.id === model.id && this.#checks === checks && this.#results === results;
    [this.#model, this.#checks, this.#results] = [model, checks, results];
    if (isSameList) return;
    const { expectations } = checks;
    this.#error.textContent = "";
    this.#empty.hidden = expectations.length > 0;
    this.#empty.textContent = "Say what must hold, for example that a balance is never below zero.";
    render(
      this.#list,
      expectations.map((expectation, index) => this.#item(expectation, results?.[index], index)),
    );
    this.#drawOpening();
  }

  showError(message) {
    this.#error.textContent = message;
  }

  #item(expectation, result, index) {
    const text = describeExpectation(expectation);
    const state = result ? (result.ok ? "ok" : "broken") : "waiting";
    return h(
      "li",
      { class: "expectation" },
      h("span", { class: `result ${state}` }, icon(state === "broken" ? "close" : "check")),
      h(
        "div",
        {},
        h(
          "p",
          {},
          text,
          h("span", { class: "visually-hidden" }, { ok: ": holds", broken: ": broken", waiting: "" }[state]),
        ),
        result && !result.ok && this.#violation(expectation, result.violation),
      ),
      h(
        "button",
        {
          type: "button",
          class: "plain icon-button",
          "aria-label": `Remove ${text}`,
          title: "Remove",
          onclick: () => this.#remove(index),
        },
        icon("close"),
      ),
    );
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
        { type: "button", class: "link", onclick: () => this.#onShow(instant) },
        `Breaks on ${formatInstant(instant)}`,
      ),
      `${cause}. ${describeViolation(expectation, violation)}`,
    );
  }

  async #change(checks) {
    await this.#onChange({ ...this.#checks, ...checks });
  }

  async #remove(index) {
    await this.#change({ expectations: this.#checks.expectations.toSpliced(index, 1) });
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
      await this.#change({ expectations: [...this.#checks.expectations, expectation] });
      this.#toggleForm(false);
    };
    const form = expectationForm(this.#model, { onAdd: add, onCancel: () => this.#toggleForm(false) });
    render(this.#form, form);
    form.querySelector("select").focus();
  }

  #drawOpening() {
    const { currencies, opening } = this.#model;
    this.#opening.hidden = currencies.length === 0;
    const fields = currencies.map((currency) => {
      const id = newId();
      const input = h("input", {
        id,
        inputMode: "decimal",
        autocomplete: "off",
        value: formatAmount(opening[currency] ?? 0),
      });
      return { currency, input, element: h("div", {}, h("label", { for: id }, currency), input) };
    });
    const save = async () => {
      const entries = fields.map(({ currency, input }) => [currency, parseAmount(input.value || "0")]);
      const invalid = entries.find(([, amount]) => typeof amount !== "number");
      if (invalid) {
        this.showError(
          `The opening balance in ${invalid[0]} must be a number, for example ${amountFormat.format(1234.5)}.`,
        );
        return;
      }
      await this.#change({ opening: Object.fromEntries(entries.filter(([, amount]) => amount !== 0)) });
    };
    const total = currencies.map((currency) => formatMoney(opening[currency] ?? 0, currency)).join(", ");
    render(
      this.#opening,
      h("summary", {}, `Opening balance: ${total}`),
      h(
        "form",
        { class: "fields", onsubmit: onSubmit(save), noValidate: true },
        fields.map(({ element }) => element),
        h("button", {}, "Save"),
      ),
      h("p", { class: "hint" }, "This browser stores opening balances and expectations. The server doesn't."),
    );
  }
}
