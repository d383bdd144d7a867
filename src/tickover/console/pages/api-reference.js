// The reference of one operation, made from the OpenRPC document, and descriptions of its schemas.

import { codeBlock, toJson } from "../lib/code-block.js";
import { h } from "../lib/dom.js";

const TYPE_NAMES = {
  array: "array of objects",
  "date-time": "timestamp",
  email: "email address",
  integer: "whole number",
};
const numberFormat = new Intl.NumberFormat("en");

/** Return the schema, or the schema that it refers to. */
export function resolve(document, schema) {
  if (!schema.$ref) return schema;
  return schema.$ref
    .slice(2)
    .split("/")
    .reduce((node, name) => node[name], document);
}

/** Join choices with "or". The prefix applies to a single choice. */
function orList(choices, prefix = "") {
  if (choices.length < 2) return choices.map((choice) => prefix + choice).join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

function rangeText(min, max, singular = "", plural = "") {
  const withUnit = (number) => `${numberFormat.format(number)} ${number === 1 ? singular : plural}`.trim();
  if (max === undefined) return min === undefined ? "" : `at least ${withUnit(min)}`;
  if (min === undefined) return `at most ${withUnit(max)}`;
  return min === max ? "" : `${numberFormat.format(min)} to ${withUnit(max)}`;
}

/** Return the type of a schema in words. */
export function typeName(schema) {
  if (schema.anyOf && !schema.type) return orList(schema.anyOf.map(typeName));
  if (schema.items?.type === "string") return "array of strings";
  const type = schema.format ?? schema.type ?? "object";
  return TYPE_NAMES[type] ?? type;
}

/** Describe the constraints of a schema. Its description covers the pattern. */
export function constraintText(schema) {
  const constraints = [
    "exclusiveMinimum" in schema && `more than ${numberFormat.format(schema.exclusiveMinimum)}`,
    orList(
      (schema.enum ?? []).map((value) => `\`${value}\``),
      "always ",
    ),
    rangeText(schema.minLength, schema.maxLength, "character", "characters"),
    rangeText(schema.minimum, schema.maximum),
    rangeText(schema.minItems, schema.maxItems, "entry", "entries"),
    rangeText(undefined, schema.maxProperties, "member", "members"),
    "default" in schema && `by default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter(Boolean)
    .join(", ");
  return constraints && `${constraints[0].toUpperCase()}${constraints.slice(1)}.`;
}

/** Return text whose words between backticks are code elements. */
export function withInlineCode(text) {
  return text.split("`").map((piece, index) => (index % 2 ? h("code", {}, piece) : piece));
}

/** Return a name that can wrap between its words. */
export function breakableName(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])|(?<=[_.])/).flatMap((piece, index) => (index ? [h("wbr"), piece] : [piece]));
}

export const badge = (text) => h("span", { class: "chip" }, text);

/** Return the badges of an operation. Most operations have none. */
export const badges = (method) => [
  !method["x-extension"] && [" ", badge("core")],
  !method["x-needs-token"] && [" ", badge("no token")],
];

/** Return the parameters of an example by name. */
export function paramsOf(example) {
  return Object.fromEntries((example?.params ?? []).map(({ name, value }) => [name, value]));
}

/** List the members of an object, or of the objects in an array, with their members. */
function fieldList(document, schema) {
  const objectSchema = resolve(document, schema.items ?? schema);
  const members = Object.entries(objectSchema.properties ?? {});
  if (!members.length) return null;
  return h(
    "dl",
    { class: "field-list" },
    members.map(([name, member]) => {
      const note = !objectSchema.required?.includes(name) && "optional";
      const description = resolve(document, member).description ?? "";
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakableName(name)),
          " ",
          h("span", { class: "muted" }, [typeName(member), note].filter(Boolean).join(", ")),
        ),
        h(
          "dd",
          {},
          h("p", {}, withInlineCode([description, constraintText(member)].filter(Boolean).join(" "))),
          fieldList(document, member),
        ),
      );
    }),
  );
}

function reasonList(document, method) {
  return h(
    "dl",
    { class: "field-list" },
    method["x-reasons"].map((name) => {
      const reason = document["x-reasons"][name];
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakableName(name)),
          " ",
          h("span", { class: "muted" }, `${reason.code}, HTTP ${reason.httpStatus}`),
        ),
        h("dd", {}, h("p", {}, withInlineCode(reason.description))),
      );
    }),
  );
}

function exampleDetails(method, { name, params, result }) {
  const request = { jsonrpc: "2.0", id: 1, method: method.name, params: paramsOf({ params }) };
  return h(
    "details",
    {},
    h("summary", {}, `Example: ${name}`),
    h("h4", {}, "Request"),
    codeBlock(`Request of ${name}`, toJson(request)),
    h("h4", {}, "Result"),
    codeBlock(`Result of ${name}`, toJson(result.value)),
  );
}

export function reference(document, method) {
  return h(
    "section",
    { class: "operation-reference", "aria-label": "Reference" },
    h("h3", {}, "Parameters"),
    fieldList(document, method["x-params"]) ?? h("p", { class: "muted" }, "None."),
    h("h3", {}, "Result"),
    h("p", {}, withInlineCode(method.result.description)),
    h(
      "details",
      {},
      h("summary", {}, "Result fields"),
      fieldList(document, method.result.schema) ?? h("p", {}, "An OpenRPC document."),
    ),
    h("details", {}, h("summary", {}, `Error reasons (${method["x-reasons"].length})`), reasonList(document, method)),
    method.examples.map((example) => exampleDetails(method, example)),
  );
}
