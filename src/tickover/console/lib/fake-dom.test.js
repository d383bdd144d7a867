// A small document for tests of modules that draw. Import it before them. All characters of a text are 7 pixels wide.

import { parseParams } from "../clock/clock-model.js";
import { DAY } from "./instants.js";

class FakeElement {
  #attributes = new Map();
  #parent = null;
  childNodes = [];

  constructor(name) {
    this.name = name;
  }

  get children() {
    return this.childNodes.filter((node) => node instanceof FakeElement);
  }

  get textContent() {
    return this.childNodes.map((node) => node.textContent ?? node).join("");
  }

  set textContent(text) {
    this.childNodes = [text];
  }

  get classList() {
    const names = new Set((this.getAttribute("class") ?? "").split(" "));
    return {
      toggle: (name, isOn) => {
        if (isOn) names.add(name);
        else names.delete(name);
        this.setAttribute("class", [...names].join(" "));
      },
    };
  }

  append(...nodes) {
    for (const node of nodes) if (node instanceof FakeElement) node.#parent = this;
    this.childNodes.push(...nodes);
  }

  appendChild(node) {
    this.append(node);
    return node;
  }

  replaceChildren() {
    this.childNodes = [];
  }

  remove() {
    this.#parent.childNodes = this.#parent.childNodes.filter((node) => node !== this);
  }

  setAttribute(name, value) {
    this.#attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }

  removeAttribute(name) {
    this.#attributes.delete(name);
  }

  /** Accepts a name, classes, or both: `path`, `.holds.past` or `path.zero`. */
  matches(selector) {
    const [name, ...classes] = selector.split(".");
    const own = (this.getAttribute("class") ?? "").split(" ");
    return (name === "" || name === this.name) && classes.every((name) => own.includes(name));
  }

  /** Accepts compound selectors of ancestors and descendants: `.lane.income path`. */
  querySelectorAll(selector) {
    const [first, ...rest] = selector.split(" ");
    const all = this.children.flatMap((child) => [child, ...child.querySelectorAll("")]);
    const found = first ? all.filter((element) => element.matches(first)) : all;
    return rest.length ? found.flatMap((element) => element.querySelectorAll(rest.join(" "))) : found;
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  getContext() {
    return { measureText: (text) => ({ width: 7 * text.length }) };
  }
}

globalThis.document = {
  body: new FakeElement("body"),
  createElement: (name) => new FakeElement(name),
  createElementNS: (_, name) => new FakeElement(name),
};
globalThis.getComputedStyle = () => ({ fontFamily: "sans-serif" });

export const newSvg = () => new FakeElement("svg");

/** Return the numbers in attributes of an element. */
export const numbers = (element, ...names) => names.map((name) => Number(element.getAttribute(name)));

/** Return random numbers that are the same in every run. */
export function randomNumbers(seed) {
  let state = seed;
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * limit);
  };
}

export const START = Date.parse("2027-01-01T00:00:00Z");

/** Return the timestamp of a day after START. */
export const onDay = (day) => new Date(START + day * DAY).toISOString().replace(".000", "");

/** Return an expense of 10 EUR. */
export const rent = (day, changes = {}) => ({
  name: "Rent",
  type: "EXPENSE",
  amount: 10,
  currency: "EUR",
  at: onDay(day),
  ...changes,
});

export const TRIP = { name: "Trip", targetAmount: 9, contributions: [{ amount: 1, at: onDay(11) }] };

/** Return a clock that starts at START. */
export const newModel = (transactions, goals = [], params = {}) =>
  parseParams({ frozenTime: onDay(0), transactions, goals, ...params });
