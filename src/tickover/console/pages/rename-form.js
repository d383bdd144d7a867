// The form that replaces the name of a clock while the user edits it.

import { MAX_NAME_LENGTH } from "../clock/clock-text.js";
import { withBusyState } from "../lib/busy-button.js";
import { h, render } from "../lib/dom.js";
import { onSubmit, textInput } from "../lib/form-fields.js";

/** Show the form, until `close()`. `rename(name)` renames the clock, and `onError` reports why it fails. */
export function showRenameForm(container, clock, { rename, close, onError }) {
  const field = textInput(clock.name, { "aria-label": "Clock name", maxLength: MAX_NAME_LENGTH });
  const button = h("button", "Save");
  const save = async () => {
    try {
      await withBusyState(button, () => rename(field.value));
      close();
    } catch (error) {
      onError(error);
    }
  };
  render(
    container,
    h(
      "form.row",
      { onsubmit: onSubmit(save), onkeydown: (event) => event.key === "Escape" && close() },
      field,
      button,
      h("button.plain", { onclick: close }, "Cancel"),
    ),
  );
  field.select();
}
