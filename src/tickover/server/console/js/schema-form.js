// Forms made from JSON Schemas.

import { h } from "./dom.js";
import { breakable, kindOf, prose, resolve, rulesOf } from "./schema-text.js";

// A form for any parameters, made from their JSON Schema. Each field is `{ element, read, mark }`: `read()` gives the value,
// or undefined for what is left out, and `mark(path, message)` shows a fault at its path, counted from this field's object, and says whether there was a place for it.

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INPUTS = {
  "date-time": { placeholder: "2027-01-31T09:00:00Z" },
  email: { type: "email", inputmode: "email" },
  number: { inputmode: "decimal" },
  integer: { inputmode: "numeric" },
};

let made = 0;

/**
 * A form for an object. `lists` holds suggestions by the name of a field, as `{ id: [...] }`. One of many such objects says
 * less to the eye, because the reference says it, and all of it to those who listen.
 */
export function objectField(document, schema, value = {}, { lists = {}, isOneOfMany = false } = {}) {
  const found = resolve(document, schema);
  const members = Object.entries(found.properties ?? {}).map(([name, member]) => {
    const build = member.type === "array" ? arrayField : scalarField;
    return [
      name,
      build(document, member, value[name], {
        name,
        lists,
        isOneOfMany,
        isRequired: found.required?.includes(name) ?? false,
      }),
    ];
  });
  return {
    element: h(
      "div",
      { class: isOneOfMany ? "form-fields close" : "form-fields" },
      members.map(([, field]) => field.element),
    ),
    read: () =>
      Object.fromEntries(
        members.map(([name, field]) => [name, field.read()]).filter(([, written]) => written !== undefined),
      ),
    mark: (at, message) => members.some(([, field]) => field.mark(at, message)),
  };
}

function scalarField(_document, schema, value, { name, isRequired, lists, isOneOfMany }) {
  const id = `field-${++made}`;
  const suggestions = lists[name];
  const control = schema.enum ? choice(schema, value, id) : line(schema, value, id, suggestions);
  const fault = h("p", { class: "error", id: `${id}-fault`, hidden: true });
  control.setAttribute("aria-describedby", `${id}-about ${id}-fault`);
  if (isRequired) control.setAttribute("aria-required", "true");
  const forget = () => {
    control.removeAttribute("aria-invalid");
    fault.hidden = true;
  };
  control.addEventListener("input", forget);
  const marks = isOneOfMany
    ? !isRequired && "optional"
    : [kindOf(schema), isRequired && "required"].filter(Boolean).join(", ");
  return {
    element: h(
      "div",
      { class: schema.format === "date-time" ? "form-field wide" : "form-field" },
      h("label", { for: id }, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, marks)),
      control,
      suggestions &&
        h(
          "datalist",
          { id: `${id}-list` },
          suggestions.map((one) => h("option", { value: one })),
        ),
      fault,
      h(
        "p",
        { class: isOneOfMany ? "unseen" : "hint", id: `${id}-about` },
        prose([schema.description, rulesOf(schema)].filter(Boolean).join(" ")),
      ),
    ),
    read: () => readScalar(schema, control.value),
    mark(at, message) {
      if (at !== name) return false;
      control.setAttribute("aria-invalid", "true");
      fault.textContent = message;
      fault.hidden = false;
      return true;
    },
  };
}

export function line(schema, value, id, suggestions) {
  return h("input", {
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "none",
    ...INPUTS[schema.format ?? schema.type],
    value: value === undefined ? undefined : String(value),
    list: suggestions && `${id}-list`,
  });
}

export function choice(schema, value, id) {
  return h(
    "select",
    { id },
    h("option", { value: "" }, "(left out)"),
    schema.enum.map((one) => h("option", { value: one, selected: one === value }, one)),
  );
}

// What is no number is sent as it was written: the server says best what is wrong with it.
function readScalar(schema, written) {
  if (written === "") return undefined;
  const isNumber = schema.type === "number" || schema.type === "integer";
  return isNumber && NUMBER.test(written.trim()) ? Number(written) : written;
}

function arrayField(document, schema, value, { name, lists }) {
  const itemSchema = resolve(document, schema.items);
  const one = (itemSchema.title ?? "item").replace(/Entry$/, "").toLowerCase();
  const items = [];
  // An empty list is something else than one that was left out.
  let isGiven = value !== undefined;
  const fault = h("p", { class: "error", hidden: true });
  const holder = h("div", { class: "form-items" });
  const add = h("button", { type: "button", onclick: () => append({}).focus() }, `Add a ${one}`);
  const element = h(
    "fieldset",
    { class: "form-array" },
    h("legend", {}, h("code", {}, breakable(name)), " ", h("span", { class: "quiet" }, kindOf(schema))),
    h("p", { class: "hint" }, prose([schema.description, rulesOf(schema)].filter(Boolean).join(" "))),
    fault,
    holder,
    add,
  );

  function append(written) {
    const number = items.length;
    isGiven = true;
    // Its place may change, and with it its path.
    const item = {
      field: objectField(document, itemSchema, written, { lists, isOneOfMany: true }),
      at: () => `${name}[${items.indexOf(item)}]`,
    };
    item.title = h("legend", {}, `${one} ${number + 1}`);
    item.element = h(
      "fieldset",
      { class: "form-item" },
      item.title,
      item.field.element,
      h("button", { type: "button", class: "plain", onclick: () => remove(item) }, `Remove this ${one}`),
    );
    items.push(item);
    holder.append(item.element);
    return { focus: () => item.element.querySelector("input, select")?.focus() };
  }

  function remove(item) {
    const number = items.indexOf(item);
    items.splice(number, 1);
    item.element.remove();
    items.forEach((left, at) => {
      left.title.textContent = `${one} ${at + 1}`;
    });
    // The button that was pressed is gone; the focus goes to the one in its place.
    (items[number]?.element.querySelector(":scope > button") ?? add).focus();
  }

  for (const written of Array.isArray(value) ? value : []) append(written ?? {});
  return {
    element,
    read: () => (isGiven ? items.map((item) => item.field.read()) : undefined),
    mark(at, message) {
      if (at === name || items.some((item) => at === item.at())) {
        fault.textContent = at === name ? message : `${at}: ${message}`;
        fault.hidden = false;
        return true;
      }
      return items.some(
        (item) => at.startsWith(`${item.at()}.`) && item.field.mark(at.slice(item.at().length + 1), message),
      );
    },
  };
}
