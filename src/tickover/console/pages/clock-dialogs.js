// The dialogs of a clock: show an item, fork, export, and confirm a cancellation.

import { curveOf, isPayment, viewAt } from "../clock/clock-model.js";
import { curveName, forkName, MAX_NAME_LENGTH, plural, signedAmount } from "../clock/clock-text.js";
import { copyText } from "../lib/clipboard.js";
import { difference } from "../lib/decimals.js";
import { buttonRow, closeButton, dismissButton, openDialog } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { field, radioButtons, select, textInput } from "../lib/form-fields.js";
import { formatDay, formatInstant, formatMoney, formatTime } from "../lib/format.js";
import { iconButton } from "../lib/icons.js";
import { withAmounts } from "../lib/nowrap.js";

// amendTestClock accepts no more.
const MAX_CANCELLED = 100;

/** Ask whether to cancel a pending item. Return the ids to cancel, or null. */
export async function confirmCancellation(model, item) {
  const hasSameName = ({ at, kind, name, goalId }) =>
    at > model.now && kind === item.kind && name === item.name && goalId === item.goalId;
  const sameName = model.items.filter(hasSameName).map(({ id }) => id);
  let selected = "one";
  const choice = await openDialog("Cancel event", [
    h("h2", `Cancel “${item.name}”?`),
    h("p", withAmounts(`${signedAmount(item)} on ${formatInstant(item.at)}. Posted events don't change.`)),
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
    buttonRow(dismissButton("Keep"), h("button.danger", { value: "cancel" }, "Cancel event")),
  ]);
  if (choice !== "cancel") return null;
  return selected === "all" ? sameName : [item.id];
}

/** Show a transaction or transfer: its state, the balances before and after it, and its id. */
export async function showItem(item, state, model) {
  const { id, at, name, category } = item;
  const balances = item.changes.map(({ account, currency, amount, balance }) => [
    `${curveName(curveOf(model, { account, currency }))} balance`,
    `${formatMoney(difference(balance, amount), currency)} → ${formatMoney(balance, currency)}`,
  ]);
  const facts = {
    Amount: h("strong", signedAmount(item)),
    ...Object.fromEntries(balances),
    Time: `${formatDay(at)}, ${formatTime(at)} UTC`,
    State: state,
    Category: category,
    ID: [h("code", id), iconButton("copy", "Copy ID", { value: "copy" })],
  };
  const shown = Object.entries(facts).filter(([, value]) => value);
  const rows = shown.map(([label, value]) => [h("dt", label), h("dd", value)]);
  const choice = await openDialog("Event", [h("h2", name), h("dl.facts", rows), buttonRow(dismissButton("Close"))]);
  if (choice === "copy") copyText(id, "the ID of the event");
}

export const PARAMS = "params";
const EXPORT_FORMATS = [
  ["csv", "CSV"],
  ["json", "JSON"],
  ["hledger", "hledger"],
  ["beancount", "Beancount"],
  ["ofx", "OFX"],
  ["camt053", "camt.053 (ISO 20022)"],
  [PARAMS, "Parameters of createTestClock"],
];

/** Ask for the format of an export. Return `{ format, pending }`, or null for no export. */
export async function askExport({ items }) {
  const count = items.filter((item) => isPayment(item) && !item.isPosted).length;
  const pending = h("input", { type: "checkbox", disabled: !count });
  // The parameters have all items.
  const onchange = () => (pending.disabled = !count || format.value === PARAMS);
  const format = select(EXPORT_FORMATS, { onchange });
  const choice = await openDialog("Export clock", [
    h("h2", "Export this clock"),
    h("p", "A statement for each currency, with its opening and closing balance."),
    h("label", "Format", format),
    h("label", pending, `Include ${plural(count, "scheduled transaction")}`),
    buttonRow(closeButton(), h("button.primary", { value: "export" }, "Export")),
  ]);
  return choice && { format: format.value, pending: pending.checked };
}

const MAX_BALANCES = 3; // of a time in the dialog of a fork

const balancesText = (model, at) => {
  const balances = [...viewAt(model, at).balances].slice(0, MAX_BALANCES);
  const texts = balances.map(([currency, balance]) => formatMoney(balance, currency));
  return texts.length > 0 && h("small.muted", texts.join(", "));
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
    h("h2", "Fork this clock"),
    h(
      "p",
      "A fork has the same events, goals, accounts and expectations, and its own time. This clock doesn't change.",
    ),
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
    buttonRow(closeButton(), h("button.primary", { value: "fork" }, "Fork")),
  ]);
  if (choice !== "fork") return null;
  const at = options.find(([value]) => value === selected)[2];
  return { name: name.value.trim(), at };
}
