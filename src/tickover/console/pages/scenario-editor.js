// The TOML editor of scenarios. The server checks the text as the user types.

import { createClock, creationErrorMessage, faultsIn } from "../clock/create-clock.js";
import { draftPreview } from "../forms/draft-preview.js";
import { withBusyState } from "../lib/busy-button.js";
import { h, newId, render } from "../lib/dom.js";
import { onSubmit } from "../lib/form-fields.js";
import { notify } from "../lib/notification.js";
import { CallError, call } from "../lib/rpc.js";
import { MAX_SCENARIOS, saveScenario } from "./scenarios.js";

const CHECK_DELAY_MS = 500;
const BEYOND_PREVIEW = /exceed the limit of .* call\b/; // expandScenario takes fewer items than a clock can hold
const EXAMPLE = `title = "My scenario"
currency = "EUR"
length = "6 months"
opening = {EUR = 500}

[[transactions]]
name = "Salary"
amount = 2350
type = "income"
every = "month on the last weekday"

[[transactions]]
name = "Groceries"
amount = {between = [40, 90]}
type = "expense"
every = "Saturday"

[[expect]]
never_below = 0`;

export class ScenarioEditor {
  #draft;
  #gutter = h("pre.gutter", { "aria-hidden": "true" });
  #fault = h("p.line-fault", { role: "alert", id: newId(), hidden: true });
  #text;
  #preview = draftPreview();
  #button = h("button.primary", "Create clock");
  #faultLine = 0;
  #isChecking = false;
  #checked = null;
  #timer = 0;

  /** `draft` is `{ toml, scenarioId }`; the text stays in it. */
  constructor(draft) {
    draft.toml ??= EXAMPLE;
    this.#draft = draft;
    this.#text = h(
      "textarea.mono",
      {
        id: newId(),
        rows: 22,
        wrap: "off",
        spellcheck: "false",
        "aria-describedby": this.#fault.id,
        oninput: () => this.#edited(),
        onscroll: () => this.#place(),
      },
      draft.toml,
    );
    requestAnimationFrame(() => {
      this.#drawGutter();
      this.#check();
    });
    this.element = this.#build();
  }

  #build() {
    const create = onSubmit(() => withBusyState(this.#button, () => this.#create()));
    return h(
      "form.card.clock-form",
      { noValidate: true, onsubmit: create },
      h(
        "div",
        h("label", { for: this.#text.id }, "Scenario in TOML"),
        h("div.toml-editor", this.#gutter, this.#text, this.#fault),
      ),
      this.#preview.element,
      h(
        "div.row.submit-row",
        this.#button,
        h("button", { onclick: () => this.#save() }, "Save to my scenarios"),
        h("a", { href: "docs#expandScenario", target: "_blank" }, "Scenario reference"),
      ),
    );
  }

  #edited() {
    this.#draft.toml = this.#text.value;
    this.#drawGutter();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), CHECK_DELAY_MS);
  }

  /** Place the fault beside its line. */
  #place() {
    const { scrollTop, clientHeight } = this.#text;
    this.#gutter.scrollTop = scrollTop;
    const { lineHeight, paddingTop } = getComputedStyle(this.#text);
    const top = (this.#faultLine - 1) * parseFloat(lineHeight) + parseFloat(paddingTop) - scrollTop;
    this.#fault.style.top = `${Math.max(0, Math.min(top, clientHeight))}px`;
  }

  #drawGutter() {
    const numbers = this.#text.value.split("\n").map((_, index) => index + 1);
    render(
      this.#gutter,
      numbers.map((line) => h("span", { class: line === this.#faultLine ? "faulty" : undefined }, `${line}\n`)),
    );
    this.#place();
  }

  #showFault(message, line = 0) {
    this.#faultLine = line;
    this.#fault.hidden = !message;
    this.#fault.textContent = message;
    if (message) this.#text.setAttribute("aria-invalid", "true");
    else this.#text.removeAttribute("aria-invalid");
    this.#drawGutter();
  }

  /** Show why the server rejects the text. */
  #showError(error) {
    if (!(error instanceof CallError)) throw error;
    const [first] = faultsIn(error);
    this.#showFault(first?.message ?? creationErrorMessage(error), first?.line);
  }

  /** Check the text until the latest one is checked, one request at a time. */
  async #check() {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      while (this.#text.isConnected && this.#checked !== this.#text.value) {
        this.#checked = this.#text.value;
        try {
          const { params, expectations } = await call("expandScenario", { text: this.#checked }, { quiet: true });
          this.#showFault("");
          this.#preview.draw({ ...params, expectations });
        } catch (error) {
          const faults = faultsIn(error);
          const isLong = faults.length > 0 && faults.every(({ message }) => BEYOND_PREVIEW.test(message));
          if (isLong) this.#showFault("");
          else this.#showError(error);
          this.#preview.draw({}, isLong ? "The scenario is too long for a preview. You can create the clock." : "");
        }
      }
    } finally {
      this.#isChecking = false;
    }
  }

  async #create() {
    this.#showFault("");
    try {
      await createClock({ text: this.#text.value }, "createTestClockFromScenario");
    } catch (error) {
      this.#showError(error);
      this.#text.focus();
    }
  }

  #save() {
    const id = saveScenario(this.#text.value, this.#draft.scenarioId);
    this.#draft.scenarioId = id ?? this.#draft.scenarioId;
    if (id) notify("Saved. The scenario is first in the gallery of this browser.");
    else notify(`The browser can't store it, or has ${MAX_SCENARIOS} scenarios. Delete one first.`, { error: true });
  }
}
