// The form of the opening balances of a clock without accounts.

import { showErrors } from "../clock/create-clock.js";
import { parseAmount } from "../lib/amounts.js";
import { h, render } from "../lib/dom.js";
import { amountInput, field, onSubmit, textInput } from "../lib/form-fields.js";
import { formatMoney } from "../lib/format.js";
import { withAmounts } from "../lib/nowrap.js";

/** Create the form. `onSave(openingBalances)` rejects with the server's error. `draw(model)` shows those of a clock. */
export function openingForm(onSave) {
  const element = h("details.opening");
  const error = h("p.error", { role: "alert" });

  function draw({ accounts, currencies, opening }) {
    const totals = Object.entries(opening).map(([currency, amount]) => formatMoney(amount, currency));
    const code = field("", "Currency", textInput("EUR", { maxLength: 3, spellcheck: "false" }), (text) =>
      text.toUpperCase(),
    );
    const shown = currencies.length ? currencies : [null];
    const amounts = shown.map((currency) =>
      field("", currency ?? "Amount", amountInput(opening[currency] ?? 0), parseAmount),
    );
    const save = async () => {
      const entries = amounts.map(({ read }, index) => [currencies[index] ?? code.read() ?? "", read() ?? 0]);
      await showErrors(error, () => onSave(Object.fromEntries(entries.filter(([, amount]) => amount !== 0))));
    };
    element.hidden = accounts.length > 0;
    render(
      element,
      h("summary", withAmounts(totals.length ? `Opening balance: ${totals.join(", ")}` : "Set an opening balance")),
      h(
        "form.fields",
        { onsubmit: onSubmit(save), noValidate: true },
        !currencies.length && code,
        amounts,
        h("button", "Save"),
      ),
      error,
    );
  }

  return { element, draw };
}
