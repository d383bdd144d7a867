// The form below an operation in the reference that sends it with parameters as JSON. Signed-in users see it.

import { withBusyState } from "../lib/busy-button.js";
import { copyText } from "../lib/clipboard.js";
import { codeBlock, toJson } from "../lib/code-block.js";
import { h, newId, render } from "../lib/dom.js";
import { onSubmit } from "../lib/form-fields.js";
import { CallError, call } from "../lib/rpc.js";
import { captureSession, currentSession, endSession, onSessionChange } from "../lib/session.js";
import { maskResult } from "./call-list.js";

/** Return the example, with the newest clock of the user in place of its clock. */
async function ownParams(example) {
  const isSameSession = captureSession();
  if (!example.id?.startsWith("clock_")) return example;
  const { clocks } = await call("listTestClocks", { limit: 1 }, { quiet: true }).catch(() => ({ clocks: [] }));
  return clocks.length && isSameSession() ? { ...example, id: clocks[0].id } : example;
}

/** Create the form of an operation. `example` has the parameters that it starts with. */
export function tryIt(method, example) {
  const id = newId();
  const params = h("textarea.mono", { id, rows: "8", spellcheck: "false" });
  const status = h("p.error", { role: "status" });
  const response = h("div");
  const button = h("button.primary", "Send");
  const showMessage = (message) => {
    status.textContent = message;
    render(response);
  };
  const showResponse = (title, value, shown = value) =>
    render(
      response,
      h("h4", title),
      codeBlock(title, toJson(shown)),
      h(
        "button",
        { onclick: () => copyText(toJson(value), `the ${title.toLowerCase()}`) },
        shown === value ? "Copy" : "Copy with secrets",
      ),
    );

  async function send() {
    let parsed;
    try {
      parsed = JSON.parse(params.value || "{}");
    } catch (error) {
      return showMessage(`Invalid JSON: ${error.message}`);
    }
    const isSameSession = captureSession();
    showMessage("");
    try {
      const result = await withBusyState(button, () => call(method, parsed));
      if (!isSameSession()) return;
      if (method === "logout") return endSession();
      return showResponse("Result", result, maskResult(result));
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (!isSameSession()) return;
      const { code, message, data } = error;
      showMessage(message);
      return code && showResponse("Error", { code, message, data });
    }
  }

  const fill = async () => (params.value = toJson(await ownParams(example)));
  const details = h(
    "details.try-it",
    { hidden: !currentSession(), ontoggle: () => details.open && !params.value && fill() },
    h("summary", "Try it"),
    h(
      "form",
      { onsubmit: onSubmit(send) },
      h("label", { for: id }, "Parameters"),
      params,
      h("div.row", button, h("button.plain", { onclick: fill }, "Reset to example")),
    ),
    status,
    response,
  );
  onSessionChange(() => {
    details.hidden = !currentSession();
    params.value = "";
    details.open = false;
    showMessage("");
  });
  return details;
}
