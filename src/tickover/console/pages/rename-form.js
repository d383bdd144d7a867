// The form that replaces the name of a clock while the user edits it.

import { MAX_NAME_LENGTH } from "../clock/clock-text.js";
import { h, onSubmit, render, withBusyState } from "../lib/dom.js";
import { textInput } from "../lib/form-fields.js";

/** Show the form. `rename(name)` renames the clock and reports errors; it returns whether to call `close()`. */
export function showRenameForm(container, clock, { rename, close }) {
  const field = textInput(clock.name, { "aria-label": "Clock name", maxLength: MAX_NAME_LENGTH });
  const button = h("button", "Save");
  const save = async () => {
    if (await withBusyState(button, () => rename(field.value))) close();
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
