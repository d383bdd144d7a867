// A button that opens a menu.

import { nextPosition } from "./arrow-keys.js";
import { h, newId } from "./dom.js";

/** Return whether no style hides the node itself. Its menu may be closed. */
const isDisplayed = (node) => getComputedStyle(node).display !== "none";

/** Create an item of a menu. `onClick` runs when it is chosen. */
function menuItem({ text, hint, getTarget, danger, isNarrow }, onClick) {
  const target = getTarget && h("span.muted.target");
  const kind = danger ? "danger" : isNarrow ? "narrow" : undefined;
  const button = h(
    "button",
    { role: "menuitem", tabIndex: -1, class: kind, onclick: onClick },
    text,
    " ",
    target,
    hint && h("kbd", { "aria-hidden": "true" }, hint),
  );
  return Object.assign(button, { drawTarget: () => target && (target.textContent = getTarget()) });
}

/**
 * Create a menu of items `{ text, hint, getTarget, danger, isNarrow, onSelect }` or null for a line. `getTarget()` returns
 * the date to which an item leads. Items with `isNarrow` are only in a narrow window. `label` names the button, and
 * `content` is what it shows. Return the element that contains both.
 */
export function menuButton({ label, content, className = "" }, items) {
  const id = newId();
  const nodes = items.map((item) =>
    item
      ? menuItem(item, () => {
          close();
          item.onSelect();
        })
      : h("hr", { role: "separator" }),
  );
  const menu = h("div.menu", { id, role: "menu", "aria-label": label, hidden: true, onkeydown: handleKey }, nodes);
  const button = h(
    "button",
    {
      class: className,
      "aria-label": label,
      title: label,
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      "aria-controls": id,
      onclick: () => (menu.hidden ? open() : close()),
      onkeydown: handleButtonKey,
    },
    content,
  );

  const visibleButtons = () => nodes.filter((node) => node.drawTarget && isDisplayed(node));

  function open(selected = 0) {
    menu.hidden = false;
    for (const node of nodes) node.drawTarget?.();
    button.setAttribute("aria-expanded", "true");
    visibleButtons().at(selected).focus();
  }

  /** Close the menu. If it has the focus, move the focus to the button. */
  function close() {
    const hadFocus = menu.contains(document.activeElement);
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (hadFocus) button.focus();
  }

  function handleButtonKey(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowUp" ? -1 : 0);
  }

  function handleKey(event) {
    const visible = visibleButtons();
    const current = visible.indexOf(document.activeElement);
    const next = nextPosition(event.key, ["ArrowUp", "ArrowDown"], current, visible.length);
    if (next !== undefined) visible[next].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const element = h("div.menu-box", button, menu);
  // Clicks elsewhere and Tab move the focus out of the menu.
  element.addEventListener("focusout", (event) => {
    if (!element.contains(event.relatedTarget)) close();
  });
  return Object.assign(element, { button });
}
