// Builds elements and shows notifications.

const SVG = "http://www.w3.org/2000/svg";

const isGiven = (value) => value !== undefined && value !== null && value !== false;

function append(node, children) {
  node.append(...children.flat(Infinity).filter(isGiven));
  return node;
}

/** An HTML element: `h("button", { class: "primary", onclick: go }, "Go")`. Children are nodes or texts. */
export function h(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (!isGiven(value)) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  return append(node, children);
}

/** The same for SVG; all properties are attributes, or listeners if they begin with `on`. */
export function s(name, properties = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(properties)) {
    if (!isGiven(value)) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  return append(node, children);
}

/** Show these in the place of whatever was in the node. */
export function show(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Say it to everybody: on the page, and aloud to those who listen to it. An error stays until the next. */
export function say(sentence, { error = false } = {}) {
  const line = document.getElementById("said");
  line.classList.toggle("error", error);
  line.textContent = sentence;
}

/** Copy, and say what was copied. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    say("Your browser does not let this page copy.", { error: true });
  }
}

/** Do the work while the button cannot be pressed again. A disabled button loses the focus; it gets it back. */
export async function whileBusy(button, work) {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
    if (hadFocus && button.isConnected && [null, document.body].includes(document.activeElement)) button.focus();
  }
}

/** Return a submit listener that runs `work` and keeps the browser from sending the form. */
export const onSubmit = (work) => (event) => {
  event.preventDefault();
  work();
};

let lastId = 0;

/** An id for an element, which no other has. */
export const newId = () => `e${++lastId}`;
