// Describes the JSON Schemas of the OpenRPC document in words, like the page at /docs.

import { h } from "./dom.js";

const KINDS = { array: "array of objects", "date-time": "timestamp", email: "e-mail address", integer: "whole number" };
const count = new Intl.NumberFormat("en");

/** A schema itself, wherever in the document it is. */
export function resolve(document, schema) {
  if (!schema.$ref) return schema;
  return schema.$ref
    .slice(2)
    .split("/")
    .reduce((found, name) => found[name], document);
}

function anyOf(choices, only = "") {
  if (choices.length < 2) return choices.map((choice) => only + choice).join("");
  return `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`;
}

function range(least, most, one = "", many = "") {
  const counted = (number) => `${count.format(number)} ${number === 1 ? one : many}`.trim();
  if (most === undefined) return least === undefined ? "" : `at least ${counted(least)}`;
  if (least === undefined) return `at most ${counted(most)}`;
  return least === most ? "" : `${count.format(least)} to ${counted(most)}`;
}

/** The type of a schema in a word or two. */
export function kindOf(schema) {
  if (schema.anyOf && !schema.type) return anyOf(schema.anyOf.map(kindOf));
  const kind = schema.format ?? schema.type ?? "object";
  return KINDS[kind] ?? kind;
}

/** The bounds of a schema. What a pattern asks for is in the description. */
export function rulesOf(schema) {
  const rules = [
    "exclusiveMinimum" in schema && `more than ${count.format(schema.exclusiveMinimum)}`,
    anyOf(
      (schema.enum ?? []).map((value) => `\`${value}\``),
      "always ",
    ),
    range(schema.minLength, schema.maxLength, "character", "characters"),
    range(schema.minimum, schema.maximum),
    range(undefined, schema.maxItems, "entry", "entries"),
    "default" in schema && `by default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter(Boolean)
    .join(", ");
  return rules && `${rules[0].toUpperCase()}${rules.slice(1)}.`;
}

/** Text in which some words stand between backticks; whatever else is in it stays text. */
export function prose(text) {
  return text.split("`").map((piece, at) => (at % 2 ? h("code", {}, piece) : piece));
}

/** A long name, which may be broken where a reader would break it. */
export function breakable(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])|(?<=[_.])/).flatMap((piece, at) => (at ? [h("wbr"), piece] : [piece]));
}
