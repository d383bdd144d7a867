// The choice of the two clocks to compare.

import { h } from "../lib/dom.js";
import { icon } from "../lib/icons.js";

/** Return the mark of a clock's curve. */
export const curveMark = (index) =>
  h("span", { class: `curve-mark ${index ? "second" : "first"}`, "aria-hidden": "true" });

/** Return the lists of clocks and a button that swaps them. `onChoose(ids)` gets the chosen clocks. */
export function clockChoice(clocks, ids, onChoose) {
  const list = (index) =>
    h(
      "select",
      {
        "aria-label": index ? "Second clock" : "First clock",
        onchange: ({ target }) => onChoose(ids.with(index, target.value)),
      },
      clocks.map((clock) =>
        h("option", { value: clock.id, selected: clock.id === ids[index] }, clock.name || clock.id),
      ),
    );
  const field = (index) => h("div.clock-choice", curveMark(index), list(index));
  const swap = h(
    "button.quiet.icon-button",
    { "aria-label": "Swap", title: "Swap", onclick: () => onChoose(ids.toReversed()) },
    icon("swap"),
  );
  return [field(0), swap, field(1)];
}
