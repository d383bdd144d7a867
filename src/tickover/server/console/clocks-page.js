// The clocks of whoever is signed in, and the ways to make another.

import { smallCurve } from "./chart.js";
import { h, newId, onSubmit, say, show, tabList, whileBusy } from "./dom.js";
import { formatInstant, formatWait, locale } from "./format.js";
import { addMonths, DAY, HOUR, readClock, readParams, startOfDay } from "./model.js";
import { Away, call, nameOf, onEnd, Refusal, rename, scenarios, sessionCheck } from "./rpc.js";

// Creating a clock, once: whoever presses twice, or again because an answer was lost, gets the same clock.

const MOST_LISTED = 20;
let lost = { text: null, key: null };
let isUnderWay = false;
onEnd(() => (lost = { text: null, key: null }));

// Without https, and elsewhere than on this machine, browsers have no randomUUID.
const newKey = () =>
  crypto.randomUUID?.() ??
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Create it, name it in this browser, and go there, unless the person has gone elsewhere. Throws Refusal or Away. */
export async function createClock(params, name) {
  if (isUnderWay) {
    say("Another clock is being created. Wait for it, then press again.", { error: true });
    return;
  }
  isUnderWay = true;
  const page = document.getElementById("main").firstElementChild;
  const isSame = sessionCheck();
  const text = JSON.stringify(params);
  const key = lost.text === text ? lost.key : newKey();
  lost = { text, key };
  try {
    const { clock } = await call("createTestClock", params, { headers: { "Idempotency-Key": key } });
    lost = { text: null, key: null };
    if (!isSame()) return;
    if (name) rename(clock.id, name);
    if (page.isConnected) location.hash = `#/clock/${clock.id}`;
    else say(`${name || "The clock"} was created, and is among your clocks.`);
  } finally {
    isUnderWay = false;
  }
}

/** What to tell a person whose clock was not created. */
export function whyNotCreated(error) {
  if (error instanceof Away)
    return "The server cannot be reached. Try again when it runs; you will not get two clocks.";
  if (!(error instanceof Refusal)) throw error;
  if (error.reason === "RATE_LIMITED") {
    return `You have as many clocks as you may. The oldest expires in ${formatWait(error.data.retryAfterSeconds * 1000)}; to make room now, delete one.`;
  }
  if (error.reason === "INVALID_PARAMS")
    return `The server refused ${error.data.errors.length === 1 ? "one field" : `${error.data.errors.length} fields`}.`;
  return error.message;
}

/** The faults that it named, each `{ path, message }`, or none. */
export const faultsOf = (error) =>
  error instanceof Refusal && error.reason === "INVALID_PARAMS" ? error.data.errors : [];

/** Faults with their paths, the first of them if they are very many. */
function faultList(faults) {
  const rest = faults.length - MOST_LISTED;
  return (
    faults.length > 0 &&
    h(
      "ul",
      { class: "faults" },
      faults.slice(0, MOST_LISTED).map(({ path, message }) => h("li", {}, h("code", {}, path), ` ${message}`)),
      rest > 0 && h("li", {}, `and ${rest} more`),
    )
  );
}

const MOST = { transactions: 100, goals: 25, contributions: 100 };
const membersOf = (value) =>
  Object.keys(value).filter((name) => !(name in MOST && Array.isArray(value[name]) && !value[name].length));
const WHOLE_SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.0+)?(Z|[+-]\d\d:\d\d)$/;

/** Whether two parameters say the same: a moment may be written in more than one way, and no list is an empty one. */
export function saysSame(one, other) {
  if (one === other) return true;
  if (typeof one === "string" && typeof other === "string")
    return [one, other].every((text) => WHOLE_SECOND.test(text)) && Date.parse(one) === Date.parse(other);
  if (
    !one ||
    !other ||
    typeof one !== "object" ||
    typeof other !== "object" ||
    Array.isArray(one) !== Array.isArray(other)
  )
    return false;
  const names = membersOf(one);
  return (
    names.length === membersOf(other).length &&
    names.every((name) => Object.hasOwn(other, name) && saysSame(one[name], other[name]))
  );
}

// A clock from JSON: what createTestClock takes, as it is.

function readJson(text) {
  const params = JSON.parse(text.trim() || "{}");
  if (params === null || typeof params !== "object" || Array.isArray(params))
    throw new SyntaxError("the parameters are an object, in braces");
  return params;
}

/** Why the form cannot go on with what was written as JSON, or nothing if it can; then the draft has it. */
function whyNotInForm(draft) {
  if (draft.text === undefined) return "";
  let params;
  try {
    params = readJson(draft.text);
  } catch (error) {
    return `The form cannot read this, because it is not whole: ${error.message}.`;
  }
  if (!saysSame(createForm({ params }).params(), params))
    return "The form has no place for some of this. You can create the clock from here, as it is written.";
  draft.params = params;
  return "";
}

/** `draft` is `{ name, params, text }`; what is written is kept in it as text until the form changes it. */
function jsonForm(draft) {
  const outcome = h("div", { role: "alert", id: newId() });
  const text = h(
    "textarea",
    { id: newId(), class: "mono", rows: 18, spellcheck: "false", "aria-describedby": outcome.id },
    draft.text ?? JSON.stringify(draft.params, null, 2),
  );
  const button = h("button", { class: "primary" }, "Create clock");

  function refuse(sentence, faults = []) {
    if (sentence) text.setAttribute("aria-invalid", "true");
    else text.removeAttribute("aria-invalid");
    show(outcome, sentence && h("p", { class: "error" }, sentence), faultList(faults));
    if (sentence) text.focus();
  }

  async function create() {
    refuse("");
    let params;
    try {
      params = readJson(text.value);
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

  text.addEventListener("input", () => (draft.text = text.value));
  const form = h(
    "form",
    {
      class: "card create",
      noValidate: true,
      onsubmit: onSubmit(() => whileBusy(button, create)),
    },
    outcome,
    h("div", {}, h("label", { for: text.id }, "Parameters of createTestClock"), text),
    h("div", { class: "row" }, button, h("a", { href: "#/api/createTestClock" }, "What they mean")),
  );
  return Object.assign(form, { refuse });
}

// A clock from a form. The server judges what is written, and its faults are shown at their fields.

const CURRENCIES = ["EUR", "USD", "GBP", "CHF", "JPY"];

// A field for date and time knows no zones, and simulated time is in UTC.
const toField = (timestamp) => {
  const instant = Date.parse(timestamp ?? "");
  return Number.isNaN(instant) ? "" : new Date(instant).toISOString().slice(0, 19).replace(/:00$/, "");
};
const fromField = (text) => (text.length === 16 ? `${text}:00Z` : `${text}Z`);

const format = new Intl.NumberFormat(locale, { useGrouping: "always", numberingSystem: "latn" });
// Blanks and apostrophes have many shapes, and keyboards one of each.
const usual = (text) => text.trim().replace(/\s/g, " ").replace(/’/g, "'");

/** How a locale separates groups and fraction. */
const marksOf = (format) =>
  Object.fromEntries(format.formatToParts(1234567.8).map(({ type, value }) => [type, usual(value) || " "]));
const MARKS = marksOf(format);

/**
 * The number that a person has written as their locale does, or with a point; what may mean two numbers, or none, is given
 * back as it is.
 */
export function readAmount(text, { group = ",", decimal = "." } = MARKS) {
  const written = usual(text);
  const number = (whole) => (Number.isFinite(Number(whole)) ? Number(whole) : text);
  if (new RegExp(`^-?[1-9]\\d{0,2}(\\${group}\\d{3})+(\\${decimal}\\d+)?$`).test(written))
    return number(written.replaceAll(group, "").replace(decimal, "."));
  if (new RegExp(`^-?\\d+(\\${decimal}\\d+)?(e-\\d+)?$`).test(written)) return number(written.replace(decimal, "."));
  // With three digits behind it, elsewhere than where it is usual, a point may be meant to separate thousands.
  return /^-?\d+\.\d+(e-\d+)?$/.test(written) && !/^-?[1-9]\d{0,2}\.\d{3}$/.test(written) ? number(written) : text;
}

const writeAmount = (value) => (typeof value === "number" ? String(value).replace(".", MARKS.decimal) : value);

/** A month after the last, on its last day if need be; or on the first morning of the clock. */
function likelyTime(last, start) {
  return new Date(
    last ? addMonths(Date.parse(last), 1) : (Date.parse(start) || startOfDay(Date.now())) + 9 * HOUR,
  ).toISOString();
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

const text = (value, more = {}) =>
  h("input", { type: "text", autocomplete: "off", value: value === undefined ? "" : String(value), ...more });
const amount = (value, more = {}) => text(writeAmount(value), { inputMode: "decimal", ...more });
const when = (value) =>
  h("input", {
    type: "datetime-local",
    value: toField(value),
    max: "9999-12-31T23:59",
    step: toField(value).length > 16 && "1",
  });

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
    row.removal = h(
      "button",
      {
        type: "button",
        class: "plain removal",
        "aria-label": `Remove this of ${title.toLowerCase()}`,
        title: "Remove",
        onclick: () => remove(row),
      },
      "✕",
    );
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
  return {
    ...Object.fromEntries(entries),
    ...(contributions?.all.length && { contributions: contributions.all.map(read) }),
  };
}

// A draft that was written as JSON may be anything.
const listOf = (given) => (Array.isArray(given) ? given.filter((entry) => entry && typeof entry === "object") : []);

function transaction(entry, before, start) {
  const last = before && read(before);
  const {
    at,
    name,
    amount: sum,
    currency,
    type,
    category,
  } = entry ?? { at: last?.at ?? likelyTime(null, start()), currency: last?.currency ?? "EUR" };
  const letters = text(currency, {
    maxLength: 3,
    list: "currencies",
    autocapitalize: "characters",
    spellcheck: "false",
    oninput: (event) => (event.target.value = event.target.value.toUpperCase()),
  });
  const kind = h(
    "select",
    {},
    [
      ["EXPENSE", "Expense"],
      ["INCOME", "Income"],
    ].map(([value, label]) => h("option", { value, selected: value === type }, label)),
  );
  return {
    fields: [
      field("name", "Name", text(name)),
      field("type", "Type", kind),
      field("amount", "Amount", amount(sum), readAmount),
      field("currency", "Currency", letters),
      field("category", "Category", text(category, { placeholder: "optional" })),
      field("at", "When (UTC)", when(at), fromField),
    ],
  };
}

function goal(entry, _before, start) {
  const { name, targetAmount, initialAmount, contributions = [] } = entry ?? {};
  const list = rows(
    "contributions",
    { title: "Contributions", add: "Add a contribution", hint: "" },
    contribution,
    start,
  );
  listOf(contributions).forEach((one) => list.append(one));
  return {
    fields: [
      field("name", "Name", text(name)),
      field("targetAmount", "Target", amount(targetAmount), readAmount),
      field("initialAmount", "Saved already", amount(initialAmount, { placeholder: "0" }), readAmount),
    ],
    contributions: list,
    more: list.element,
  };
}

function contribution(entry, before, start) {
  const last = before && read(before);
  const { at, amount: sum } = entry ?? { at: likelyTime(last?.at, start()), amount: last?.amount };
  return {
    fields: [field("amount", "Amount", amount(sum), readAmount), field("at", "When (UTC)", when(at), fromField)],
  };
}

/** `draft` is `{ name, params, text }`; what is written is kept in it. */
function createForm(draft) {
  const { frozenTime, transactions = [], goals = [] } = draft.params;
  const name = field(
    "clock-name",
    "Name of the clock",
    text(draft.name, { placeholder: "optional; stays in this browser" }),
  );
  const start = field("frozenTime", "Starts at (UTC)", when(frozenTime), fromField);
  const money = rows(
    "transactions",
    { title: "Transactions", add: "Add a transaction", hint: "Salaries, rents, and whatever else comes and goes." },
    transaction,
    start.read,
  );
  const saving = rows(
    "goals",
    { title: "Goals", add: "Add a goal", hint: "What is saved for, with what is put aside and when." },
    goal,
    start.read,
  );
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
    for (const [key, list] of [
      ["transactions", money],
      ["goals", saving],
    ])
      yield* pathsOf(key, list);
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
    show(
      outcome,
      sentence && h("p", { class: "error" }, sentence, first && " Look at the marked fields."),
      faultList([...byPath].map(([path, message]) => ({ path, message }))),
    );
    first?.focusOn();
  }

  async function create() {
    const noNumbers = [...paths()].filter(([path, one]) => /amount$/i.test(path) && typeof one.read() === "string");
    refuse(
      noNumbers.length ? "Nothing was sent." : "",
      noNumbers.map(([path]) => ({ path, message: `must be a number, such as ${format.format(1234.5)}` })),
    );
    if (noNumbers.length) return;
    try {
      await createClock(params(), name.read());
    } catch (error) {
      refuse(whyNotCreated(error), faultsOf(error));
    }
  }

  let kept = params();
  const keep = () => {
    draft.name = name.read() ?? "";
    const now = params();
    if (saysSame(now, kept)) return;
    kept = now;
    Object.assign(draft, { params: now, text: undefined });
  };
  const form = h(
    "form",
    {
      class: "card create",
      noValidate: true,
      oninput: keep,
      onclick: keep,
      onsubmit: onSubmit(() => whileBusy(button, create)),
    },
    h(
      "datalist",
      { id: "currencies" },
      CURRENCIES.map((value) => h("option", { value })),
    ),
    h("div", { class: "cells head" }, name, start),
    h(
      "p",
      { class: "quiet" },
      "Without a start the clock begins now. It ends ten years after its start; all that happens lies between the two.",
    ),
    money.element,
    saving.element,
    h("div", { class: "row finish" }, button, outcome),
  );
  return Object.assign(form, { params });
}

// The scenarios, each with its curve and a button that makes a clock of it.

// The plainest is shown first, and the one that no person would live last.
const RANKS = { "salary-and-rent": -1, limits: 1 };
const rank = ({ name }) => RANKS[name] ?? 0;

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function contents(model) {
  const transactions = model.items.filter((item) => item.kind !== "goal").length;
  return [
    counted(transactions, "transaction"),
    model.goals.length && counted(model.goals.length, "goal"),
    model.currencies.join(", "),
  ]
    .filter(Boolean)
    .join(" · ");
}

function card({ title, about, params }, edit) {
  const model = readParams(params);
  const button = h(
    "button",
    { type: "button", class: "primary" },
    "Create",
    h("span", { class: "unseen" }, ` ${title}`),
  );
  button.addEventListener("click", () =>
    whileBusy(button, async () => {
      try {
        await createClock(params, title);
      } catch (error) {
        say(whyNotCreated(error), { error: true });
      }
    }),
  );
  return h(
    "li",
    { class: "card scenario" },
    h("h2", {}, title),
    h("p", {}, about),
    smallCurve(model, { width: 320, height: 72 }),
    h("p", { class: "quiet" }, contents(model)),
    h(
      "div",
      { class: "row" },
      button,
      h(
        "button",
        { type: "button", onclick: () => edit({ name: title, params }) },
        "Edit first",
        h("span", { class: "unseen" }, `: ${title}`),
      ),
    ),
  );
}

/** `edit({ name, params })` is called for those who want to change a scenario before they make a clock of it. */
function gallery(edit) {
  const place = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
  const load = async () => {
    try {
      const all = (await scenarios()).toSorted((one, other) => rank(one) - rank(other));
      show(
        place,
        h(
          "ul",
          { class: "cards" },
          all.map((scenario) => card(scenario, edit)),
        ),
      );
    } catch {
      const again = h("button", { type: "button" }, "Try again");
      again.addEventListener("click", () => whileBusy(again, load));
      show(
        place,
        h(
          "div",
          { class: "card row" },
          h("p", { role: "alert" }, "The scenarios cannot be loaded. Is the server running?"),
          again,
        ),
      );
    }
  };
  load();
  return place;
}

// <tick-clocks>: the cards, and the ways to make a clock.

const AT_ONCE = 3;

const GONE = { CLOCK_NOT_FOUND: "This clock was deleted.", CLOCK_EXPIRED: "This clock has expired." };

function firstOfMonth() {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString().replace(".000", "");
}

class ClocksPage extends HTMLElement {
  #title = h("h1", { tabIndex: -1 });
  #header = h("header", { class: "heading row" }, this.#title);
  #body = h("div");
  #leaving = new AbortController();
  #cards = new Map(); // by element: { clock, draw }
  #waiting = []; // cards that are seen and have no details yet
  #running = 0;
  #watcher = null;
  #timer = 0;

  connectedCallback() {
    this.#watcher = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "200px" });
    this.#timer = setInterval(() => this.#cards.forEach(({ drawExpiry }) => drawExpiry()), 30_000);
    if (this.argument === "new") this.#drawNew();
    else this.#load();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#watcher.disconnect();
    clearInterval(this.#timer);
  }

  /** The heading stays the same element, because it may have the focus. */
  #show(title, beside, ...content) {
    this.#title.textContent = title;
    [...this.#header.children].slice(1).forEach((child) => child.remove());
    if (beside) this.#header.append(beside);
    if (!this.#header.isConnected) show(this, this.#header, this.#body);
    show(this.#body, content);
  }

  async #load() {
    this.#show("Clocks", null, h("p", { class: "quiet" }, "Loading …"));
    try {
      const page = await call("listTestClocks", {}, { signal: this.#leaving.signal });
      if (page.clocks.length === 0) this.#drawFirst();
      else this.#drawCards(page);
    } catch (error) {
      this.#failed(error, () => this.#load(), this.#body);
    }
  }

  /** Whoever has been signed out sees that elsewhere; whoever has left does not care. */
  #failed(error, again, place) {
    if (this.#leaving.signal.aborted) return;
    if (!(error instanceof Away || error instanceof Refusal)) throw error;
    const retry = async () => {
      await whileBusy(button, again);
      if (document.activeElement === document.body) this.#title.focus();
    };
    const button = h("button", { type: "button", onclick: retry }, "Try again");
    show(place, h("div", { class: "card row" }, h("p", { role: "alert" }, error.message), button));
  }

  #drawFirst() {
    this.#show(
      "Start with a scenario",
      h(
        "p",
        { class: "quiet" },
        "Each makes a clock of your own, which you can move. Nothing here is real money, and a clock is deleted after seven days.",
      ),
      this.#ways(),
    );
  }

  #drawNew() {
    document.title = "New clock · Tickover";
    this.#show("New clock", h("a", { class: "aside", href: "#/clocks" }, "Back to your clocks"), this.#ways());
  }

  #ways() {
    const draft = { name: "", params: { frozenTime: firstOfMonth() } };
    const edit = (chosen) => {
      Object.assign(draft, structuredClone(chosen), { text: undefined });
      ways.choose(1);
      ways.querySelector("form input").focus();
    };
    let json;
    const mayLeave = (_from, to) => {
      const why = to === 1 && whyNotInForm(draft);
      if (!why) return true;
      // There the text can be mended, wherever somebody has come from.
      ways.choose(2, { force: true });
      json.refuse(why);
      return false;
    };
    const ways = tabList(
      "Ways to make a clock",
      [
        { title: "Scenarios", build: () => gallery(edit) },
        { title: "Form", build: () => createForm(draft) },
        { title: "JSON", build: () => (json = jsonForm(draft)) },
      ],
      { mayLeave },
    );
    return ways;
  }

  #drawCards({ clocks, nextCursor }) {
    const list = h("ul", { class: "cards" });
    const more = h("div", { class: "more" });
    this.#show("Clocks", h("a", { class: "button primary aside", href: "#/clocks/new" }, "New clock"), list, more);
    this.#add(list, more, clocks, nextCursor);
  }

  #add(list, more, clocks, nextCursor) {
    const cards = clocks.map((clock) => this.#card(clock));
    list.append(...cards);
    cards.forEach((card) => this.#watcher.observe(card));
    if (!nextCursor) {
      show(more);
      return cards;
    }
    const load = async () => {
      try {
        const page = await call("listTestClocks", { cursor: nextCursor }, { signal: this.#leaving.signal });
        const [first] = this.#add(list, more, page.clocks, page.nextCursor);
        first?.querySelector("a").focus();
        say(`${page.clocks.length} more clocks are shown.`);
      } catch (error) {
        this.#failed(error, load, more);
      }
    };
    const button = h("button", { type: "button", onclick: () => whileBusy(button, load) }, "More");
    show(more, button);
    return cards;
  }

  #card(clock) {
    const name = h("div", { class: "name" });
    const now = h("p", { class: "now" });
    const details = h("div", { class: "details" }, h("p", { class: "quiet" }, "…"));
    const expiry = h("p", { class: "expiry" });
    const card = h("li", { class: "card clock" }, name, now, details, expiry);

    const drawNow = ({ frozenTime }) => show(now, "Now ", h("strong", {}, formatInstant(Date.parse(frozenTime))));
    const drawExpiry = () => {
      const left = Date.parse(clock.expiresAt) - Date.now();
      const isSoon = left < DAY;
      expiry.classList.toggle("soon", isSoon);
      expiry.textContent =
        left <= 0 ? "▲ Expired" : `${isSoon ? "▲ Expires soon, in" : "Expires in"} ${formatWait(left)}`;
    };
    drawNow(clock);
    drawExpiry();
    this.#drawName(name, clock.id);
    this.#cards.set(card, { clock, details, drawNow, drawExpiry });
    return card;
  }

  #drawName(place, id, { focus = false } = {}) {
    const name = nameOf(id);
    const change = h(
      "button",
      {
        type: "button",
        class: "plain rename",
        "aria-label": `Rename ${name}`,
        title: "Rename",
        onclick: () => this.#editName(place, id),
      },
      "✎",
    );
    show(place, h("h2", {}, h("a", { href: `#/clock/${id}` }, name)), change);
    if (focus) change.focus();
  }

  #editName(place, id) {
    const input = h("input", { id: newId(), type: "text", value: nameOf(id), maxLength: 120, autocomplete: "off" });
    const finish = () => this.#drawName(place, id, { focus: true });
    const keep = (event) => {
      event.preventDefault();
      if (input.value !== nameOf(id)) rename(id, input.value);
      finish();
    };
    show(
      place,
      h(
        "form",
        { class: "row", onsubmit: keep, onkeydown: (event) => event.key === "Escape" && finish() },
        h("label", { for: input.id, class: "unseen" }, "Name of the clock, kept in this browser"),
        input,
        h("button", {}, "Keep"),
      ),
    );
    input.select();
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#watcher.unobserve(target);
      this.#waiting.push(target);
    }
    this.#fetchMore();
  }

  #fetchMore() {
    while (this.#running < AT_ONCE && this.#waiting.length) {
      this.#running += 1;
      this.#fetch(this.#cards.get(this.#waiting.shift())).finally(() => {
        this.#running -= 1;
        this.#fetchMore();
      });
    }
  }

  async #fetch({ clock, details, drawNow }) {
    try {
      const { clock: whole } = await call(
        "getTestClock",
        { id: clock.id },
        { quiet: true, signal: this.#leaving.signal },
      );
      const model = readClock(whole);
      const posted = model.items.filter((item) => item.happened).length;
      drawNow(whole);
      if (model.items.length === 0) show(details, h("p", { class: "quiet" }, "Nothing is scheduled on this clock."));
      else
        show(
          details,
          smallCurve(model, { width: 320, height: 72 }),
          h(
            "p",
            { class: "quiet counts" },
            h("span", {}, `● ${posted} posted`),
            h("span", {}, `○ ${model.items.length - posted} pending`),
          ),
        );
    } catch (error) {
      if (this.#leaving.signal.aborted) return;
      if (!(error instanceof Away || error instanceof Refusal)) throw error;
      const again = h("button", { type: "button" }, "Try again");
      again.addEventListener("click", () =>
        whileBusy(again, () => this.#fetch(this.#cards.get(details.parentElement))),
      );
      show(details, h("p", { class: "error" }, GONE[error.reason] ?? error.message), !GONE[error.reason] && again);
    }
  }
}

customElements.define("tick-clocks", ClocksPage);
