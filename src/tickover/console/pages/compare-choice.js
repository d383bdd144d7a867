// The choice of the two clocks to compare.

import { clockName } from "../clock/clock-text.js";
import { h } from "../lib/dom.js";
import { select } from "../lib/form-fields.js";
import { iconButton } from "../lib/icons.js";

/** Return the mark of a clock's curve. */
export const curveMark = (index) =>
  h("span", { class: `curve-mark ${index ? "second" : "first"}`, "aria-hidden": "true" });

/** Return the lists of clocks and a button that swaps them. `onChoose(ids)` gets the chosen clocks. */
export function clockChoice(clocks, ids, onChoose) {
  const list = (index) =>
    select(
      clocks.map((clock) => [clock.id, clockName(clock)]),
      {
        value: ids[index],
        "aria-label": index ? "Second clock" : "First clock",
        onchange: ({ target }) => onChoose(ids.with(index, target.value)),
      },
    );
  const field = (index) => h("div.clock-choice", curveMark(index), list(index));
  const swap = iconButton("swap", "Swap", { onclick: () => onChoose(ids.toReversed()) });
  return [field(0), swap, field(1)];
}
