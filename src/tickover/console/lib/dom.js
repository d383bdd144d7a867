// Builds elements. Text never becomes markup.

const isPresent = (value) => value !== undefined && value !== null && value !== false;

function append(node, children) {
  node.append(...children.flat(Infinity).filter(isPresent));
  return node;
}

/** Create the element of a selector with its content: properties, which are optional, and children. */
function build(selector, content, { create, assign }) {
  const [name, ...classes] = selector.split(".");
  const hasProperties = content[0]?.constructor === Object;
  const properties = hasProperties ? content[0] : {};
  const node = create(name);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  if (name === "button" && properties.onclick) node.type = "button";
  for (const [key, value] of Object.entries(properties)) {
    if (!isPresent(value)) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else assign(node, key, value);
  }
  return append(node, hasProperties ? content.slice(1) : content);
}

const HTML = {
  create: (name) => document.createElement(name),
  assign: (node, key, value) => {
    if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  },
};
const SVG = {
  create: (name) => document.createElementNS("http://www.w3.org/2000/svg", name),
  assign: (node, key, value) => node.setAttribute(key, value),
};

/**
 * Create an HTML element with a name, classes, properties and children: `h("button.primary", { onclick: go }, "Go")`. The
 * properties are optional. Children are nodes or strings. A button with `onclick` doesn't submit its form.
 */
export const h = (selector, ...content) => build(selector, content, HTML);

/** Create an SVG element. Properties are attributes, or listeners if they start with `on`. */
export const s = (selector, ...content) => build(selector, content, SVG);

/** Replace the content of a node. */
export function render(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

let lastId = 0;

/** Return a unique id for an element. */
export const newId = () => `e${++lastId}`;
