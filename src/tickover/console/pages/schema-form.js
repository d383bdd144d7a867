// Forms made from JSON Schemas.
//
// Each field is `{ element, read, showFault }`. `read()` returns the value, or undefined if it is omitted.
// `showFault(path, message)` shows a fault, and returns whether the path is in this field. The path is relative.
// Only screen readers announce the description of a field, because the reference beside the form shows it.

import { h } from "../lib/dom.js";
import { field, readTime, withPicker } from "../lib/form-fields.js";
import { breakableName, constraintText, resolve, typeName, withInlineCode } from "./api-reference.js";

const INPUT_ATTRIBUTES = {
  "date-time": { placeholder: "2027-01-31T09:00:00Z" },
  email: { type: "email", inputmode: "email" },
  number: { inputmode: "decimal" },
  integer: { inputmode: "numeric" },
};
const MAX_LINE_LENGTH = 1000; // longer texts have several lines
const MAX_LINES = 18;

const describe = (schema) => withInlineCode([schema.description, constraintText(schema)].filter(Boolean).join(" "));

/** Return the type of a value: "string", "number", "boolean" or "object". A string can also be null. */
function valueType({ anyOf, type = anyOf?.[0].type ?? "object" }) {
  return type === "integer" ? "number" : type;
}

/**
 * Create the fields of an object. `suggestions` has values for fields by name: `{ id: [...] }`.
 * Compact fields share a row, and name their type only in the reference.
 */
export function objectField(document, schema, value = {}, { suggestions = {}, isCompact = false } = {}) {
  const objectSchema = resolve(document, schema);
  const members = Object.entries(objectSchema.properties ?? {}).map(([name, memberSchema]) => {
    const member = resolve(document, memberSchema);
    const build = member.type === "array" ? arrayField : scalarField;
    return [
      name,
      build(document, member, value[name], {
        name,
        suggestions,
        isCompact,
        isRequired: objectSchema.required?.includes(name) ?? false,
      }),
    ];
  });
  return {
    element: h(
      "div",
      { class: isCompact ? "form-fields compact" : "form-fields" },
      members.map(([, field]) => field.element),
    ),
    read: () =>
      Object.fromEntries(
        members.map(([name, field]) => [name, field.read()]).filter(([, memberValue]) => memberValue !== undefined),
      ),
    showFault: (path, message) => members.some(([, field]) => field.showFault(path, message)),
  };
}

function scalarField(_document, schema, value, { name, isRequired, suggestions, isCompact }) {
  const options = suggestions[name];
  const choices = schema.enum ?? (schema.type === "boolean" ? ["true", "false"] : null);
  const isLong = valueType(schema) === "object" || schema.maxLength > MAX_LINE_LENGTH;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const build = choices ? selectInput : isLong ? textArea : plainInput;
  const control = build(schema, text, choices);
  if (isRequired) control.setAttribute("aria-required", "true");
  // The text can have an offset, which the picker can't.
  if (schema.format === "date-time") withPicker(control, { label: `Pick ${name} (UTC)`, write: readTime });
  const note = [!isCompact && typeName(schema), !isRequired && "optional"].filter(Boolean).join(", ");
  const element = field(
    name,
    [h("code", {}, breakableName(name)), " ", h("span", { class: "muted" }, note)],
    control,
    (written) => parseScalar(schema, written),
    h("p", { class: "visually-hidden" }, describe(schema)),
  );
  if (isLong || schema.format === "date-time") element.classList.add("wide");
  if (options) addSuggestions(control, options);
  return {
    element,
    read: element.read,
    showFault(path, message) {
      if (path !== name && !path.startsWith(`${name}.`) && !path.startsWith(`${name}[`)) return false;
      element.setFault(path === name ? message : `${path}: ${message}`);
      return true;
    },
  };
}

const plainInput = (schema, value) =>
  h("input", {
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "none",
    ...INPUT_ATTRIBUTES[schema.format ?? schema.type],
    value,
  });

const textArea = (_schema, value = "") =>
  h(
    "textarea",
    { class: "mono", spellcheck: "false", rows: Math.min(Math.max(value.split("\n").length, 2), MAX_LINES) },
    value,
  );

const selectInput = (_schema, value, choices) =>
  h(
    "select",
    {},
    h("option", { value: "" }, "(omitted)"),
    choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice)),
  );

function addSuggestions(control, options) {
  const list = h(
    "datalist",
    { id: `${control.id}-list` },
    options.map((option) => h("option", { value: option })),
  );
  control.setAttribute("list", list.id);
  control.after(list);
}

/** Return the value of a text. A text of another type is sent unchanged, so the server can explain the fault. */
function parseScalar(schema, text) {
  const type = valueType(schema);
  if (type === "string") return text;
  try {
    const value = JSON.parse(text);
    return typeof value === type ? value : text;
  } catch {
    return text;
  }
}

function arrayField(document, schema, value, { name, isRequired, suggestions }) {
  const itemSchema = resolve(document, schema.items);
  const noun = (itemSchema.title ?? "item").replace(/Entry$/, "").toLowerCase();
  const article = /^[aeiou]/.test(noun) ? "an" : "a";
  const items = [];
  // An empty list is not the same as an omitted one.
  let isPresent = value !== undefined;
  const fault = h("p", { class: "error fault" });
  const itemList = h("div", { class: "form-items" });
  const addButton = h("button", { onclick: () => append().focus() }, `Add ${article} ${noun}`);
  const element = h(
    "fieldset",
    { class: "form-array" },
    h(
      "legend",
      {},
      h("code", {}, breakableName(name)),
      " ",
      h("span", { class: "muted" }, typeName(schema), !isRequired && ", optional"),
    ),
    h("p", { class: "visually-hidden" }, describe(schema)),
    fault,
    itemList,
    addButton,
  );

  function append(itemValue) {
    const number = items.length;
    isPresent = true;
    // Removing an earlier item changes the path.
    const build = itemSchema.properties ? objectField : scalarField;
    const item = {
      field: build(document, itemSchema, itemValue, { name: noun, isRequired: true, suggestions, isCompact: true }),
      path: () => `${name}[${items.indexOf(item)}]`,
    };
    item.title = h("legend", {}, `${noun} ${number + 1}`);
    item.element = h(
      "fieldset",
      { class: "form-item" },
      item.title,
      item.field.element,
      h("button", { class: "plain", onclick: () => remove(item) }, `Remove this ${noun}`),
    );
    items.push(item);
    itemList.append(item.element);
    return { focus: () => item.element.querySelector("input, select")?.focus() };
  }

  function remove(item) {
    const index = items.indexOf(item);
    items.splice(index, 1);
    item.element.remove();
    items.forEach((remaining, position) => {
      remaining.title.textContent = `${noun} ${position + 1}`;
    });
    // The pressed button no longer exists.
    (items[index]?.element.querySelector(":scope > button") ?? addButton).focus();
  }

  for (const itemValue of Array.isArray(value) ? value : []) append(itemValue ?? undefined);
  return {
    element,
    read: () => (isPresent ? items.map((item) => item.field.read() ?? "") : undefined),
    showFault(path, message) {
      const entry = items.find((item) => path === item.path());
      if (entry?.field.showFault(noun, message)) return true;
      if (path === name || entry) {
        fault.textContent = path === name ? message : `${path}: ${message}`;
        return true;
      }
      return items.some(
        (item) =>
          path.startsWith(`${item.path()}.`) && item.field.showFault(path.slice(item.path().length + 1), message),
      );
    },
  };
}
