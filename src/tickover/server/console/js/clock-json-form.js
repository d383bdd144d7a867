// The JSON editor for a new clock.

import { createForm } from "./clock-form.js";
import { createClock, faultList, faultsOf, whyNotCreated } from "./create-clock.js";
import { h, newId, onSubmit, show, whileBusy } from "./dom.js";
import { saysSame } from "./params-equality.js";

function readJson(text) {
  const params = JSON.parse(text.trim() || "{}");
  if (params === null || typeof params !== "object" || Array.isArray(params))
    throw new SyntaxError("the parameters are an object, in braces");
  return params;
}

/** Why the form cannot go on with what was written as JSON, or nothing if it can; then the draft has it. */
export function whyNotInForm(draft) {
  if (draft.text === undefined) return "";
  let params;
  try {
    params = readJson(draft.text);
  } catch (error) {
    return `The form cannot read this, because it is not whole: ${error.message}.`;
  }
  if (!saysSame(createForm({ params }).params(), params))
    return "The form has no place for some of this. You can create the clock from here, as it is written.";
  draft.params = params;
  return "";
}

/** `draft` is `{ name, params, text }`; what is written is kept in it as text until the form changes it. */
export function jsonForm(draft) {
  const outcome = h("div", { role: "alert", id: newId() });
  const text = h(
    "textarea",
    { id: newId(), class: "mono", rows: 18, spellcheck: "false", "aria-describedby": outcome.id },
    draft.text ?? JSON.stringify(draft.params, null, 2),
  );
  const button = h("button", { class: "primary" }, "Create clock");

  function refuse(sentence, faults = []) {
    if (sentence) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    show(outcome, sentence && h("p", { class: "error" }, sentence), faultList(faults));
    if (sentence) text.focus();
  }

  async function create() {
    refuse("");
    let params;
    try {
      params = readJson(text.value);
    } catch (error) {
      refuse(`This is not JSON that createTestClock takes: ${error.message}.`);
      return;
    }
    try {
      await createClock(params, draft.name);
    } catch (error) {
      refuse(whyNotCreated(error), faultsOf(error));
    }
  }

  text.addEventListener("input", () => (draft.text = text.value));
  const form = h(
    "form",
    {
      class: "card create",
      noValidate: true,
      onsubmit: onSubmit(() => whileBusy(button, create)),
    },
    outcome,
    h("div", {}, h("label", { for: text.id }, "Parameters of createTestClock"), text),
    h("div", { class: "row" }, button, h("a", { href: "#/api/createTestClock" }, "What they mean")),
  );
  return Object.assign(form, { refuse });
}
