// The dialog that adds an item to a clock.

import { parseAmount } from "./amount-input.js";
import { buttonRow, closeButton, openDialog } from "./clock-dialogs.js";
import { amountInput, field, textInput, timeInput, toTimestampText } from "./clock-form-fields.js";
import { faultsIn, newIdempotencyKey } from "./create-clock.js";
import { h, onSubmit, withBusyState } from "./dom.js";
import { toTimestamp } from "./instants.js";
import { RpcError, ServerUnavailable } from "./rpc.js";

const GOAL = "goal:";

/**
 * Ask for an item at an instant. `onAdd(add, headers)` sends the parameter `add` of amendTestClock and rejects with the
 * server's error. A retry sends the same idempotency key, so the server adds one item.
 */
export function askItem(model, instant, onAdd) {
  let attempt = { text: "", key: "" };
  const type = h(
    "select",
    { onchange: () => showFields() },
    [
      ["EXPENSE", "Expense"],
      ["INCOME", "Income"],
      ...model.goals.map(({ id, name }) => [`${GOAL}${id}`, `Contribution to “${name}”`]),
    ].map(([value, text]) => h("option", { value }, text)),
  );
  const time = timeInput(toTimestamp(instant));
  const shownTime = time.value;
  const fields = [
    field("type", "Type", type),
    field("category", "Category", textInput("", { placeholder: "optional" })),
    field("name", "Name", textInput("", { autofocus: true })),
    field("amount", "Amount", amountInput(), parseAmount),
    field("currency", "Currency", textInput(model.currencies[0] ?? "EUR", { maxlength: "3", spellcheck: "false" })),
    field("at", "Time (UTC)", time, (text) => (text === shownTime ? toTimestamp(instant) : toTimestampText(text))),
  ];
  const error = h("p", { class: "error", role: "alert" });
  const button = h("button", { class: "primary" }, "Add item");
  const goalId = () => type.value.startsWith(GOAL) && type.value.slice(GOAL.length);

  function showFields() {
    for (const element of fields) element.hidden = goalId() && ["name", "currency", "category"].includes(element.key);
  }

  /** Return the parameter `add` and the path of the item in it. */
  function readItem() {
    const item = Object.fromEntries(fields.filter(({ hidden }) => !hidden).map(({ key, read }) => [key, read()]));
    if (!goalId()) return { add: { transactions: [item] }, path: "add.transactions[0]." };
    return {
      add: { contributions: [{ goalId: goalId(), at: item.at, amount: item.amount }] },
      path: "add.contributions[0].",
    };
  }

  function showError(caught, path) {
    if (!(caught instanceof RpcError || caught instanceof ServerUnavailable)) throw caught;
    const faults = faultsIn(caught);
    for (const element of fields)
      element.setFault(faults.find((fault) => fault.path === path + element.key)?.message ?? "");
    const others = faults.filter((fault) => !fields.some(({ key }) => fault.path === path + key));
    const messages = faults.length ? others.map((fault) => `${fault.path}: ${fault.message}`) : [caught.message];
    if (caught instanceof ServerUnavailable) messages.push("A retry doesn't add a second item.");
    error.textContent = messages.join(" ");
    fields.find((element) => element.querySelector("[aria-invalid]"))?.focusControl();
  }

  async function add(dialog) {
    const { add, path } = readItem();
    const text = JSON.stringify(add);
    if (attempt.text !== text) attempt = { text, key: newIdempotencyKey() };
    try {
      await onAdd(add, { "Idempotency-Key": attempt.key });
      dialog.close("added");
    } catch (caught) {
      showError(caught, path);
    }
  }

  return openDialog(
    "Add item",
    [h("h2", {}, "Add an item"), h("div", { class: "item-fields" }, fields), error, buttonRow(closeButton(), button)],
    { onsubmit: onSubmit(() => withBusyState(button, () => add(button.closest("dialog")))) },
  );
}
