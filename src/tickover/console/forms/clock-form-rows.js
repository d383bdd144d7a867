// The rows of the form for a new clock, and how often a row repeats.

import { MAX_ENTRIES } from "../clock/create-clock.js";
import { h } from "../lib/dom.js";
import { addMonths, DAY, HOUR, startOfDay, toTimestamp } from "../lib/instants.js";

/** Suggest a month after the last time, or the first morning of the clock. */
export function suggestTime(last, start) {
  return new Date(
    last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR,
  ).toISOString();
}

/**
 * Create a list of rows that can be added and removed. `buildRow(entry, previousRow, start)` returns a row with `fields`.
 * The entry is undefined if the user adds the row. `start()` is the start of the clock.
 */
export function rowList(key, { title, noun, hint }, buildRow, start) {
  const list = h("ol", { class: `rows ${key}` });
  const rows = [];
  const button = h("button", { onclick: () => append(undefined, true) }, `Add a ${noun}`);
  const empty = h("p", { class: "muted" }, hint);

  function refresh() {
    empty.hidden = rows.length > 0;
    button.disabled = rows.length >= MAX_ENTRIES[key];
  }

  function remove(row) {
    const index = rows.indexOf(row);
    rows.splice(index, 1);
    row.element.remove();
    refresh();
    (rows[Math.min(index, rows.length - 1)]?.removeButton ?? button).focus();
  }

  function append(entry, byUser = false) {
    const row = buildRow(entry, rows.at(-1), start);
    row.removeButton = h(
      "button",
      {
        class: "plain remove-row",
        "aria-label": `Remove this ${noun}`,
        title: "Remove",
        onclick: () => remove(row),
      },
      "✕",
    );
    row.element = h("li", {}, h("div", { class: "cells" }, row.fields, row.removeButton), row.nested);
    rows.push(row);
    list.append(row.element);
    refresh();
    if (byUser) row.fields.find((field) => field.read() === undefined).focusControl();
  }

  refresh();
  return { element: h("fieldset", {}, h("legend", {}, title), empty, list, button), rows, append };
}

/** Return the entry that a row describes. */
export function readRow({ fields, contributions }) {
  const entries = fields.map((field) => [field.key, field.read()]).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(entries),
    ...(contributions?.rows.length && { contributions: contributions.rows.map(readRow) }),
  };
}

const DEFAULT_MONTHS = 6;

const weeks = (count) => (start, index) => start + 7 * count * index * DAY;
const months = (count) => (start, index) => addMonths(start, count * index);
const REPEATS = {
  weekly: ["Weekly", weeks(1)],
  biweekly: ["Every 2 weeks", weeks(2)],
  monthly: ["Monthly", months(1)],
  quarterly: ["Quarterly", months(3)],
  yearly: ["Yearly", months(12)],
};

export const repeatSelect = (value) =>
  h(
    "select",
    {},
    h("option", { value: "" }, "Once"),
    Object.entries(REPEATS).map(([key, [label]]) => h("option", { value: key, selected: key === value }, label)),
  );

/** Return the end of repeats if the user gives none. */
export const defaultUntil = (start) => addMonths(Date.parse(start) || Date.now(), DEFAULT_MONTHS);

/** Return the entries of a row that repeats until an instant. There is at least one. */
export function repeatEntry({ repeats, ...entry }, until) {
  const first = Date.parse(entry.at);
  if (!repeats || Number.isNaN(first)) return [entry];
  const [, next] = REPEATS[repeats];
  const entries = [entry];
  // One more than the limit, so that the server rejects them.
  for (let index = 1; next(first, index) <= until && index <= MAX_ENTRIES.transactions; index += 1)
    entries.push({ ...entry, at: toTimestamp(next(first, index)) });
  return entries;
}
