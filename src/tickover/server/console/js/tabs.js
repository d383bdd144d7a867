// Tabs that follow the ARIA practices: one tab stop, arrow keys, Home and End.

import { h, show } from "./dom.js";

let made = 0;

/**
 * `tabs` are `{ title, build }`, where `build()` gives what a tab shows, each time that it is chosen. `mayLeave`, if it is
 * given, is asked before another is chosen. The element has a method `choose(number)`.
 */
export function tabList(label, tabs, { chosen = 0, mayLeave = () => true } = {}) {
  const id = `tabs-${++made}`;
  const panel = h("div", { role: "tabpanel", id, class: "tab-panel" });
  let current = chosen;

  const buttons = tabs.map(({ title }, number) =>
    h(
      "button",
      { type: "button", role: "tab", id: `${id}-${number}`, "aria-controls": id, onclick: () => choose(number) },
      title,
    ),
  );

  function choose(number, { force = false } = {}) {
    if (!force && (number === current || !mayLeave(current, number))) return;
    current = number;
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === number));
      button.tabIndex = at === number ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `${id}-${number}`);
    show(panel, tabs[number].build());
  }

  function onkeydown(event) {
    const last = buttons.length - 1;
    const next = {
      ArrowRight: current === last ? 0 : current + 1,
      ArrowLeft: current === 0 ? last : current - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(next);
    buttons[current].focus();
  }

  choose(chosen, { force: true });
  const list = h("div", { role: "tablist", "aria-label": label, class: "tab-list", onkeydown }, buttons);
  return Object.assign(h("div", { class: "tabs" }, list, panel), { choose });
}
