// The reference of one operation, made from the OpenRPC document.

import { h, s } from "./dom.js";
import { breakable, kindOf, prose, resolve, rulesOf } from "./schema-text.js";

export function key() {
  return s(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, class: "key", "aria-hidden": "true" },
    s("path", {
      d: "M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 2.4-1.8H15M12 8.7v2.4M14.2 8.7v1.8",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.6,
    }),
  );
}

/** Whether an operation was added to the interface, and whether it needs a token; where there is little room, as a key. */
export function badges(method, { short = false } = {}) {
  const needsToken = short
    ? [key(), h("span", { class: "unseen" }, "needs a token")]
    : h("span", { class: "badge" }, key(), " needs a token");
  return [method["x-extension"] && h("span", { class: "badge" }, "extension"), method["x-needs-token"] && needsToken];
}

/** The example's parameters by name. */
export function paramsOf(example) {
  return Object.fromEntries((example?.params ?? []).map(({ name, value }) => [name, value]));
}

/** The members of an object, or of the objects in an array, with the members that they have themselves. */
function fields(document, schema, isSent) {
  const found = resolve(document, schema.items ?? schema);
  const members = Object.entries(found.properties ?? {});
  if (!members.length) return null;
  return h(
    "dl",
    { class: "fields" },
    members.map(([name, member]) => {
      const isRequired = found.required?.includes(name);
      const mark = isSent ? isRequired && "required" : !isRequired && "may be left out";
      const about = resolve(document, member).description ?? "";
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakable(name)),
          " ",
          h("span", { class: "quiet" }, [kindOf(member), mark].filter(Boolean).join(", ")),
        ),
        h(
          "dd",
          {},
          h("p", {}, prose([about, rulesOf(member)].filter(Boolean).join(" "))),
          fields(document, member, isSent),
        ),
      );
    }),
  );
}

function reasons(document, method) {
  return h(
    "dl",
    { class: "fields reasons" },
    method["x-reasons"].map((name) => {
      const about = document["x-reasons"][name];
      return h(
        "div",
        {},
        h(
          "dt",
          {},
          h("code", {}, breakable(name)),
          " ",
          h("span", { class: "quiet" }, `${about.code}, HTTP ${about.httpStatus}`),
        ),
        h("dd", {}, h("p", {}, prose(about.description))),
      );
    }),
  );
}

export function example(method, { name, params, result }) {
  const request = { jsonrpc: "2.0", id: 1, method: method.name, params: paramsOf({ params }) };
  // The answer of rpc.discover is the document itself, which is all around it.
  const answer =
    method.name === "rpc.discover"
      ? "The document that this page is made from."
      : JSON.stringify(result.value, null, 2);
  return h(
    "details",
    {},
    h("summary", {}, `Example: ${name}`),
    h("h4", {}, "Request"),
    h("pre", {}, JSON.stringify(request, null, 2)),
    h("h4", {}, "Result"),
    h("pre", { class: "tall", tabindex: "0", role: "region", "aria-label": `Result of ${name}` }, answer),
  );
}

export function reference(document, method) {
  return h(
    "section",
    { class: "card reference-of", "aria-label": "Reference" },
    h("h3", {}, "Parameters"),
    fields(document, method["x-params"], true) ?? h("p", { class: "quiet" }, "None."),
    h("h3", {}, "Result"),
    h("p", {}, prose(method.result.description)),
    h(
      "details",
      {},
      h("summary", {}, "Fields of the result"),
      fields(document, method.result.schema, false) ?? h("p", {}, "An OpenRPC document."),
    ),
    h("details", {}, h("summary", {}, `Reasons to refuse (${method["x-reasons"].length})`), reasons(document, method)),
    method.examples.map((one) => example(method, one)),
  );
}
