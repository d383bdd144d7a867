// A button that opens a menu.

import { h, newId } from "./dom.js";

/** Return whether no style hides the node itself. Its menu may be closed. */
export const isDisplayed = (node) => getComputedStyle(node).display !== "none";

/**
 * Create a menu of items `{ text, hint, getTarget, danger, isNarrow, onSelect }` or null for a line. `getTarget()` returns
 * the date to which an item leads. Items with `isNarrow` are only in a narrow window. `label` names the button, and
 * `content` is what it shows. Return the element that contains both.
 */
export function menuButton({ label, content, className = "" }, items) {
  const id = newId();
  const buttons = items.filter(Boolean).map(({ text, hint, getTarget, danger, isNarrow, onSelect }) => {
    const target = getTarget && h("span", { class: "muted target" });
    const button = h(
      "button",
      {
        role: "menuitem",
        tabIndex: -1,
        class: danger ? "danger" : isNarrow ? "narrow" : undefined,
        onclick: () => {
          close();
          onSelect();
        },
      },
      text,
      " ",
      target,
      hint && h("kbd", { "aria-hidden": "true" }, hint),
    );
    return Object.assign(button, { getTarget, drawTarget: () => target && (target.textContent = getTarget()) });
  });
  let index = 0;
  const menu = h(
    "div",
    { id, class: "menu", role: "menu", "aria-label": label, hidden: true, onkeydown: handleKey },
    items.map((item) => (item ? buttons[index++] : h("hr", { role: "separator" }))),
  );
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
      onkeydown: (event) => {
        if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
        event.preventDefault();
        open(event.key === "ArrowUp" ? -1 : 0);
      },
    },
    content,
  );

  const visibleButtons = () => buttons.filter(isDisplayed);

  function open(selected = 0) {
    menu.hidden = false;
    for (const item of buttons) item.drawTarget();
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

  function handleKey(event) {
    const visible = visibleButtons();
    const last = visible.length - 1;
    const current = visible.indexOf(document.activeElement);
    const next = {
      ArrowDown: current === last ? 0 : current + 1,
      ArrowUp: current === 0 ? last : current - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) visible[next].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const element = h("div", { class: "menu-box" }, button, menu);
  // Clicks elsewhere and Tab move the focus out of the menu.
  element.addEventListener("focusout", (event) => {
    if (!element.contains(event.relatedTarget)) close();
  });
  return Object.assign(element, { button });
}
