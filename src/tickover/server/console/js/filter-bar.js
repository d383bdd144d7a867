// The search field and the filters above a list.

import { h, newId } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Create a bar with a search and filters `[title, test]`, of which the first matches all. It calls
 * `onChange(matches, index)`: `matches(entry, text)` tests an entry and its text. With `entries`, the filters have counts.
 * Return `{ element, update }`.
 */
export function filterBar(noun, filters, onChange, entries = null) {
  const id = newId();
  let selected = 0;
  const update = () => {
    const text = search.value.trim().toLowerCase();
    chips.forEach((chip, index) => chip.setAttribute("aria-pressed", String(index === selected)));
    onChange((entry, entryText) => filters[selected][1](entry) && entryText.toLowerCase().includes(text), selected);
  };
  const search = h("input", {
    id,
    type: "search",
    placeholder: `Search ${noun}`,
    autocomplete: "off",
    oninput: update,
  });
  const select = (index) => {
    selected = index;
    update();
  };
  const counts = entries && filters.map(([, test]) => entries.filter(test).length);
  const chips = filters.map(([title], index) =>
    h(
      "button",
      {
        class: "filter-chip",
        "aria-pressed": String(index === 0),
        // A filter that matches all or none is useless.
        hidden: index > 0 && counts !== null && [0, entries.length].includes(counts[index]),
        onclick: () => select(index),
      },
      counts ? `${title} ${counts[index]}` : title,
    ),
  );
  const element = h(
    "div",
    { class: "row filter-bar" },
    h("label", { for: id, class: "visually-hidden" }, `Search ${noun}`),
    h("div", { class: "search" }, icon("search"), search),
    h("div", { class: "row", role: "group", "aria-label": `Filter ${noun}` }, chips),
  );
  return { element, update };
}
