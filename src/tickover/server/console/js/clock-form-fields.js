// Labelled fields of all forms, amounts in the number format of the locale, and rows and repetitions of a new clock.

import { MAX_ENTRIES } from "./create-clock.js";
import { h, newId } from "./dom.js";
import { locale } from "./format.js";
import { icon } from "./icons.js";
import { addMonths, DAY, HOUR, startOfDay, toTimestamp } from "./instants.js";

export const amountFormat = new Intl.NumberFormat(locale, { useGrouping: "always", numberingSystem: "latn" });
// Locales use several kinds of spaces and apostrophes. Keyboards have one of each.
const normalizeSeparators = (text) => text.trim().replace(/\s/g, " ").replace(/’/g, "'");

/** The separators of groups and decimals. */
const SEPARATORS = Object.fromEntries(
  amountFormat.formatToParts(1234567.8).map(({ type, value }) => [type, normalizeSeparators(value) || " "]),
);

/** Parse an amount in the format of the locale or with a decimal point. Return ambiguous or invalid text unchanged. */
export function parseAmount(text, { group = ",", decimal = "." } = SEPARATORS) {
  const normalized = normalizeSeparators(text);
  const number = (digits) => (Number.isFinite(Number(digits)) ? Number(digits) : text);
  if (new RegExp(`^-?[1-9]\\d{0,2}(\\${group}\\d{3})+(\\${decimal}\\d+)?$`).test(normalized))
    return number(normalized.replaceAll(group, "").replace(decimal, "."));
  if (new RegExp(`^-?\\d+(\\${decimal}\\d+)?(e-\\d+)?$`).test(normalized))
    return number(normalized.replace(decimal, "."));
  // In other locales, a point before exactly three digits can also separate thousands.
  return /^-?\d+\.\d+(e-\d+)?$/.test(normalized) && !/^-?[1-9]\d{0,2}\.\d{3}$/.test(normalized)
    ? number(normalized)
    : text;
}

export const formatAmount = (value) =>
  typeof value === "number" ? String(value).replace(".", SEPARATORS.decimal) : value;

/** Write a timestamp in UTC for a field: `2027-01-31 09:00`. */
export const toTimeText = (timestamp) => {
  const instant = Date.parse(timestamp ?? "");
  return Number.isNaN(instant)
    ? ""
    : new Date(instant).toISOString().slice(0, 19).replace("T", " ").replace(/:00$/, "");
};

/** Return the timestamp of a date, or of a date and a time. Return other text unchanged. */
export function readTime(text) {
  const [, day, time, seconds] = /^([\d-]{10})(?:[T ](\d\d:\d\d)(:[\d.]+)?)?Z?$/.exec(text.trim()) ?? [];
  return day ? `${day}T${time ?? "00:00"}${seconds ?? ":00"}Z` : text;
}

/** Suggest a month after the last time, or the first morning of the clock. */
export function suggestTime(last, start) {
  return new Date(
    last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR,
  ).toISOString();
}

/**
 * Create a labelled field that can show a fault, until its value changes. `label` can be nodes. `read()` returns its
 * value, or undefined if it is empty. `hint` describes it.
 */
export function field(key, label, control, read = (text) => text, hint = null) {
  const fault = h("p", { class: "error fault", id: newId() });
  control.id = newId();
  if (hint) hint.id = newId();
  control.setAttribute("aria-describedby", hint ? `${hint.id} ${fault.id}` : fault.id);
  control.addEventListener("input", () => setFault(""));
  function setFault(message) {
    const isFragment = typeof label === "string" && /^[a-z]/.test(message);
    fault.textContent = control.title = isFragment ? `${label} ${message}.` : message;
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
  const element = h(
    "div",
    { class: `cell ${key}` },
    h("label", { for: control.id }, label),
    control.parentNode ?? control,
    fault,
    hint,
  );
  return Object.assign(element, {
    key,
    read: () => (control.value === "" ? undefined : read(control.value)),
    setFault,
    focusControl: () => control.focus(),
  });
}

export const textInput = (value, attributes = {}) =>
  h("input", { type: "text", autocomplete: "off", value: value === undefined ? "" : String(value), ...attributes });
export const amountInput = (value, attributes = {}) =>
  textInput(formatAmount(value), { inputMode: "decimal", ...attributes });

/** Put a field for a time into a box with a button that opens the browser's picker. Return the field. */
export function withPicker(
  control,
  { label = "Pick a date (UTC)", type = "datetime-local", write = (text) => text } = {},
) {
  const picker = h("input", {
    type,
    class: "visually-hidden",
    tabIndex: -1,
    "aria-hidden": "true",
    onchange: () => {
      control.value = write(picker.value.replace("T", " "));
      for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
    },
  });
  const open = () => {
    const text = toTimeText(readTime(control.value));
    picker.value = type === "date" ? text.slice(0, 10) : text.slice(0, 16).replace(" ", "T");
    picker.showPicker();
  };
  const button = h("button", { class: "quiet", "aria-label": label, title: label, onclick: open }, icon("calendar"));
  h("span", { class: "with-picker" }, control, button, picker);
  return control;
}

export const timeInput = (value, attributes) =>
  withPicker(textInput(toTimeText(value), { placeholder: "2027-01-31 09:00", ...attributes }));

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
    if (byUser) row.fields[0].focusControl();
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
