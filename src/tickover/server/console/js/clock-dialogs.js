// The dialogs that confirm a fork and a deletion.

import { h } from "./dom.js";
import { formatInstant } from "./format.js";

/** Show a dialog and return the value of the pressed button, or null if it was cancelled. */
function openDialog(label, ...content) {
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
      h("form", { method: "dialog" }, content),
    );
    document.body.append(dialog);
    dialog.returnValue = "";
    dialog.showModal();
  });
}

const buttonRow = (...buttons) => h("div", { class: "row dialog-actions" }, buttons);
const cancelButton = () => h("button", { value: "", autofocus: true }, "Cancel");

export async function confirmDeletion(name) {
  const choice = await openDialog(
    "Delete clock",
    h("h2", {}, `Delete “${name}”?`),
    h("p", {}, "The clock is deleted permanently, for everyone who uses it. Its forks stay."),
    buttonRow(cancelButton(), h("button", { value: "delete", class: "danger" }, "Delete clock")),
  );
  return choice === "delete";
}

/** Ask at which time to fork. Return an instant, `"start"`, or null for no fork. */
export async function askForkTime(model, instant) {
  const options = [
    ["start", "At its start", model.start],
    ["now", "Now", model.now],
  ];
  if (instant !== model.now) options.push(["preview", "At the preview", instant]);
  const isFirst = ([, , at], index) => options.findIndex(([, , other]) => other === at) === index;
  let selected = options.filter(isFirst).at(-1)[0];
  const choice = await openDialog(
    "Fork clock",
    h("h2", {}, "Fork this clock"),
    h("p", {}, "A fork has the same items and its own time. This clock doesn't change."),
    h(
      "fieldset",
      {},
      h("legend", {}, "Time of the fork"),
      options.filter(isFirst).map(([value, text, at]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: "time",
            value,
            checked: value === selected,
            onchange: () => (selected = value),
          }),
          h("span", {}, `${text}, ${formatInstant(at)}`),
        ),
      ),
    ),
    // Cancel is not a submit button, so Enter forks.
    buttonRow(
      h("button", { type: "button", onclick: (event) => event.target.closest("dialog").close("") }, "Cancel"),
      h("button", { value: "fork", class: "primary" }, "Fork"),
    ),
  );
  if (choice !== "fork") return null;
  return selected === "start" ? "start" : options.find(([value]) => value === selected)[2];
}
