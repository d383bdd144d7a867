// The editor for the parameters of a new clock as JSON.

import { faultList, sameParams, tryToCreate } from "../clock/create-clock.js";
import { withBusyState } from "../lib/busy-button.js";
import { h, newId, render } from "../lib/dom.js";
import { onSubmit } from "../lib/form-fields.js";
import { ClockForm } from "./clock-form.js";
import { draftPreview } from "./draft-preview.js";

function parseParamsObject(text) {
  const params = JSON.parse(text.trim() || "{}");
  if (params === null || typeof params !== "object" || Array.isArray(params))
    throw new SyntaxError("the parameters must be a JSON object");
  return params;
}

/** Take the JSON text of the draft into its params. Return why the form can't show it, or an empty string. */
export function formProblem(draft) {
  if (draft.text === undefined) return "";
  let params;
  try {
    params = parseParamsObject(draft.text);
  } catch (error) {
    return `The form can't open, because this JSON is invalid: ${error.message}.`;
  }
  if (!sameParams(new ClockForm({ params, rows: params }).params(), params))
    return "The form can't open, because it can't show all of this JSON. You can create the clock from here.";
  if (!sameParams(params, draft.params)) Object.assign(draft, { params, rows: undefined });
  return "";
}

/** Create the editor. `draft` is `{ name, params, text }`; the text stays in it until the form changes the params. */
export function clockJsonForm(draft) {
  const errorBox = h("div", { role: "alert", id: newId() });
  const text = h(
    "textarea.mono",
    { id: newId(), rows: 18, spellcheck: "false", "aria-describedby": errorBox.id },
    draft.text ?? JSON.stringify(draft.params, null, 2),
  );
  const button = h("button.primary", "Create clock");

  function showError(message, faults = []) {
    if (message) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    render(errorBox, message && h("p.error", message), faultList(faults));
    if (message) text.focus();
  }

  async function create() {
    showError("");
    let params;
    try {
      params = parseParamsObject(text.value);
    } catch (error) {
      showError(`Invalid parameters: ${error.message}.`);
      return;
    }
    await tryToCreate(params, draft, showError);
  }

  const preview = draftPreview();
  const drawPreview = () => {
    try {
      preview.draw(parseParamsObject(text.value));
    } catch {
      preview.draw({}); // The user is still typing.
    }
  };
  drawPreview();
  text.addEventListener("input", () => {
    draft.text = text.value;
    drawPreview();
  });
  const form = h(
    "form.card.clock-form",
    { noValidate: true, onsubmit: onSubmit(() => withBusyState(button, create)) },
    errorBox,
    h("div", h("label", { for: text.id }, "Parameters of createTestClock"), text),
    preview.element,
    h("div.row.submit-row", button, h("a", { href: "docs#createTestClock", target: "_blank" }, "Parameter reference")),
  );
  return Object.assign(form, { showError });
}
