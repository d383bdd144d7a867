// The panel of expectations: what must hold, and whether it does.

import { showErrors } from "../clock/create-clock.js";
import { describeExpectation, describeViolation, expectationState, progressText } from "../clock/expectations.js";
import { EXPECTATIONS_HINT, expectationForm, removeButton } from "../forms/expectation-form.js";
import { card, disclosure } from "../lib/card.js";
import { h, render } from "../lib/dom.js";
import { formatInstant } from "../lib/format.js";
import { stateBadge } from "../lib/icons.js";
import { parseInstant } from "../lib/instants.js";
import { withAmounts } from "../lib/nowrap.js";

export class ExpectationsPanel {
  #model = null;
  #results = null;
  #progress = []; // the expectations with such a text: { expectation, node }
  #onChange;
  #onShow;
  #list = h("ul.expectations", { "aria-label": "Expectations" });
  #empty = h("p.muted", EXPECTATIONS_HINT);
  #error = h("p.error", { role: "alert" });
  #form = disclosure("Add", (close) => {
    const onAdd = async (expectation) => {
      await this.#onChange([...this.#model.expectations, expectation]);
      close();
    };
    return expectationForm(this.#model, { onAdd, onCancel: close });
  });
  element = card(
    { title: "Expectations", aside: this.#form.button },
    this.#empty,
    this.#list,
    this.#error,
    this.#form.box,
  );

  /** Call `onChange(expectations)`, which rejects with the server's error, and `onShow(instant)`. */
  constructor({ onChange, onShow }) {
    this.#onChange = onChange;
    this.#onShow = onShow;
  }

  /** Show the expectations of a clock. `results` is null until the server responds. */
  setModel(model, results) {
    if (this.#model === model && this.#results === results) return;
    [this.#model, this.#results] = [model, results];
    const { expectations } = model;
    this.#error.textContent = "";
    this.#empty.hidden = expectations.length > 0;
    this.#progress = [];
    render(
      this.#list,
      expectations.map((expectation, index) => this.#item(expectation, results?.[index], index)),
    );
  }

  /** Show how much of each expectation would have happened at an instant. */
  draw(_model, _currentView, { instant }) {
    for (const { expectation, node } of this.#progress) {
      const [now, then] = [this.#model, { ...this.#model, now: instant }].map((model) =>
        progressText(expectation, model),
      );
      const text = instant > this.#model.now && then !== now ? ` → ${then.replace(/( posted)? so far/, "")}` : "";
      if (node.textContent !== now + text) render(node, now, h("span.preview-text", text));
    }
  }

  showError(message) {
    this.#error.textContent = message;
  }

  #item(expectation, result, index) {
    const text = describeExpectation(expectation, this.#model);
    const state = expectationState(expectation, result, this.#model);
    const progress = state === "will hold" && progressText(expectation, this.#model);
    const node = h("p.progress", progress);
    if (progress) this.#progress.push({ expectation, node });
    return h(
      "li.expectation",
      stateBadge(state),
      h(
        "div",
        h("p", withAmounts(text), h("span.visually-hidden", state && `: ${state}`)),
        progress && node,
        result && !result.ok && this.#violation(expectation, result.violation),
      ),
      removeButton(text, () => this.#remove(index)),
    );
  }

  #violation(expectation, violation) {
    const instant = parseInstant(violation.at);
    return h(
      "p.violation",
      h("button.link", { onclick: () => this.#onShow(instant) }, `Violation on ${formatInstant(instant)}`),
      withAmounts(`. ${describeViolation(expectation, violation)}`),
    );
  }

  async #remove(index) {
    await showErrors(this.#error, () => this.#onChange(this.#model.expectations.toSpliced(index, 1)));
    (this.#list.querySelectorAll(".icon-button")[index] ?? this.#form.button).focus();
  }
}
