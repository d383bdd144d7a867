// A button that opens a menu, and the command menu: all pages, and all actions that the current page shows.

import { openDialog } from "./clock-dialogs.js";
import { h, newId, render } from "./dom.js";
import { icon } from "./icons.js";

/** Return whether a style hides the node itself. Its menu may be closed. */
const isDisplayed = (node) => getComputedStyle(node).display !== "none";

/**
 * Create a menu of items `{ text, hint, danger, isNarrow, onSelect }` or null for a line. Those with `isNarrow` are only
 * in a narrow window. `label` names the button, and `content` is what it shows. Return the element that contains both.
 */
export function menuButton({ label, content, className = "" }, items) {
  const id = newId();
  const buttons = items.filter(Boolean).map(({ text, hint, danger, isNarrow, onSelect }) =>
    h(
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

const upperFirst = (text) => text[0].toUpperCase() + text.slice(1);

/** The groups of actions in their order, with the selectors of what they contain. Labelled groups come after View. */
const GROUPS = {
  Advance: ".split *, .main-actions > .primary",
  Preview: ".advance-bar *",
  View: ".controls > :not([role=group]), .with-picker *",
  "This page": "main :not(h2 a, .danger, [aria-label^=Remove], [role=group][aria-label] *)",
  Clocks: "h2 a",
  Remove: ".danger, [aria-label^=Remove]",
  "Pages and account": "#header *",
};

const groupOf = (node) =>
  Object.keys(GROUPS).find((name) => node.matches(GROUPS[name])) ?? node.closest("[role=group][aria-label]").ariaLabel;

/** Return the name of a link or button below the name of its group. Keys and badges are not part of it. */
function nameOf(node, group) {
  const copy = node.cloneNode(true);
  for (const part of copy.querySelectorAll("[aria-hidden], .chip, .visually-hidden")) part.remove();
  const texts = [...copy.childNodes].map((child) => child.textContent.trim()).filter(Boolean);
  const name = node.matches(".account") ? node.title : (node.ariaLabel ?? texts.join(" · "));
  return name.startsWith(`${group} `) ? upperFirst(name.slice(group.length + 1)) : name;
}

/** Icons by what the name of an action begins with, then by its group. */
const ACTION_ICONS = [
  [/^(Add|New|Create)/, "add"],
  [/^(Rename|Edit)/, "edit"],
  [/^(Copy|Export)/, "copy"],
  [/^(Compare|Swap)/, "swap"],
  [/^(Delete|Remove|Back to now)/, "close"],
  [/^(Pick a date)/, "calendar"],
  [/^Mailbox/, "mail"],
  [/^Fork/, "fork"],
];
const GROUP_ICONS = { Advance: "play", Zoom: "search" };

const iconOf = (name, group) =>
  icon(ACTION_ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? GROUP_ICONS[group] ?? "right");

/** Return the links and buttons that the user can see or find in a menu, the main action first. */
function findActions() {
  const nodes = ["main :is(a, button)", "#header :is(nav a, .account, .sign-out)"].flatMap((selector) => [
    ...document.querySelectorAll(selector),
  ]);
  return nodes
    .filter(
      (node) =>
        !node.matches(
          "[aria-haspopup], .breadcrumb *, .cancel-item, .show-item, .rename, :disabled, [aria-disabled=true], [hidden]",
        ),
    )
    .filter((node) => (node.closest(".menu-box") ?? node).checkVisibility() && isDisplayed(node))
    .sort((left, right) => right.matches(".primary") - left.matches(".primary"));
}

/** Let the user choose an action, and run it. */
async function openCommandMenu() {
  let [chosen, shown, selected] = [null, [], 0];
  const optionOf = (node, group) => {
    const [name, key] = [nameOf(node, group), node.querySelector("kbd")];
    const option = h(
      "div",
      {
        id: newId(),
        role: "option",
        onclick: ({ currentTarget }) => {
          chosen = node;
          currentTarget.closest("dialog").close();
        },
      },
      iconOf(name, group),
      h("span", {}, name),
      // The selected option has this sign.
      key?.textContent !== "↵" && key?.cloneNode(true),
    );
    return Object.assign(option, { words: `${group} ${name}`.toLowerCase() });
  };
  const actions = Map.groupBy(findActions(), groupOf);
  const names = Object.keys(GROUPS);
  names.splice(names.indexOf("View") + 1, 0, ...[...actions.keys()].filter((name) => !(name in GROUPS)));
  const groups = names.map((name) => [name, (actions.get(name) ?? []).map((node) => optionOf(node, name))]);
  const list = h("div", { id: newId(), class: "commands", role: "listbox", "aria-label": "Actions and pages" });
  const field = h("input", {
    role: "combobox",
    "aria-label": "Find an action or a page",
    "aria-expanded": "true",
    "aria-controls": list.id,
    placeholder: "Find an action or a page",
    autocomplete: "off",
    oninput: () => show(),
    onkeydown: (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      select((selected + step + shown.length) % shown.length);
    },
  });

  function select(index) {
    selected = index;
    shown.forEach((option, position) => (option.ariaSelected = String(position === index)));
    field.setAttribute("aria-activedescendant", shown[index]?.id ?? "");
    shown[index]?.scrollIntoView({ block: "nearest" });
  }

  function show() {
    const typed = field.value.toLowerCase().split(/\s+/);
    const isMatch = ({ words }) => typed.every((word) => words.includes(word));
    const matches = groups.map(([name, options]) => [name, options.filter(isMatch)]).filter(([, some]) => some.length);
    shown = matches.flatMap(([, options]) => options);
    render(
      list,
      matches.map(([name, options]) =>
        h("div", { role: "group", "aria-label": name }, h("small", { "aria-hidden": "true" }, name), options),
      ),
      !shown.length && h("div", { role: "option", "aria-disabled": "true" }, "Nothing matches."),
    );
    select(0);
  }

  show();
  await openDialog("Actions", [field, list], {
    onsubmit: (event) => (shown.length ? shown[selected].click() : event.preventDefault()),
  });
  chosen?.focus();
  chosen?.click();
}

const isMac = navigator.platform.startsWith("Mac");

addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(isMac ? event.metaKey : event.ctrlKey) || document.querySelector("dialog")) return;
  event.preventDefault();
  openCommandMenu();
});

export const commandButton = h(
  "button",
  {
    class: "quiet commands-button",
    title: "Actions",
    "aria-keyshortcuts": isMac ? "Meta+K" : "Control+K",
    onclick: openCommandMenu,
  },
  icon("search"),
  h("span", {}, "Actions"),
  h("kbd", { "aria-hidden": "true" }, isMac ? "⌘K" : "Ctrl K"),
);
