// What a clock's page says: of a preview, of the states of rows, and before a fork or a deletion.

import { LANES } from "./chart.js";
import { h, s } from "./dom.js";
import { formatCount, formatInstant, formatMoney, speakInstant, speakMoney } from "./format.js";
import { countUntil } from "./model.js";

// What a preview says in words.

const MOST_CURRENCIES = 3;

export const plural = (number, one, many = `${one}s`) => `${formatCount(number)} ${number === 1 ? one : many}`;

/** Of a clock whose views are `present` and `view`: which of the two comes first decides what can be done. */
export function describe(model, present, view) {
  const count = view.happened - present.happened;
  const changes = describeFlows(model, present, view);
  if (view.instant === present.instant) return next(model, present);
  if (view.instant > present.instant)
    return [count ? `${plural(count, "item")} would post` : "Nothing would post", ...changes].join("; ");
  const since = count ? `${plural(-count, "item")} posted since` : "nothing has posted since";
  return [`Looking back: ${since}`, ...changes, "read-only, because time only moves forward"].join("; ");
}

/** From the earlier of the two views to the later. */
function describeFlows(model, present, view) {
  const [from, to] = view.instant < present.instant ? [view, present] : [present, view];
  const changed = model.currencies.filter((currency) => from.flows.get(currency) !== to.flows.get(currency));
  const rest = changed.length - MOST_CURRENCIES;
  return [
    ...changed
      .slice(0, MOST_CURRENCIES)
      .map(
        (currency) =>
          `${formatMoney(from.flows.get(currency), currency)} → ${formatMoney(to.flows.get(currency), currency, { bare: true })}`,
      ),
    ...(rest > 0 ? [plural(rest, "more currency", "more currencies")] : []),
  ];
}

function next(model, present) {
  const item = model.items[present.happened];
  if (!item)
    return model.items.length ? "Everything has happened; nothing more is scheduled" : "This clock has no items";
  return `Next: ${item.name}, ${amountOf(item)}, on ${formatInstant(item.at)}`;
}

/** With its sign: money towards a goal has none of its own, and no currency. */
export function amountOf(item) {
  if (item.kind === "goal") return formatMoney(item.amount, undefined, { sign: "always" });
  return formatMoney(item.kind === "income" ? item.amount : -item.amount, item.currency, { sign: "always" });
}

/** The same for those who listen to the slider. */
export function speak(model, present, view) {
  const count = view.happened - present.happened;
  const flows = model.currencies
    .slice(0, MOST_CURRENCIES)
    .map((currency) => speakMoney(view.flows.get(currency), currency));
  const posts =
    count > 0 ? `${plural(count, "item")} would post` : count < 0 ? `${plural(-count, "item")} posted since` : null;
  return [
    speakInstant(view.instant),
    view.instant < present.instant ? "looking back" : view.instant === present.instant ? "now" : null,
    flows.length ? `net flow ${flows.join(" and ")}` : null,
    posts ?? (view.instant > present.instant ? "nothing would post" : null),
  ]
    .filter(Boolean)
    .join(", ");
}

// Rows of things that happen: each is posted, next (the preview would post it), pending, or, when looking back, later.

const WORDS = { posted: "posted", next: "next", pending: "pending", later: "posted later" };

/** Nodes in order of their times, which show their state; only those whose state changes are touched. */
export class States {
  #states;

  constructor(times, nodes) {
    this.times = times;
    this.nodes = nodes;
    this.#states = new Array(nodes.length);
  }

  /** Tell every node what it is when the clock stands at `now` and is looked at as of `instant`. */
  update(now, instant) {
    const [posted, seen] = [countUntil(this.times, now), countUntil(this.times, instant)];
    for (let index = 0; index < this.nodes.length; index += 1) {
      const state = index < seen ? (index < posted ? "posted" : "next") : index < posted ? "later" : "pending";
      if (this.#states[index] === state) continue;
      const flips = state === "posted" && ["next", "pending"].includes(this.#states[index]);
      this.#states[index] = state;
      const node = this.nodes[index];
      node.dataset.state = state;
      node.classList.toggle("flips", flips);
      node.querySelector(".state").textContent = WORDS[state];
    }
    return { posted, seen };
  }
}

/** The mark of a row, in its lane's shape and filled once it is posted, and the word for it. */
export function stateMark(kind) {
  const { mark } = LANES.find((lane) => lane.kind === kind);
  return [
    s(
      "svg",
      { class: `mark ${kind}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      s("path", { d: `M0 0${mark}` }),
    ),
    h("span", { class: "state" }),
  ];
}

// What is asked before a clock is forked or deleted.

/** Show a dialog and wait for its answer, which is null when it was closed without one. */
function ask(label, ...content) {
  return new Promise((resolve) => {
    const dialog = h(
      "dialog",
      {
        class: "card",
        "aria-label": label,
        onclose: () => {
          dialog.remove();
          resolve(dialog.returnValue || null);
        },
      },
      h("form", { method: "dialog" }, content),
    );
    document.body.append(dialog);
    dialog.returnValue = "";
    dialog.showModal();
  });
}

const buttons = (...all) => h("div", { class: "row answers" }, all);
const cancel = () => h("button", { value: "", autofocus: true }, "Cancel");

export async function askToDelete(name) {
  const answer = await ask(
    "Delete the clock",
    h("h2", {}, `Delete ${name}?`),
    h("p", {}, "It is gone for good, for everybody who uses it. Forks of it stay."),
    buttons(cancel(), h("button", { value: "delete", class: "danger" }, "Delete the clock")),
  );
  return answer === "delete";
}

/** Where a fork shall stand: an instant, `null` for no fork, or `"start"`. */
export async function askWhereToFork(model, instant) {
  const places = [
    ["start", "at its start", model.start],
    ["now", "now", model.now],
  ];
  if (instant !== model.now) places.push(["preview", "at the preview", instant]);
  let chosen = places.at(-1)[0];
  const answer = await ask(
    "Fork the clock",
    h("h2", {}, "Fork this clock"),
    h("p", {}, "A fork has the same items, and a time of its own. This clock stays as it is."),
    h(
      "fieldset",
      {},
      h("legend", {}, "The fork stands"),
      places.map(([value, text, at]) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: "place",
            value,
            checked: value === chosen,
            onchange: () => (chosen = value),
          }),
          h("span", {}, `${text}, ${formatInstant(at)}`),
        ),
      ),
    ),
    // Enter anywhere forks, which hurts nobody, because only a button that submits can be pressed by it.
    buttons(
      h("button", { type: "button", onclick: (event) => event.target.closest("dialog").close("") }, "Cancel"),
      h("button", { value: "fork", class: "primary" }, "Fork"),
    ),
  );
  if (answer !== "fork") return null;
  return chosen === "start" ? "start" : places.find(([value]) => value === chosen)[2];
}
