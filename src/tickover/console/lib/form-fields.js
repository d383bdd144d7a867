// Labelled fields for texts, amounts and times.

import { formatAmount } from "./amounts.js";
import { h, newId } from "./dom.js";
import { icon } from "./icons.js";
import { parseInstant } from "./instants.js";

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

export const TIME_FAULT = "must be a time, for example 2027-01-31 09:00";

/** Return the instant that a text in a field means, or NaN. 30 February is no day. */
export function parseTimeText(text) {
  const timestamp = readTime(text);
  const instant = parseInstant(timestamp);
  const isRealDay = !timestamp.endsWith("Z") || new Date(instant).toJSON()?.slice(0, 10) === timestamp.slice(0, 10);
  return isRealDay ? instant : NaN;
}

/** Mark the first of these fields whose text is no time. Return whether there is one. */
export function markInvalidTime(...fields) {
  const invalid = fields.find(({ read }) => read() !== undefined && Number.isNaN(parseTimeText(read())));
  invalid?.setFault(TIME_FAULT);
  invalid?.focusControl();
  return Boolean(invalid);
}

/**
 * Create a labelled field that can show a fault, until its value changes. `label` can be nodes. `read()` returns its
 * value, or undefined if it is empty. `hint` describes it.
 */
export function field(key, label, control, read = (text) => text, hint = null) {
  const fault = h("p.error.fault", { id: newId() });
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
  h("input", { type: "text", autocomplete: "off", value: String(value ?? ""), ...attributes });

/** Create a search field. Its placeholder is short, because its label can be too long for a phone. */
export const searchInput = (label, attributes) =>
  textInput("", { type: "search", placeholder: "Search", "aria-label": label, ...attributes });

/** Create a choice of `[value, text]`. */
export const select = (options, { value: selected, ...properties } = {}) =>
  h(
    "select",
    properties,
    options.map(([value, text]) => h("option", { value, selected: value === selected }, text)),
  );
export const amountInput = (value, attributes = {}) =>
  textInput(formatAmount(value), { inputMode: "decimal", ...attributes });

/** Put a field for a time into a box with a button that opens the browser's picker. Return the field. */
export function withPicker(
  control,
  { label = "Pick a date (UTC)", type = "datetime-local", write = (text) => text } = {},
) {
  const picker = h("input.visually-hidden", {
    type,
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
  const button = h("button.quiet", { "aria-label": label, title: label, onclick: open }, icon("calendar"));
  h("span.with-picker", control, button, picker);
  return control;
}

export const timeInput = (value, attributes) =>
  withPicker(textInput(toTimeText(value), { placeholder: "2027-01-31 09:00", ...attributes }));

/** Return a submit listener that runs `work` and keeps the browser from sending the form. */
export const onSubmit = (work) => (event) => {
  event.preventDefault();
  work();
};

/** Create a choice between `[value, text]`. `onChoose(value)` is called for each change. */
export const radioButtons = (legend, options, selected, onChoose) =>
  h(
    "fieldset",
    h("legend", legend),
    options.map(([value, text]) =>
      h(
        "label",
        h("input", {
          type: "radio",
          name: "choice",
          value,
          checked: value === selected,
          onchange: () => onChoose(value),
        }),
        h("span", text),
      ),
    ),
  );
