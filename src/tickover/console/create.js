// Creating a clock, once: whoever presses twice, or again because an answer was lost, gets the same clock.

import { smallCurve } from "./chart.js";
import { h, newId, say, show, whileBusy } from "./dom.js";
import { formatWait } from "./format.js";
import { addMonths, HOUR, readParams, startOfDay } from "./model.js";
import { Away, call, Refusal } from "./rpc.js";
import { rename, scenarios } from "./site.js";

const MOST_LISTED = 20;
let lost = { text: null, key: null };
let isUnderWay = false;

// Without https, and elsewhere than on this machine, browsers have no randomUUID.
const newKey = () => crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Create it, name it in this browser, and go there. Throws Refusal or Away. */
export async function createClock(params, name) {
  if (isUnderWay) return;
  isUnderWay = true;
  const text = JSON.stringify(params);
  const key = lost.text === text ? lost.key : newKey();
  lost = { text, key };
  try {
    const { clock } = await call("createTestClock", params, { headers: { "Idempotency-Key": key } });
    lost = { text: null, key: null };
    if (name) rename(clock.id, name);
    location.hash = `#/clock/${clock.id}`;
  } finally {
    isUnderWay = false;
  }
}

/** What to tell a person whose clock was not created. */
export function whyNotCreated(error) {
  if (error instanceof Away) return "The server cannot be reached. Try again when it runs; you will not get two clocks.";
  if (!(error instanceof Refusal)) throw error;
  if (error.reason === "RATE_LIMITED") {
    return `You have as many clocks as you may. The oldest expires in ${formatWait(error.data.retryAfterSeconds * 1000)}; to make room now, delete one.`;
  }
  if (error.reason === "INVALID_PARAMS") return `The server refused ${error.data.errors.length === 1 ? "one field" : `${error.data.errors.length} fields`}.`;
  return error.message;
}

/** The faults that it named, each `{ path, message }`, or none. */
export const faultsOf = (error) => (error instanceof Refusal && error.reason === "INVALID_PARAMS" ? error.data.errors : []);

/** Faults with their paths, the first of them if they are very many. */
export function faultList(faults) {
  const rest = faults.length - MOST_LISTED;
  return faults.length > 0 && h("ul", { class: "faults" },
    faults.slice(0, MOST_LISTED).map(({ path, message }) => h("li", {}, h("code", {}, path), ` ${message}`)), rest > 0 && h("li", {}, `and ${rest} more`));
}

// A clock from JSON: what createTestClock takes, as it is.

/** `draft` is `{ name, params }`; what is written is kept in it as far as it is JSON. */
export function jsonForm(draft) {
  const outcome = h("div", { role: "alert", id: newId() });
  const text = h("textarea", { id: newId(), class: "mono", rows: 18, spellcheck: "false", "aria-describedby": outcome.id }, JSON.stringify(draft.params, null, 2));
  const button = h("button", { class: "primary" }, "Create clock");

  function refuse(sentence, faults = []) {
    if (sentence) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    show(outcome, sentence && h("p", { class: "error" }, sentence),
      faultList(faults));
    if (sentence) text.focus();
  }

  function read() {
    const params = JSON.parse(text.value);
    if (params === null || typeof params !== "object" || Array.isArray(params)) throw new SyntaxError("the parameters are an object, in braces");
    return params;
  }

  async function create() {
    refuse("");
    let params;
    try {
      params = read();
    } catch (error) {
      refuse(`This is not JSON that createTestClock takes: ${error.message}.`);
      return;
    }
    try {
      await createClock(params, draft.name);
    } catch (error) {
      refuse(whyNotCreated(error), faultsOf(error));
    }
  }

  text.addEventListener("input", () => {
    try {
      draft.params = read();
    } catch {
      // Half-written; the draft stays as it was.
    }
  });
  return h("form", { class: "card create", noValidate: true, onsubmit: (event) => (event.preventDefault(), whileBusy(button, create)) },
    outcome, h("div", {}, h("label", { for: text.id }, "Parameters of createTestClock"), text),
    h("div", { class: "row" }, button, h("a", { href: "#/api/createTestClock" }, "What they mean")));
}

// A clock from a form. The server judges what is written, and its faults are shown at their fields.

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];
const MOST = { transactions: 100, goals: 25, contributions: 100 };

// A field for date and time knows no zones, and simulated time is in UTC.
const toField = (timestamp) => {
  const instant = Date.parse(timestamp ?? "");
  return Number.isNaN(instant) ? "" : new Date(instant).toISOString().slice(0, 19).replace(/:00$/, "");
};
const fromField = (text) => (text.length === 16 ? `${text}:00Z` : `${text}Z`);

// What is no number goes to the server as it is, which says so.
const toNumber = (text) => {
  const number = Number(text.replace(",", "."));
  return text && Number.isFinite(number) ? number : text;
};

/** A month after the last, on its last day if need be; or on the first morning of the clock. */
function likelyTime(last, start) {
  return new Date(last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR).toISOString();
}

/** A field with its label and a place for its fault. `read()` gives what it holds, or undefined if that is nothing. */
function field(key, label, control, read = (text) => text) {
  const fault = h("p", { class: "error fault", id: newId() });
  control.id = newId();
  control.setAttribute("aria-describedby", fault.id);
  const element = h("div", { class: `cell ${key}` }, h("label", { for: control.id }, label), control, fault);
  return Object.assign(element, {
    key,
    read: () => (control.value === "" ? undefined : read(control.value)),
    complain(sentence) {
      fault.textContent = sentence;
      if (sentence) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
      if (sentence) control.title = sentence;
      else control.removeAttribute("title");
    },
    focusOn: () => control.focus(),
  });
}

const text = (value, more = {}) => h("input", { type: "text", autocomplete: "off", value: value === undefined ? "" : String(value), ...more });
const amount = (value, more = {}) => text(value, { inputMode: "decimal", ...more });
const when = (value) => h("input", { type: "datetime-local", value: toField(value), max: "9999-12-31T23:59", step: toField(value).length > 16 && "1" });

/**
 * Entries that can be added and removed. `make(entry, before, start)` gives a row with `fields`; an entry that is added by
 * hand is undefined, `before` is the row before it, and start() is when the clock begins.
 */
function rows(key, { title, add, hint }, make, start) {
  const list = h("ol", { class: `rows ${key}` });
  const all = [];
  const button = h("button", { type: "button", onclick: () => append(undefined, true) }, add);
  const empty = h("p", { class: "quiet" }, hint);

  function refresh() {
    empty.hidden = all.length > 0;
    button.disabled = all.length >= MOST[key];
  }

  function remove(row) {
    const index = all.indexOf(row);
    all.splice(index, 1);
    row.element.remove();
    refresh();
    (all[Math.min(index, all.length - 1)]?.removal ?? button).focus();
  }

  function append(entry, byHand = false) {
    const row = make(entry, all.at(-1), start);
    row.removal = h("button", { type: "button", class: "plain removal", "aria-label": `Remove this of ${title.toLowerCase()}`, title: "Remove", onclick: () => remove(row) }, "✕");
    row.element = h("li", {}, h("div", { class: "cells" }, row.fields, row.removal), row.more);
    all.push(row);
    list.append(row.element);
    refresh();
    if (byHand) row.fields[0].focusOn();
  }

  refresh();
  return { element: h("fieldset", {}, h("legend", {}, title), empty, list, button), all, append };
}

function read({ fields, contributions }) {
  const entries = fields.map((one) => [one.key, one.read()]).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(entries), ...(contributions?.all.length && { contributions: contributions.all.map(read) }) };
}

// A draft that was written as JSON may be anything.
const listOf = (given) => (Array.isArray(given) ? given.filter((entry) => entry && typeof entry === "object") : []);

function transaction(entry, before, start) {
  const last = before && read(before);
  const { at, name, amount: sum, currency, type, category } = entry ?? { at: last?.at ?? likelyTime(null, start()), currency: last?.currency ?? "EUR" };
  const letters = text(currency, { maxLength: 3, list: "currencies", autocapitalize: "characters", spellcheck: "false", oninput: (event) => (event.target.value = event.target.value.toUpperCase()) });
  const kind = h("select", {}, [["EXPENSE", "Expense"], ["INCOME", "Income"]].map(([value, label]) => h("option", { value, selected: value === type }, label)));
  return {
    fields: [
      field("name", "Name", text(name)), field("type", "Type", kind), field("amount", "Amount", amount(sum), toNumber), field("currency", "Currency", letters),
      field("category", "Category", text(category, { placeholder: "optional" })), field("at", "When (UTC)", when(at), fromField),
    ],
  };
}

function goal(entry, before, start) {
  const { name, targetAmount, initialAmount, contributions = [] } = entry ?? {};
  const list = rows("contributions", { title: "Contributions", add: "Add a contribution", hint: "" }, contribution, start);
  listOf(contributions).forEach((one) => list.append(one));
  return {
    fields: [
      field("name", "Name", text(name)), field("targetAmount", "Target", amount(targetAmount), toNumber),
      field("initialAmount", "Saved already", amount(initialAmount, { placeholder: "0" }), toNumber),
    ],
    contributions: list,
    more: list.element,
  };
}

function contribution(entry, before, start) {
  const last = before && read(before);
  const { at, amount: sum } = entry ?? { at: likelyTime(last?.at, start()), amount: last?.amount };
  return { fields: [field("amount", "Amount", amount(sum), toNumber), field("at", "When (UTC)", when(at), fromField)] };
}

/** `draft` is `{ name, params }`; what is written is kept in it. */
export function createForm(draft) {
  const { frozenTime, transactions = [], goals = [] } = draft.params;
  const name = field("clock-name", "Name of the clock", text(draft.name, { placeholder: "optional; stays in this browser" }));
  const start = field("frozenTime", "Starts at (UTC)", when(frozenTime), fromField);
  const money = rows("transactions", { title: "Transactions", add: "Add a transaction", hint: "Salaries, rents, and whatever else comes and goes." }, transaction, start.read);
  const saving = rows("goals", { title: "Goals", add: "Add a goal", hint: "What is saved for, with what is put aside and when." }, goal, start.read);
  listOf(transactions).forEach((entry) => money.append(entry));
  listOf(goals).forEach((entry) => saving.append(entry));
  const outcome = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, "Create clock");

  const params = () => ({
    ...(start.read() && { frozenTime: start.read() }),
    ...(money.all.length && { transactions: money.all.map(read) }),
    ...(saving.all.length && { goals: saving.all.map(read) }),
  });

  /** Every field with the path by which the server calls it. */
  function* paths() {
    yield ["frozenTime", start];
    for (const [key, list] of [["transactions", money], ["goals", saving]]) yield* pathsOf(key, list);
  }

  function* pathsOf(key, list) {
    for (const [index, row] of list.all.entries()) {
      for (const one of row.fields) yield [`${key}[${index}].${one.key}`, one];
      if (row.contributions) yield* pathsOf(`${key}[${index}].contributions`, row.contributions);
    }
  }

  function refuse(sentence, faults = []) {
    const byPath = new Map(faults.map(({ path, message }) => [path, message]));
    let first = null;
    for (const [path, one] of paths()) {
      one.complain(byPath.get(path) ?? "");
      if (byPath.delete(path)) first ??= one;
    }
    show(outcome, sentence && h("p", { class: "error" }, sentence, first && " Look at the marked fields."),
      faultList([...byPath].map(([path, message]) => ({ path, message }))));
    first?.focusOn();
  }

  async function create() {
    refuse("");
    try {
      await createClock(params(), name.read());
    } catch (error) {
      refuse(whyNotCreated(error), faultsOf(error));
    }
  }

  const keep = () => Object.assign(draft, { name: name.read() ?? "", params: params() });
  return h("form", { class: "card create", noValidate: true, oninput: keep, onclick: keep, onsubmit: (event) => (event.preventDefault(), whileBusy(button, create)) },
    h("datalist", { id: "currencies" }, CURRENCIES.map((value) => h("option", { value }))),
    h("div", { class: "cells head" }, name, start),
    h("p", { class: "quiet" }, "Without a start the clock begins now. It ends ten years after its start; all that happens lies between the two."),
    money.element, saving.element, h("div", { class: "row finish" }, button, outcome));
}

// The scenarios, each with its curve and a button that makes a clock of it.

// The plainest is shown first, and the one that no person would live last.
const RANKS = { "salary-and-rent": -1, limits: 1 };
const rank = ({ name }) => RANKS[name] ?? 0;

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function contents(model) {
  const transactions = model.items.filter((item) => item.kind !== "goal").length;
  return [counted(transactions, "transaction"), model.goals.length && counted(model.goals.length, "goal"), model.currencies.join(", ")].filter(Boolean).join(" · ");
}

function card({ title, about, params }, edit) {
  const model = readParams(params);
  const button = h("button", { type: "button", class: "primary" }, "Create", h("span", { class: "unseen" }, ` ${title}`));
  button.addEventListener("click", () => whileBusy(button, async () => {
    try {
      await createClock(params, title);
    } catch (error) {
      say(whyNotCreated(error), { error: true });
    }
  }));
  return h("li", { class: "card scenario" },
    h("h2", {}, title), h("p", {}, about), smallCurve(model, { width: 320, height: 72 }), h("p", { class: "quiet" }, contents(model)),
    h("div", { class: "row" }, button, h("button", { type: "button", onclick: () => edit({ name: title, params }) }, "Edit first", h("span", { class: "unseen" }, `: ${title}`))));
}

/** `edit({ name, params })` is called for those who want to change a scenario before they make a clock of it. */
export function gallery(edit) {
  const place = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
  const load = async () => {
    try {
      const all = (await scenarios()).toSorted((one, other) => rank(one) - rank(other));
      show(place, h("ul", { class: "cards" }, all.map((scenario) => card(scenario, edit))));
    } catch {
      const again = h("button", { type: "button" }, "Try again");
      again.addEventListener("click", () => whileBusy(again, load));
      show(place, h("div", { class: "card row" }, h("p", { role: "alert" }, "The scenarios cannot be loaded. Is the server running?"), again));
    }
  };
  load();
  return place;
}
