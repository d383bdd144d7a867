// Tabs that follow the ARIA practices: one tab stop, arrow keys, Home and End. And joined buttons, of which at most one
// is pressed.

import { nextPosition } from "./arrow-keys.js";
import { h, render } from "./dom.js";

let tabListCount = 0;

/**
 * Create tabs. Each is `{ title, build }`; `build()` returns the content each time the tab is selected.
 * `canLeave(from, to)` can prevent a change. Call `select(index)` on the element to select a tab.
 */
export function tabList(label, tabs, { selected = 0, canLeave = () => true } = {}) {
  const id = `tabs-${++tabListCount}`;
  const panel = h("div.tab-panel", { role: "tabpanel", id });
  let current = selected;

  const buttons = tabs.map(({ title }, index) =>
    h("button", { role: "tab", id: `${id}-${index}`, "aria-controls": id, onclick: () => select(index) }, title),
  );

  function select(index, { force = false } = {}) {
    if (!force && (index === current || !canLeave(current, index))) return;
    current = index;
    buttons.forEach((button, position) => {
      button.setAttribute("aria-selected", String(position === index));
      button.tabIndex = position === index ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `${id}-${index}`);
    render(panel, tabs[index].build());
  }

  function onkeydown(event) {
    const next = nextPosition(event.key, ["ArrowLeft", "ArrowRight"], current, buttons.length);
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    select(next);
    buttons[current].focus();
  }

  select(selected, { force: true });
  const list = h("div.tab-list", { role: "tablist", "aria-label": label, onkeydown }, buttons);
  return Object.assign(h("div.tabs", list, panel), { select });
}

/** Create the buttons `{ text, title }`. Return `{ element, press }`; `press(-1)` presses none. */
export function segmentedButtons(groupLabel, buttons, onPress) {
  const elements = buttons.map(({ text, title }, index) => h("button", { title, onclick: () => onPress(index) }, text));
  let pressed = null;
  return {
    element: h("div.segmented", { role: "group", "aria-label": groupLabel }, elements),
    press: (selected) => {
      if (selected === pressed) return;
      pressed = selected;
      elements.forEach((element, index) => element.setAttribute("aria-pressed", String(index === selected)));
    },
  };
}
