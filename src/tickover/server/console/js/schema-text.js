// Describes the JSON Schemas of the OpenRPC document in words, like the page at /docs.

import { h } from "./dom.js";

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
