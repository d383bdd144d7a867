// Modal dialogs.

import { h } from "./dom.js";

/** Show a dialog and return the value of the pressed button, or null if it was cancelled. */
export function openDialog(label, content, { onsubmit } = {}) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog.card",
      {
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

export const buttonRow = (...buttons) => h("div.row.dialog-actions", buttons);

/** A button that closes the dialog and has the focus. */
export const dismissButton = (text = "Cancel") => h("button", { value: "", autofocus: true }, text);

/** A cancel button that doesn't submit, so that Enter runs the action. */
export const closeButton = () =>
  h("button", { onclick: (event) => event.target.closest("dialog").close("") }, "Cancel");

/** Ask before an action that can't be undone. `action` is the text of the button. Return whether to do it. */
export async function confirmAction(question, consequence, action) {
  const choice = await openDialog(action, [
    h("h2", question),
    h("p", consequence),
    buttonRow(dismissButton(), h("button.danger", { value: "confirm" }, action)),
  ]);
  return choice === "confirm";
}
