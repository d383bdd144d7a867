// The TOML editor for a scenario. The server checks the text as the user types. An error is beside its line.

import { parseParams } from "./clock-model.js";
import { createClock, creationErrorMessage, faultsIn } from "./create-clock.js";
import { h, newId, notify, onSubmit, render, withBusyState } from "./dom.js";
import { CallError, call } from "./rpc.js";
import { MAX_SCENARIOS, saveScenario, scenarioTags } from "./scenario-gallery.js";
import { sparkline } from "./sparkline.js";

const CHECK_DELAY_MS = 500;
const EXAMPLE = [
  'title = "My scenario"',
  'currency = "EUR"',
  'length = "6 months"',
  "opening = {EUR = 500}",
  "",
  "[[transactions]]",
  'name = "Salary"',
  "amount = 2350",
  'type = "income"',
  'every = "month on the last weekday"',
  "",
  "[[transactions]]",
  'name = "Groceries"',
  "amount = {between = [40, 90]}",
  'type = "expense"',
  'every = "Saturday"',
  "",
  "[[expect]]",
  "never_below = 0",
].join("\n");

/** Create the editor. `draft` is `{ toml, scenarioId }`; the text stays in it. */
export function scenarioEditor(draft) {
  draft.toml ??= EXAMPLE;
  const gutter = h("pre", { class: "gutter", "aria-hidden": "true" });
  const fault = h("p", { class: "line-fault", role: "alert", id: newId(), hidden: true });
  const text = h(
    "textarea",
    { id: newId(), class: "mono", rows: 22, wrap: "off", spellcheck: "false", "aria-describedby": fault.id },
    draft.toml,
  );
  const summary = h("div", { class: "scenario-summary" });
  const createButton = h("button", { class: "primary" }, "Create clock");
  let faultLine = 0;

  const place = () => {
    gutter.scrollTop = text.scrollTop;
    const { lineHeight, paddingTop } = getComputedStyle(text);
    const top = faultLine * parseFloat(lineHeight) + parseFloat(paddingTop) - text.scrollTop;
    fault.style.top = `${Math.max(0, Math.min(top, text.clientHeight))}px`;
  };

  function drawGutter() {
    const lines = text.value.split("\n");
    render(
      gutter,
      lines.map((_, index) => h("span", { class: index + 1 === faultLine ? "faulty" : undefined }, `${index + 1}\n`)),
    );
    place();
  }

  function showFault(message, line = 0) {
    faultLine = line;
    fault.hidden = !message;
    fault.textContent = message;
    if (message) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    drawGutter();
  }

  /** Return the expanded scenario, or null after showing its error. */
  async function expand(options) {
    try {
      const expanded = await call("expandScenario", { text: text.value }, options);
      showFault("");
      return expanded;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const [first] = faultsIn(error);
      showFault(first?.message ?? error.message, first?.line);
      render(summary);
      return null;
    }
  }

  let isChecking = false;
  let checked = null;

  /** Check the text until the latest one is checked, one request at a time. */
  async function check() {
    if (isChecking) return;
    isChecking = true;
    try {
      while (text.isConnected && checked !== text.value) {
        checked = text.value;
        const expanded = await expand({ quiet: true });
        if (!expanded) continue;
        const model = parseParams(expanded.params, {});
        render(summary, sparkline(model, { width: 360, height: 72 }), scenarioTags(model));
      }
    } finally {
      isChecking = false;
    }
  }

  async function create() {
    const expanded = await expand();
    if (!expanded) return text.focus();
    try {
      await createClock(expanded.params, { expectations: expanded.expectations });
    } catch (error) {
      const [first] = faultsIn(error);
      showFault([creationErrorMessage(error), first && `${first.path} ${first.message}.`].filter(Boolean).join(" "));
    }
  }

  function save() {
    const id = saveScenario(text.value, draft.scenarioId);
    draft.scenarioId = id ?? draft.scenarioId;
    if (id) notify("Saved. The scenario is first in the gallery of this browser.");
    else notify(`The browser can't store it, or has ${MAX_SCENARIOS} scenarios. Delete one first.`, { error: true });
  }

  let timer = 0;
  text.addEventListener("input", () => {
    draft.toml = text.value;
    drawGutter();
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_DELAY_MS);
  });
  text.addEventListener("scroll", place);
  requestAnimationFrame(() => {
    drawGutter();
    check();
  });
  return h(
    "form",
    { class: "card clock-form", noValidate: true, onsubmit: onSubmit(() => withBusyState(createButton, create)) },
    h(
      "div",
      {},
      h("label", { for: text.id }, "Scenario in TOML"),
      h("div", { class: "toml-editor" }, gutter, text, fault),
    ),
    summary,
    h("div", { class: "row submit-row" }, createButton, h("button", { onclick: save }, "Save to my scenarios")),
  );
}
