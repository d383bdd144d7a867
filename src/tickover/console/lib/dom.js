// Builds elements, shows messages, and copies and saves texts. Text never becomes markup.

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

export const nowrap = (text) => h("span.nowrap", text);

/** Keep each sign in a text with its amount. Browsers can break a line before the symbol of a currency. */
export const withAmounts = (text) =>
  text.split(/([−+]\p{Sc}\S+)/u).map((part, index) => (index % 2 ? nowrap(part) : part));

const NOTIFICATION_MS = 4_000;
const ERROR_MS = 10_000;
let notificationTimer = 0;

/** Show a message over the page for some seconds. Screen readers announce it. */
export function notify(message, { error = false } = {}) {
  const notification = document.getElementById("notification");
  notification.classList.toggle("error", error);
  notification.classList.toggle("shown", message !== "");
  render(notification, withAmounts(message));
  clearTimeout(notificationTimer);
  notificationTimer = setTimeout(() => notification.classList.remove("shown"), error ? ERROR_MS : NOTIFICATION_MS);
}

/** A message on a page that stays until it is hidden, with buttons or links. */
export class Notice {
  #message = "";

  constructor() {
    this.element = h("div.card.notice", { role: "alert", hidden: true });
  }

  show(message, ...actions) {
    // A screen reader would announce the same message again.
    if (message === this.#message && !this.element.hidden) return;
    this.#message = message;
    const hadFocus = this.element.contains(document.activeElement);
    render(this.element, h("p", message), actions.length > 0 && h("div.row", actions));
    this.element.hidden = false;
    if (hadFocus) actions[0].focus();
  }
}

/** Copy text to the clipboard. `description` completes "Copied …". */
export async function copyText(text, description) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${description}.`);
  } catch {
    notify("Your browser doesn't allow this page to copy.", { error: true });
  }
}

/** Let the browser save a text. */
export function downloadFile({ fileName, mediaType, text }) {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = h("a", { href: url, download: fileName });
  link.click();
  URL.revokeObjectURL(url);
}

/** Let the user choose a file and return it. If they choose none, the promise stays pending. */
export const chooseFile = (accept) =>
  new Promise((resolve) =>
    h("input", { type: "file", accept, onchange: ({ target }) => resolve(target.files[0]) }).click(),
  );

/** Call `onFile(file)` for a file that is dropped on a node. */
export function onFileDrop(node, onFile) {
  const hasFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  const mark = (isOver) => node.classList.toggle("drop-target", isOver);
  node.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  node.addEventListener("dragleave", () => mark(false));
  node.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(false);
    onFile(event.dataTransfer.files[0]);
  });
}

/** Disable a button while `work` runs. A disabled button loses the focus, so restore it afterwards. */
export async function withBusyState(button, work) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
    if (hadFocus && button.isConnected && [null, document.body].includes(document.activeElement))
      button.focus({ preventScroll: true });
  }
}

/** Create a button that is disabled while its work runs. */
export const busyButton = (selector, text, work) =>
  h(selector, { onclick: ({ currentTarget }) => withBusyState(currentTarget, work) }, text);

/** Return a submit listener that runs `work` and keeps the browser from sending the form. */
export const onSubmit = (work) => (event) => {
  event.preventDefault();
  work();
};

/** Return the position to which a key moves the focus in a list of some length, or undefined. */
export function nextPosition(key, [previous, next], current, length) {
  if (key === previous) return (current + length - 1) % length;
  if (key === next) return (current + 1) % length;
  return { Home: 0, End: length - 1 }[key];
}

let lastId = 0;

/** Return a unique id for an element. */
export const newId = () => `e${++lastId}`;

/** Return the head of a table. Its columns have numbers from `firstNumber` on. `rows` follow the titles. */
export const tableHead = (titles, firstNumber, ...rows) => {
  const cell = (title, index) => h("th", { scope: "col", class: index < firstNumber ? undefined : "number" }, title);
  return h("thead", h("tr", titles.map(cell)), rows);
};
