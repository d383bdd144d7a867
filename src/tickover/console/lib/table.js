// Heads of tables.

import { h } from "./dom.js";

/** Return the head of a table. Its columns have numbers from `firstNumber` on. `rows` follow the titles. */
export const tableHead = (titles, firstNumber, ...rows) => {
  const cell = (title, index) => h("th", { scope: "col", class: index < firstNumber ? undefined : "number" }, title);
  return h("thead", h("tr", titles.map(cell)), rows);
};
