// The command menu: all actions that the current page shows, dates to go to, and all clocks and pages.

import { clockName } from "../clock/clock-text.js";
import { h, newId, render } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { isDisplayed } from "../lib/menu.js";
import { CallError, call } from "../lib/rpc.js";
import { currentSession } from "../lib/session.js";
import { openDialog } from "./clock-dialogs.js";

/** The groups of actions in their order, with the selectors of what they contain. Labelled groups come after View. */
const GROUPS = {
  Date: null,
  Preview: ".advance-bar :is(.steps *, .back)",
  Advance: ".split *, .main-actions > .primary",
  "This page": "main :not(.danger, [aria-label^=Remove], .controls *, .advance-bar *, [role=group][aria-label] *)",
  View: ".controls > :not([role=group]), .with-picker *",
  Clocks: null,
  Remove: ".danger, [aria-label^=Remove]",
  "Pages and account": "#header *",
};

const groupOf = (node) =>
  Object.keys(GROUPS).find((name) => GROUPS[name] && node.matches(GROUPS[name])) ??
  node.closest("[role=group][aria-label]").ariaLabel;

/** Return the name of a link or button. Keys, dates and badges are not part of it. */
function nameOf(node) {
  if (node.dataset.command) return node.dataset.command;
  if (node.matches(".segmented *, .sort")) return node.title;
  const copy = node.cloneNode(true);
  for (const part of copy.querySelectorAll("[aria-hidden], .chip, .target")) part.remove();
  const texts = [...copy.childNodes].map((child) => child.textContent.trim()).filter(Boolean);
  return node.matches(".account") ? node.title : (node.ariaLabel ?? texts.join(" · "));
}

/** Icons by what the name of an action begins with, then by its group. */
const ACTION_ICONS = [
  [/^(Add|New|Create)/, "add"],
  [/^Advance/, "play"],
  [/^(Rename|Edit)/, "edit"],
  [/^(Copy|Export)/, "copy"],
  [/^(Compare|Swap)/, "swap"],
  [/^(Delete|Remove|Back to now)/, "close"],
  [/^(Pick a date)/, "calendar"],
  [/^Mailbox/, "mail"],
  [/^Fork/, "fork"],
];
const GROUP_ICONS = { Zoom: "search" };

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
          "[aria-haspopup], .breadcrumb *, .figures *, .cancel-item, .show-item, .rename, .clock h2 a, :disabled, [aria-disabled=true], [hidden]",
        ),
    )
    .filter((node) => (node.closest(".menu-box") ?? node).checkVisibility() && isDisplayed(node))
    .sort((left, right) => right.matches(".primary") - left.matches(".primary"))
    .map((node) => ({
      group: groupOf(node),
      name: nameOf(node),
      target: node.getTarget?.(),
      key: node.querySelector("kbd"),
      run: () => {
        node.focus();
        node.click();
      },
    }));
}

/** Return the user's newest clocks but the one that is shown. Without the server, the menu works without them. */
async function findClocks() {
  if (!currentSession()) return [];
  try {
    const { clocks } = await call("listTestClocks", {}, { quiet: true });
    return clocks
      .map((clock) => ({ clock, hash: `#/clock/${encodeURIComponent(clock.id)}` }))
      .filter(({ hash }) => location.hash.split("?")[0] !== hash)
      .map(({ clock, hash }) => ({ group: "Clocks", name: clockName(clock), run: () => (location.hash = hash) }));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return [];
  }
}

class CommandMenu {
  #chosen = null;
  #shown = [];
  #selected = 0;
  #clocks = [];
  #actions = findActions().map((action) => this.#option(action));
  #list = h("div", { id: newId(), class: "commands", role: "listbox", "aria-label": "Actions and pages" });
  #field = this.#createField();

  /** Let the user choose an action, and run it. */
  async open() {
    this.#show();
    findClocks().then((found) => this.#addClocks(found));
    await openDialog("Actions", [this.#field, this.#list], {
      onsubmit: (event) => (this.#shown.length ? this.#shown[this.#selected].click() : event.preventDefault()),
    });
    this.#chosen?.();
  }

  #createField() {
    const hint = document.querySelector("tick-clock .advance-bar")
      ? "an action, a date, a clock"
      : "an action, a clock";
    return h("input", {
      role: "combobox",
      "aria-label": "Find an action or a page",
      "aria-expanded": "true",
      "aria-controls": this.#list.id,
      placeholder: `Find ${hint} or a page`,
      autocomplete: "off",
      oninput: () => this.#show(),
      onkeydown: (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        this.#select((this.#selected + step + this.#shown.length) % this.#shown.length);
      },
    });
  }

  #option({ group, name, target, key, run }) {
    const choose = ({ currentTarget }) => {
      this.#chosen = run;
      currentTarget.closest("dialog").close();
    };
    const option = h(
      "div",
      { id: newId(), role: "option", onclick: choose },
      iconOf(name, group),
      h("span", { class: "name" }, name),
      target && h("span", { class: "muted target" }, target),
      // The selected option has this sign.
      key && key.textContent !== "↵" && key.cloneNode(true),
    );
    return Object.assign(option, { group, words: `${group} ${name} ${target ?? ""}`.toLowerCase() });
  }

  /** Return the names of all groups in their order. */
  #groupNames() {
    const names = Object.keys(GROUPS);
    const others = new Set(this.#actions.map(({ group }) => group).filter((group) => !(group in GROUPS)));
    names.splice(names.indexOf("View") + 1, 0, ...others);
    return names;
  }

  #select(index) {
    this.#selected = index;
    this.#shown.forEach((option, position) => (option.ariaSelected = String(position === index)));
    this.#field.setAttribute("aria-activedescendant", this.#shown[index]?.id ?? "");
    this.#shown[index]?.scrollIntoView({ block: "nearest" });
  }

  /** Show what matches the text of the field. */
  #show() {
    const text = this.#field.value.trim().toLowerCase();
    const typed = text.split(/\s+/);
    const dates = document.querySelector(".advance-bar")?.findDates(text) ?? [];
    const isMatch = ({ words }) => typed.every((word) => words.includes(word));
    const options = [
      ...dates.map((date) => this.#option(date)),
      ...[...this.#actions, ...this.#clocks].filter(isMatch),
    ];
    const groups = Map.groupBy(options, ({ group }) => group);
    const names = this.#groupNames().filter((name) => groups.has(name));
    this.#shown = names.flatMap((name) => groups.get(name));
    render(
      this.#list,
      names.map((name) =>
        h("div", { role: "group", "aria-label": name }, h("small", { "aria-hidden": "true" }, name), groups.get(name)),
      ),
      !this.#shown.length && h("div", { role: "option", "aria-disabled": "true" }, "Nothing matches."),
    );
    this.#select(0);
  }

  /** Add the clocks that the server returned later. The same option stays selected. */
  #addClocks(found) {
    if (!this.#list.isConnected) return;
    const current = this.#shown[this.#selected];
    this.#clocks = found.map((clock) => this.#option(clock));
    this.#show();
    this.#select(Math.max(0, this.#shown.indexOf(current)));
  }
}

const openCommandMenu = () => new CommandMenu().open();

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
