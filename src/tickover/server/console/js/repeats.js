// Repeated items of the form for a new clock.

import { h } from "./dom.js";
import { addMonths, DAY, toTimestamp } from "./instants.js";
import { MAX_ENTRIES } from "./params-equality.js";

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
