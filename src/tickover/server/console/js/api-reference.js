// The reference of one operation, made from the OpenRPC document.

import { codeBlock, toJson } from "./code-block.js";
import { h, s } from "./dom.js";
import { breakableName, constraintText, resolve, typeName, withInlineCode } from "./schema-text.js";

export function keyIcon() {
  return s(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, class: "key-icon", "aria-hidden": "true" },
    s("path", {
      d: "M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.4-1.8H15M12 8.7v2.4M14.2 8.7v1.8",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.6,
    }),
  );
}

/** Return the badges of an operation. The short form shows a key instead of "needs a token". */
export function badges(method, { short = false } = {}) {
  const needsToken = short
    ? [keyIcon(), h("span", { class: "visually-hidden" }, "needs a token")]
    : h("span", { class: "chip" }, keyIcon(), " needs a token");
  return [method["x-extension"] && h("span", { class: "chip" }, "extension"), method["x-needs-token"] && needsToken];
}

/** Return the parameters of an example by name. */
export function paramsOf(example) {
  return Object.fromEntries((example?.params ?? []).map(({ name, value }) => [name, value]));
}

/** List the members of an object, or of the objects in an array, with their members. */
function fieldList(document, schema, isInput) {
  const objectSchema = resolve(document, schema.items ?? schema);
  const members = Object.entries(objectSchema.properties ?? {});
  if (!members.length) return null;
  return h(
    "dl",
    { class: "field-list" },
    members.map(([name, member]) => {
      const isRequired = objectSchema.required?.includes(name);
      const note = isInput ? isRequired && "required" : !isRequired && "optional";
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
          fieldList(document, member, isInput),
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
    { class: "card operation-reference", "aria-label": "Reference" },
    h("h3", {}, "Parameters"),
    fieldList(document, method["x-params"], true) ?? h("p", { class: "muted" }, "None."),
    h("h3", {}, "Result"),
    h("p", {}, withInlineCode(method.result.description)),
    h(
      "details",
      {},
      h("summary", {}, "Result fields"),
      fieldList(document, method.result.schema, false) ?? h("p", {}, "An OpenRPC document."),
    ),
    h("details", {}, h("summary", {}, `Error reasons (${method["x-reasons"].length})`), reasonList(document, method)),
    method.examples.map((example) => exampleDetails(method, example)),
  );
}
