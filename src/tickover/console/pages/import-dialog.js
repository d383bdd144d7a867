// Turns the file of a bank into a scenario, and asks for what the file doesn't say.

import { errorDetails, faultsIn } from "../clock/create-clock.js";
import { buttonRow, closeButton, openDialog } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { field, select, textInput } from "../lib/form-fields.js";
import { notify } from "../lib/notification.js";
import { CallError, call } from "../lib/rpc.js";

const MAX_BYTES = 512 * 1024; // of scenarioFromStatement

/** Return the scenario of a file in TOML, or null. The server reads the file. */
export async function readBankFile(file, answers = {}) {
  if (file.size > MAX_BYTES) {
    notify(`“${file.name}” has more than 512 kB. Split it, or use the command tickover scenarios from.`, {
      error: true,
    });
    return null;
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  try {
    const { text } = await call("scenarioFromStatement", { content, fileName: file.name, ...answers });
    return text;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const [fault] = faultsIn(error);
    const next = await askForMissing(fault, answers);
    if (next) return readBankFile(file, next);
    if (next === undefined) notify(fault ? `${fault.message}.` : errorDetails(error), { error: true });
    return null;
  }
}

/** Ask for the currency or the order of dates if it is missing. Return undefined if the fault is another one. */
async function askForMissing(fault, answers) {
  const isCurrency = fault?.path === "currency";
  if (fault?.rule !== "required" || !(isCurrency || fault.path === "dayFirst")) return undefined;
  const control = isCurrency
    ? textInput("EUR", { maxlength: "3", autofocus: true })
    : select([["true", "3 April"], ["false", "4 March"]]); // biome-ignore format: one line
  const label = isCurrency ? "Currency" : "03/04 means";
  const choice = await openDialog("Import a bank file", [
    h("h2", "Import a bank file"),
    h("p", isCurrency ? "The file doesn't name its currency." : "The dates of the file could mean two days."),
    field("", label, control),
    buttonRow(closeButton(), h("button.primary", { value: "import" }, "Import")),
  ]);
  if (!choice) return null;
  const answer = isCurrency ? { currency: control.value.toUpperCase() } : { dayFirst: control.value === "true" };
  return { ...answers, ...answer };
}
