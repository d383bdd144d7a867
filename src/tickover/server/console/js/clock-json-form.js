// The JSON editor for a new clock.

import { clockForm } from "./clock-form.js";
import { createClock, creationErrorMessage, faultList, faultsIn, withName } from "./create-clock.js";
import { h, newId, onSubmit, render, withBusyState } from "./dom.js";
import { sameParams } from "./params-equality.js";

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
    return `The form can't read this JSON: ${error.message}.`;
  }
  if (!sameParams(clockForm({ params }).params(), params))
    return "The form can't show all of this JSON. You can create the clock from here.";
  if (!sameParams(params, draft.params)) Object.assign(draft, { params, rows: undefined });
  return "";
}

/** Create the editor. `draft` is `{ name, params, text }`; the text stays in it until the form changes the params. */
export function clockJsonForm(draft) {
  const errorBox = h("div", { role: "alert", id: newId() });
  const text = h(
    "textarea",
    { id: newId(), class: "mono", rows: 18, spellcheck: "false", "aria-describedby": errorBox.id },
    draft.text ?? JSON.stringify(draft.params, null, 2),
  );
  const button = h("button", { class: "primary" }, "Create clock");

  function showError(message, faults = []) {
    if (message) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    render(errorBox, message && h("p", { class: "error" }, message), faultList(faults));
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
    try {
      await createClock(withName(params, draft.name), draft.checks);
    } catch (error) {
      showError(creationErrorMessage(error), faultsIn(error));
    }
  }

  text.addEventListener("input", () => (draft.text = text.value));
  const form = h(
    "form",
    {
      class: "card clock-form",
      noValidate: true,
      onsubmit: onSubmit(() => withBusyState(button, create)),
    },
    errorBox,
    h("div", {}, h("label", { for: text.id }, "Parameters of createTestClock"), text),
    h("div", { class: "row submit-row" }, button, h("a", { href: "#/api/createTestClock" }, "Parameter reference")),
  );
  return Object.assign(form, { showError });
}
