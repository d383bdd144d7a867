// What pages are made of: elements, what is said, and tabs.

// Elements without markup: what is given as text stays text, whoever wrote it.

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

// Tabs, as the ARIA practices have them: one tab stop, arrow keys between the tabs, Home and End.

let made = 0;

/**
 * `tabs` are `{ title, build }`, where `build()` gives what a tab shows, each time that it is chosen. `mayLeave`, if it is
 * given, is asked before another is chosen. The element has a method `choose(number)`.
 */
export function tabList(label, tabs, { chosen = 0, mayLeave = () => true } = {}) {
  const id = `tabs-${++made}`;
  const panel = h("div", { role: "tabpanel", id, class: "tab-panel" });
  let current = chosen;

  const buttons = tabs.map(({ title }, number) =>
    h(
      "button",
      { type: "button", role: "tab", id: `${id}-${number}`, "aria-controls": id, onclick: () => choose(number) },
      title,
    ),
  );

  function choose(number, { force = false } = {}) {
    if (!force && (number === current || !mayLeave(current, number))) return;
    current = number;
    buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === number));
      button.tabIndex = at === number ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `${id}-${number}`);
    show(panel, tabs[number].build());
  }

  function onkeydown(event) {
    const last = buttons.length - 1;
    const next = {
      ArrowRight: current === last ? 0 : current + 1,
      ArrowLeft: current === 0 ? last : current - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(next);
    buttons[current].focus();
  }

  choose(chosen, { force: true });
  const list = h("div", { role: "tablist", "aria-label": label, class: "tab-list", onkeydown }, buttons);
  return Object.assign(h("div", { class: "tabs" }, list, panel), { choose });
}
