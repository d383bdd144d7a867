// The dialogs of a clock: add or show an item, fork, export, and confirm a cancellation or a deletion, also of an access token.

import { viewAt } from "../clock/clock-model.js";
import { forkName, MAX_NAME_LENGTH, plural, signedAmount } from "../clock/clock-text.js";
import { faultsIn, newIdempotencyKey } from "../clock/create-clock.js";
import { parseAmount } from "../lib/amounts.js";
import { difference, exactSum } from "../lib/decimals.js";
import { copyText, h, onSubmit, withAmounts, withBusyState } from "../lib/dom.js";
import { amountInput, field, parseTimeText, readTime, TIME_FAULT, textInput, timeInput } from "../lib/form-fields.js";
import { formatDay, formatInstant, formatMoney, formatTime } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { toTimestamp } from "../lib/instants.js";
import { CallError, ServerUnavailable } from "../lib/rpc.js";

/** Show a dialog and return the value of the pressed button, or null if it was cancelled. */
function openDialog(label, content, { onsubmit } = {}) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog",
      {
        class: "card",
        "aria-label": label,
        onclose: () => {
          dialog.remove();
          resolve(dialog.returnValue || null);
        },
      },
      h("form", { method: "dialog", onsubmit }, content),
    );
    document.body.append(dialog);
    dialog.returnValue = "";
    dialog.showModal();
  });
}

export const buttonRow = (...buttons) => h("div", { class: "row dialog-actions" }, buttons);
const dismissButton = (text = "Cancel") => h("button", { value: "", autofocus: true }, text);
/** A cancel button that doesn't submit, so that Enter runs the action. */
const closeButton = () => h("button", { onclick: (event) => event.target.closest("dialog").close("") }, "Cancel");

/** Create a choice between `[value, text]`. `onChoose(value)` is called for each change. */
const radioButtons = (legend, options, selected, onChoose) =>
  h(
    "fieldset",
    {},
    h("legend", {}, legend),
    options.map(([value, text]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: "choice",
          value,
          checked: value === selected,
          onchange: () => onChoose(value),
        }),
        h("span", {}, text),
      ),
    ),
  );

/** Ask before an action that can't be undone. `action` is the text of the button. Return whether to do it. */
export async function confirmAction(question, consequence, action) {
  const choice = await openDialog(action, [
    h("h2", {}, question),
    h("p", {}, consequence),
    buttonRow(dismissButton(), h("button", { value: "confirm", class: "danger" }, action)),
  ]);
  return choice === "confirm";
}

export const confirmDeletion = (name) =>
  confirmAction(
    `Delete “${name}”?`,
    "This deletes the clock permanently, for everyone who uses it. Its forks remain.",
    "Delete clock",
  );

// amendTestClock accepts no more.
const MAX_CANCELLED = 100;

/** Ask whether to cancel a pending item. Return the ids to cancel, or null. */
export async function confirmCancellation(model, item) {
  const hasSameName = ({ at, kind, name, goalId }) =>
    at > model.now && kind === item.kind && name === item.name && goalId === item.goalId;
  const sameName = model.items.filter(hasSameName).map(({ id }) => id);
  let selected = "one";
  const choice = await openDialog("Cancel event", [
    h("h2", {}, `Cancel “${item.name}”?`),
    h("p", {}, withAmounts(`${signedAmount(item)} on ${formatInstant(item.at)}. Posted events don't change.`)),
    sameName.length > 1 &&
      sameName.length <= MAX_CANCELLED &&
      radioButtons(
        "What to cancel",
        [
          ["one", "Only this event"],
          ["all", `All ${plural(sameName.length, "scheduled event")} with this name`],
        ],
        selected,
        (value) => (selected = value),
      ),
    buttonRow(dismissButton("Keep"), h("button", { value: "cancel", class: "danger" }, "Cancel event")),
  ]);
  if (choice !== "cancel") return null;
  return selected === "all" ? sameName : [item.id];
}

/** Show a transaction: its state, the balance before and after it, and its id. */
export async function showItem(item, state) {
  const { id, at, name, amount, currency, kind, category, balance } = item;
  const before = kind === "income" ? difference(balance, amount) : exactSum([balance, amount]);
  const properties = { value: "copy", class: "quiet icon-button", "aria-label": "Copy ID", title: "Copy ID" };
  const copy = h("button", properties, icon("copy"));
  const facts = {
    Amount: h("strong", {}, signedAmount(item)),
    [`${currency} balance`]: `${formatMoney(before, currency)} → ${formatMoney(balance, currency)}`,
    Time: `${formatDay(at)}, ${formatTime(at)} UTC`,
    State: state,
    Category: category,
    ID: [h("code", {}, id), copy],
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  const choice = await openDialog("Event", [
    h("h2", {}, name),
    h(
      "dl",
      { class: "facts" },
      rows.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]),
    ),
    buttonRow(dismissButton("Close")),
  ]);
  if (choice === "copy") copyText(id, "the ID of the event");
}

export const PARAMS = "params";
const EXPORT_FORMATS = {
  csv: "CSV",
  json: "JSON",
  hledger: "hledger",
  beancount: "Beancount",
  ofx: "OFX",
  camt053: "camt.053 (ISO 20022)",
  [PARAMS]: "Parameters of createTestClock",
};

/** Ask for the format of an export. Return `{ format, pending }`, or null for no export. */
export async function askExport({ items }) {
  const count = items.filter(({ isPosted, currency }) => currency && !isPosted).length;
  const pending = h("input", { type: "checkbox", disabled: !count });
  const options = Object.entries(EXPORT_FORMATS).map(([value, text]) => h("option", { value }, text));
  // The parameters have all items.
  const format = h("select", { onchange: () => (pending.disabled = !count || format.value === PARAMS) }, options);
  const choice = await openDialog("Export clock", [
    h("h2", {}, "Export this clock"),
    h("p", {}, "A statement for each currency, with its opening and closing balance."),
    h("label", {}, "Format", format),
    h("label", {}, pending, `Include ${plural(count, "scheduled transaction")}`),
    buttonRow(closeButton(), h("button", { value: "export", class: "primary" }, "Export")),
  ]);
  return choice && { format: format.value, pending: pending.checked };
}

const MAX_BALANCES = 3; // of a time in the dialog of a fork

const balancesText = (model, at) => {
  const balances = [...viewAt(model, at).balances].slice(0, MAX_BALANCES);
  const texts = balances.map(([currency, balance]) => formatMoney(balance, currency));
  return texts.length > 0 && h("small", { class: "muted" }, texts.join(", "));
};

/** Ask for the name and the time of a fork. Return `{ name, at }`, or null for no fork. */
export async function askFork(model, instant) {
  const options = [
    ["start", "At its start", model.start],
    ["now", "Now", model.now],
  ];
  if (instant !== model.now) options.push(["preview", "At the preview", instant]);
  const isFirst = ([, , at], index) => options.findIndex(([, , other]) => other === at) === index;
  let selected = options.filter(isFirst).at(-1)[0];
  const name = textInput(forkName(model), { maxlength: String(MAX_NAME_LENGTH) });
  const choice = await openDialog("Fork clock", [
    h("h2", {}, "Fork this clock"),
    h("p", {}, "A fork has the same events, goals and expectations, and its own time. This clock doesn't change."),
    field("name", "Name", name),
    radioButtons(
      "Time of the fork",
      options
        .filter(isFirst)
        .map(([value, text, at]) => [
          value,
          [`${text}, ${formatDay(at)}, ${formatTime(at)} UTC`, balancesText(model, at)],
        ]),
      selected,
      (value) => (selected = value),
    ),
    buttonRow(closeButton(), h("button", { value: "fork", class: "primary" }, "Fork")),
  ]);
  if (choice !== "fork") return null;
  const at = options.find(([value]) => value === selected)[2];
  return { name: name.value.trim(), at };
}

const GOAL = "goal:";

/** Show the faults of fields below a path, and focus the first of them. Return the other faults. */
function showFaults(fields, faults, path) {
  const faultOf = ({ key }) => faults.find((fault) => fault.path === path + key);
  for (const element of fields) element.setFault(faultOf(element)?.message ?? "");
  fields.find(faultOf)?.focusControl();
  return faults.filter((fault) => !fields.some((element) => faultOf(element) === fault));
}

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
    field("at", "Time (UTC)", time, (text) => (text === shownTime ? toTimestamp(instant) : readTime(text))),
  ];
  const error = h("p", { class: "error", role: "alert" });
  const button = h("button", { class: "primary" }, "Add event");
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
    if (!(caught instanceof CallError)) throw caught;
    const faults = faultsIn(caught);
    const others = showFaults(fields, faults, path);
    const messages = faults.length ? others.map((fault) => `${fault.path}: ${fault.message}`) : [caught.message];
    if (caught instanceof ServerUnavailable) messages.push("A retry doesn't add a second event.");
    error.textContent = messages.join(" ");
  }

  async function add(dialog) {
    const { add, path } = readItem();
    if (Number.isNaN(parseTimeText(time.value)))
      return showFaults(fields, [{ path: `${path}at`, message: TIME_FAULT }], path);
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
    [h("h2", {}, "Add an event"), h("div", { class: "item-fields" }, fields), error, buttonRow(closeButton(), button)],
    { onsubmit: onSubmit(() => withBusyState(button, () => add(button.closest("dialog")))) },
  );
}
