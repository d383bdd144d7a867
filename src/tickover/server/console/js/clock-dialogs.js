// The dialogs that confirm a fork and a deletion.

import { h } from "./dom.js";
import { formatInstant } from "./format.js";

/** Show a dialog and wait for its answer, which is null when it was closed without one. */
function ask(label, ...content) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog",
      {
        class: "card",
        "aria-label": label,
        onclose: () => {
          dialog.remove();
          resolve(dialog.returnValue || null);
        },
      },
      h("form", { method: "dialog" }, content),
    );
    document.body.append(dialog);
    dialog.returnValue = "";
    dialog.showModal();
  });
}

const buttons = (...all) => h("div", { class: "row answers" }, all);
const cancel = () => h("button", { value: "", autofocus: true }, "Cancel");

export async function askToDelete(name) {
  const answer = await ask(
    "Delete the clock",
    h("h2", {}, `Delete ${name}?`),
    h("p", {}, "It is gone for good, for everybody who uses it. Forks of it stay."),
    buttons(cancel(), h("button", { value: "delete", class: "danger" }, "Delete the clock")),
  );
  return answer === "delete";
}

/** Where a fork shall stand: an instant, `null` for no fork, or `"start"`. */
export async function askWhereToFork(model, instant) {
  const places = [
    ["start", "at its start", model.start],
    ["now", "now", model.now],
  ];
  if (instant !== model.now) places.push(["preview", "at the preview", instant]);
  let chosen = places.at(-1)[0];
  const answer = await ask(
    "Fork the clock",
    h("h2", {}, "Fork this clock"),
    h("p", {}, "A fork has the same items, and a time of its own. This clock stays as it is."),
    h(
      "fieldset",
      {},
      h("legend", {}, "The fork stands"),
      places.map(([value, text, at]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: "place",
            value,
            checked: value === chosen,
            onchange: () => (chosen = value),
          }),
          h("span", {}, `${text}, ${formatInstant(at)}`),
        ),
      ),
    ),
    // Enter anywhere forks, which hurts nobody, because only a button that submits can be pressed by it.
    buttons(
      h("button", { type: "button", onclick: (event) => event.target.closest("dialog").close("") }, "Cancel"),
      h("button", { value: "fork", class: "primary" }, "Fork"),
    ),
  );
  if (answer !== "fork") return null;
  return chosen === "start" ? "start" : places.find(([value]) => value === chosen)[2];
}
