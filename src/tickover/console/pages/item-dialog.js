// The dialog that adds a transaction, a transfer or a contribution to a clock.

import { faultsIn, newIdempotencyKey } from "../clock/create-clock.js";
import { TRANSACTION_TYPES } from "../forms/clock-form-rows.js";
import { parseAmount } from "../lib/amounts.js";
import { withBusyState } from "../lib/busy-button.js";
import { buttonRow, closeButton, openDialog } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import {
  amountInput,
  field,
  markInvalidTime,
  onSubmit,
  readTime,
  select,
  textInput,
  timeInput,
} from "../lib/form-fields.js";
import { toTimestamp } from "../lib/instants.js";
import { CallError, ServerUnavailable } from "../lib/rpc.js";

const [GOAL, TRANSFER] = ["goal:", "TRANSFER"];

/** Show the faults of fields below a path, and focus the first of them. Return the other faults. */
function showFaults(fields, faults, path) {
  const faultOf = ({ key }) => faults.find((fault) => fault.path === path + key);
  for (const element of fields) element.setFault(faultOf(element)?.message ?? "");
  fields.find(faultOf)?.focusControl();
  return faults.filter((fault) => !fields.some((element) => faultOf(element) === fault));
}

/** Create the fields of an item, of which each type shows some. `readItem()` returns `{ add, path }` of amendTestClock. */
function itemFields(model, instant) {
  const types = [
    ...TRANSACTION_TYPES,
    ...(model.accounts.length > 1 ? [[TRANSFER, "Transfer"]] : []),
    ...model.goals.map(({ id, name }) => [`${GOAL}${id}`, `Contribution to “${name}”`]),
  ];
  const accounts = model.accounts.map(({ key, name, currency }) => [key, `${name}, ${currency}`]);
  const [type, account, from, to] = [types, accounts, accounts, accounts.toReversed()].map((options) =>
    select(options, { onchange: () => show() }),
  );
  const time = timeInput(toTimestamp(instant));
  const shownTime = time.value;
  const currency = textInput(model.currencies[0] ?? "EUR", { maxlength: "3", spellcheck: "false" });
  const fields = [
    field("type", "Type", type),
    field("category", "Category", textInput("", { placeholder: "optional" })),
    field("name", "Name", textInput("", { autofocus: true })),
    field("from", "From", from),
    field("to", "To", to),
    field("amount", "Amount", amountInput(), parseAmount),
    accounts.length ? field("account", "Account", account) : field("currency", "Currency", currency),
    field("received", "Received", amountInput(), parseAmount),
    field("at", "Time (UTC)", time, (text) => (text === shownTime ? toTimestamp(instant) : readTime(text))),
  ];
  const currencyOf = (key) => model.accounts.find((each) => each.key === key)?.currency;

  function show() {
    const isTransfer = type.value === TRANSFER;
    const isContribution = type.value.startsWith(GOAL);
    const shown = ["type", "amount", "at"];
    if (isTransfer) shown.push("name", "from", "to");
    else if (!isContribution) shown.push("name", "category", "currency", "account");
    // The accounts of a transfer can have different currencies.
    if (isTransfer && currencyOf(from.value) !== currencyOf(to.value)) shown.push("received");
    for (const element of fields) element.hidden = !shown.includes(element.key);
  }

  function readItem() {
    const { type, ...item } = Object.fromEntries(
      fields.filter(({ hidden }) => !hidden).map(({ key, read }) => [key, read()]),
    );
    if (type === TRANSFER) return { add: { transfers: [item] }, path: "add.transfers[0]." };
    if (type.startsWith(GOAL)) {
      const contribution = { goalId: type.slice(GOAL.length), ...item };
      return { add: { contributions: [contribution] }, path: "add.contributions[0]." };
    }
    if (item.account) item.currency = currencyOf(item.account);
    return { add: { transactions: [{ ...item, type }] }, path: "add.transactions[0]." };
  }

  show();
  return { fields, readItem };
}

/**
 * Ask for an item at an instant. `onAdd(add, headers)` sends the parameter `add` of amendTestClock and rejects with the
 * server's error. A retry sends the same idempotency key, so the server adds one item.
 */
export function askItem(model, instant, onAdd) {
  let attempt = { text: "", key: "" };
  const { fields, readItem } = itemFields(model, instant);
  const error = h("p.error", { role: "alert" });
  const button = h("button.primary", "Add event");

  function showError(caught, path) {
    if (!(caught instanceof CallError)) throw caught;
    const faults = faultsIn(caught);
    const others = showFaults(fields, faults, path);
    const messages = faults.length ? others.map((fault) => `${fault.path}: ${fault.message}`) : [caught.message];
    if (caught instanceof ServerUnavailable) messages.push("A retry doesn't add a second event.");
    error.textContent = messages.join(" ");
  }

  async function add(dialog) {
    const { add, path } = readItem();
    if (markInvalidTime(fields.at(-1))) return;
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
    "Add event",
    [h("h2", "Add an event"), h("div.item-fields", fields), error, buttonRow(closeButton(), button)],
    { onsubmit: onSubmit(() => withBusyState(button, () => add(button.closest("dialog")))) },
  );
}
