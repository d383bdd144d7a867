// Fields and rows of the form for a new clock.

import { writeAmount } from "./amount-input.js";
import { h, newId } from "./dom.js";
import { addMonths, HOUR, startOfDay } from "./instants.js";
import { MOST } from "./params-equality.js";

// A field for date and time knows no zones, and simulated time is in UTC.
const toField = (timestamp) => {
  const instant = Date.parse(timestamp ?? "");
  return Number.isNaN(instant) ? "" : new Date(instant).toISOString().slice(0, 19).replace(/:00$/, "");
};
export const fromField = (text) => (text.length === 16 ? `${text}:00Z` : `${text}Z`);

/** A month after the last, on its last day if need be; or on the first morning of the clock. */
export function likelyTime(last, start) {
  return new Date(
    last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR,
  ).toISOString();
}

/** A field with its label and a place for its fault. `read()` gives what it holds, or undefined if that is nothing. */
export function field(key, label, control, read = (text) => text) {
  const fault = h("p", { class: "error fault", id: newId() });
  control.id = newId();
  control.setAttribute("aria-describedby", fault.id);
  const element = h("div", { class: `cell ${key}` }, h("label", { for: control.id }, label), control, fault);
  return Object.assign(element, {
    key,
    read: () => (control.value === "" ? undefined : read(control.value)),
    complain(sentence) {
      fault.textContent = sentence;
      if (sentence) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
      if (sentence) control.title = sentence;
      else control.removeAttribute("title");
    },
    focusOn: () => control.focus(),
  });
}

export const text = (value, more = {}) =>
  h("input", { type: "text", autocomplete: "off", value: value === undefined ? "" : String(value), ...more });
export const amount = (value, more = {}) => text(writeAmount(value), { inputMode: "decimal", ...more });
export const when = (value) =>
  h("input", {
    type: "datetime-local",
    value: toField(value),
    max: "9999-12-31T23:59",
    step: toField(value).length > 16 && "1",
  });

/**
 * Entries that can be added and removed. `make(entry, before, start)` gives a row with `fields`; an entry that is added by
 * hand is undefined, `before` is the row before it, and start() is when the clock begins.
 */
export function rows(key, { title, add, hint }, make, start) {
  const list = h("ol", { class: `rows ${key}` });
  const all = [];
  const button = h("button", { type: "button", onclick: () => append(undefined, true) }, add);
  const empty = h("p", { class: "quiet" }, hint);

  function refresh() {
    empty.hidden = all.length > 0;
    button.disabled = all.length >= MOST[key];
  }

  function remove(row) {
    const index = all.indexOf(row);
    all.splice(index, 1);
    row.element.remove();
    refresh();
    (all[Math.min(index, all.length - 1)]?.removal ?? button).focus();
  }

  function append(entry, byHand = false) {
    const row = make(entry, all.at(-1), start);
    row.removal = h(
      "button",
      {
        type: "button",
        class: "plain removal",
        "aria-label": `Remove this of ${title.toLowerCase()}`,
        title: "Remove",
        onclick: () => remove(row),
      },
      "✕",
    );
    row.element = h("li", {}, h("div", { class: "cells" }, row.fields, row.removal), row.more);
    all.push(row);
    list.append(row.element);
    refresh();
    if (byHand) row.fields[0].focusOn();
  }

  refresh();
  return { element: h("fieldset", {}, h("legend", {}, title), empty, list, button), all, append };
}

export function read({ fields, contributions }) {
  const entries = fields.map((one) => [one.key, one.read()]).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(entries),
    ...(contributions?.all.length && { contributions: contributions.all.map(read) }),
  };
}
