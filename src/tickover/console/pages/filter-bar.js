// The search field and the filters above a list.

import { h, render } from "../lib/dom.js";
import { searchInput } from "../lib/form-fields.js";
import { formatCount } from "../lib/format.js";
import { icon } from "../lib/icons.js";

/**
 * Create a bar with a search and filters `[title, test]`, of which the first matches all. It calls
 * `onChange(matches)`: `matches(entry, text)` tests an entry and its text. Return
 * `{ element, chips, update, count }`: `count(entries)` shows and returns how many entries each filter matches.
 */
export function filterBar(noun, filters, onChange) {
  let selected = 0;
  const update = () => {
    const text = search.value.trim().toLowerCase();
    chips.forEach((chip, index) => chip.setAttribute("aria-pressed", String(index === selected)));
    onChange((entry, entryText) => filters[selected][1](entry) && entryText.toLowerCase().includes(text));
  };
  const search = searchInput(`Search ${noun}`, { oninput: update });
  const select = (index) => {
    selected = index;
    update();
  };
  const chips = filters.map(([title], index) =>
    h("button.filter-chip", { "aria-pressed": String(index === 0), onclick: () => select(index) }, title),
  );
  const count = (entries) =>
    filters.map(([title, test], index) => {
      const number = entries.filter(test).length;
      render(chips[index], `${title} `, h("span.number", formatCount(number)));
      return number;
    });
  const element = h(
    "div.row.filter-bar",
    h("div.search", icon("search"), search),
    h("div.row", { role: "group", "aria-label": `Filter ${noun}` }, chips),
  );
  return { element, update, chips, count };
}
