// A row of joined buttons of which at most one is pressed.

import { h } from "./dom.js";

/** Create the buttons `{ text, title }`. Return `{ element, press }`; `press(-1)` presses none. */
export function segmentedButtons(groupLabel, buttons, onPress) {
  const elements = buttons.map(({ text, title }, index) =>
    h("button", { type: "button", title, onclick: () => onPress(index) }, text),
  );
  let pressed = null;
  return {
    element: h("div", { class: "segmented", role: "group", "aria-label": groupLabel }, elements),
    press: (selected) => {
      if (selected === pressed) return;
      pressed = selected;
      elements.forEach((element, index) => element.setAttribute("aria-pressed", String(index === selected)));
    },
  };
}
