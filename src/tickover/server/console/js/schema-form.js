// Forms made from JSON Schemas.
//
// Each field is `{ element, read, showFault }`. `read()` returns the value, or undefined if it is omitted.
// `showFault(path, message)` shows a fault, and returns whether the path is in this field. The path is relative.

import { toInputValue, toTimestampText } from "./clock-form-fields.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { breakableName, constraintText, resolve, typeName, withInlineCode } from "./schema-text.js";

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INPUT_ATTRIBUTES = {
  "date-time": { placeholder: "2027-01-31T09:00:00Z" },
  email: { type: "email", inputmode: "email" },
  number: { inputmode: "decimal" },
  integer: { inputmode: "numeric" },
  object: { placeholder: "JSON" },
};

let fieldCount = 0;

/**
 * Create the fields of an object. `suggestions` has values for fields by name: `{ id: [...] }`.
 * Compact fields hide their descriptions, which only screen readers announce.
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
  const id = `field-${++fieldCount}`;
  const options = suggestions[name];
  const control = schema.enum ? selectInput(schema, value, id) : textInput(schema, value, id, options);
  const fault = h("p", { class: "error", id: `${id}-fault`, hidden: true });
  control.setAttribute("aria-describedby", `${id}-description ${id}-fault`);
  if (isRequired) control.setAttribute("aria-required", "true");
  const clearFault = () => {
    control.removeAttribute("aria-invalid");
    fault.hidden = true;
  };
  control.addEventListener("input", clearFault);
  const note = isCompact
    ? !isRequired && "optional"
    : [typeName(schema), isRequired && "required"].filter(Boolean).join(", ");
  return {
    element: h(
      "div",
      { class: schema.format === "date-time" ? "form-field wide" : "form-field" },
      h("label", { for: id }, h("code", {}, breakableName(name)), " ", h("span", { class: "muted" }, note)),
      schema.format === "date-time" ? withPicker(control, name) : control,
      options &&
        h(
          "datalist",
          { id: `${id}-list` },
          options.map((option) => h("option", { value: option })),
        ),
      fault,
      h(
        "p",
        { class: isCompact ? "visually-hidden" : "hint", id: `${id}-description` },
        withInlineCode([schema.description, constraintText(schema)].filter(Boolean).join(" ")),
      ),
    ),
    read: () => parseScalar(schema, control.value),
    showFault(path, message) {
      if (path !== name && !path.startsWith(`${name}.`)) return false;
      control.setAttribute("aria-invalid", "true");
      fault.textContent = path === name ? message : `${path}: ${message}`;
      fault.hidden = false;
      return true;
    },
  };
}

function textInput(schema, value, id, options) {
  return h("input", {
    type: "text",
    id,
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "none",
    ...INPUT_ATTRIBUTES[schema.format ?? schema.type],
    value: value === undefined || typeof value === "string" ? value : JSON.stringify(value),
    list: options && `${id}-list`,
  });
}

/** Add a button that opens the browser's date picker. The text can have an offset, which the picker can't. */
function withPicker(control, name) {
  const pick = () => {
    control.value = picker.value && toTimestampText(picker.value);
    control.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const picker = h("input", {
    type: "datetime-local",
    class: "visually-hidden",
    tabIndex: -1,
    "aria-hidden": "true",
    onchange: pick,
  });
  const open = () => {
    picker.value = toInputValue(control.value).slice(0, 16);
    picker.showPicker();
  };
  const label = `Pick ${name} (UTC)`;
  const button = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: open },
    icon("calendar"),
  );
  return h("div", { class: "with-button" }, control, h("span", { class: "picker" }, button, picker));
}

function selectInput(schema, value, id) {
  return h(
    "select",
    { id },
    h("option", { value: "" }, "(omitted)"),
    schema.enum.map((option) => h("option", { value: option, selected: option === value }, option)),
  );
}

// Invalid numbers and objects are sent as text, so the server can explain the fault.
function parseScalar(schema, text) {
  if (text === "") return undefined;
  if (schema.type === "object") return parseJson(text);
  const isNumber = schema.type === "number" || schema.type === "integer";
  return isNumber && JSON_NUMBER.test(text.trim()) ? Number(text) : text;
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function arrayField(document, schema, value, { name, suggestions }) {
  const itemSchema = resolve(document, schema.items);
  const noun = (itemSchema.title ?? "item").replace(/Entry$/, "").toLowerCase();
  const article = /^[aeiou]/.test(noun) ? "an" : "a";
  const items = [];
  // An empty list is not the same as an omitted one.
  let isPresent = value !== undefined;
  const fault = h("p", { class: "error", hidden: true });
  const itemList = h("div", { class: "form-items" });
  const addButton = h("button", { type: "button", onclick: () => append().focus() }, `Add ${article} ${noun}`);
  const element = h(
    "fieldset",
    { class: "form-array" },
    h("legend", {}, h("code", {}, breakableName(name)), " ", h("span", { class: "muted" }, typeName(schema))),
    h("p", { class: "hint" }, withInlineCode([schema.description, constraintText(schema)].filter(Boolean).join(" "))),
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
      h("button", { type: "button", class: "plain", onclick: () => remove(item) }, `Remove this ${noun}`),
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
      if (path === name || items.some((item) => path === item.path())) {
        fault.textContent = path === name ? message : `${path}: ${message}`;
        fault.hidden = false;
        return true;
      }
      return items.some(
        (item) =>
          path.startsWith(`${item.path()}.`) && item.field.showFault(path.slice(item.path().length + 1), message),
      );
    },
  };
}
