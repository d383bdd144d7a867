// A button that opens a menu. It follows the ARIA practices: arrow keys, Home, End and Escape.

import { h, newId } from "./dom.js";

/**
 * Create a menu of items `{ text, key, danger, onSelect }` or null for a line. `label` names the button, and `content`
 * is what it shows. Return the element that contains both.
 */
export function menuButton({ label, content, className = "" }, items) {
  const id = newId();
  const buttons = items.filter(Boolean).map(({ text, hint, danger, onSelect }) =>
    h(
      "button",
      {
        type: "button",
        role: "menuitem",
        tabIndex: -1,
        class: danger ? "danger" : undefined,
        onclick: () => {
          close();
          onSelect();
        },
      },
      text,
      hint && h("kbd", { "aria-hidden": "true" }, hint),
    ),
  );
  let index = 0;
  const menu = h(
    "div",
    { id, class: "menu", role: "menu", "aria-label": label, hidden: true, onkeydown: handleKey },
    items.map((item) => (item ? buttons[index++] : h("hr", { role: "separator" }))),
  );
  const button = h(
    "button",
    {
      type: "button",
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
        open(event.key === "ArrowUp" ? buttons.length - 1 : 0);
      },
    },
    content,
  );

  function open(selected = 0) {
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    buttons[selected].focus();
  }

  /** Close the menu. If it has the focus, move the focus to the button. */
  function close() {
    const hadFocus = menu.contains(document.activeElement);
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (hadFocus) button.focus();
  }

  function handleKey(event) {
    const last = buttons.length - 1;
    const current = buttons.indexOf(document.activeElement);
    const next = {
      ArrowDown: current === last ? 0 : current + 1,
      ArrowUp: current === 0 ? last : current - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next !== undefined) buttons[next].focus();
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
