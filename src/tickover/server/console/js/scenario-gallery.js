// The scenario cards, each with a button that creates a clock, with a search and filters.

import { confirmAction } from "./clock-dialogs.js";
import { lowestPoint, parseParams } from "./clock-model.js";
import { plural } from "./clock-text.js";
import { createClock, creationErrorMessage, withName } from "./create-clock.js";
import { h, newId, notify, render, withBusyState } from "./dom.js";
import { formatMoney, formatShortDay } from "./format.js";
import { DAY } from "./instants.js";
import { call, loadScenarios } from "./rpc.js";
import { currentSession } from "./session.js";
import { sparkline } from "./sparkline.js";
import { DEVICE, readStored, SCENARIOS_KEY, writeStored } from "./storage.js";

// The server doesn't store the scenarios of the user, so the browser does.
export const MAX_SCENARIOS = 20;

const owner = () => currentSession()?.userId ?? "";
const store = (scenarios) =>
  writeStored(DEVICE, SCENARIOS_KEY, { ...readStored(DEVICE, SCENARIOS_KEY), [owner()]: scenarios });

/** Return the scenarios of the signed-in user, newest first: `{ id, text }`. */
const ownScenarios = () => readStored(DEVICE, SCENARIOS_KEY)?.[owner()] ?? [];

/** Store a scenario, or replace the one with this id. Return its id, or undefined if the browser can't store it. */
export function saveScenario(text, id = `${Date.now()}`) {
  const others = ownScenarios().filter((scenario) => scenario.id !== id);
  return others.length < MAX_SCENARIOS && store([{ id, text }, ...others]) ? id : undefined;
}

const deleteScenario = (id) => store(ownScenarios().filter((scenario) => scenario.id !== id));

// The user's own scenarios come first, then the simplest one. The artificial one is last.
const RANKS = { "salary-and-rent": -1, limits: 1 };
const rank = ({ id, name }) => (id ? -2 : (RANKS[name] ?? 0));

const FILTERS = [
  ["All", () => true],
  ["Goes below zero", ({ lowest }) => lowest?.value < 0],
  ["Several currencies", ({ model }) => model.currencies.length > 1],
  ["Saves for a goal", ({ model }) => model.goals.length > 0],
];

const MONTH_DAYS = 30.4;

/** Show the currencies, length, goals and transactions of a scenario. */
export function scenarioTags(model) {
  const months = Math.round(((model.times.at(-1) ?? model.start) - model.start) / DAY / MONTH_DAYS);
  const tags = [
    ...model.currencies.slice(0, 3),
    months > 0 && (months % 12 === 0 ? plural(months / 12, "year") : plural(months, "month")),
    model.goals.length && plural(model.goals.length, "goal"),
    plural(model.items.filter((item) => item.currency).length, "transaction"),
  ].filter(Boolean);
  return h(
    "ul",
    { class: "tags", "aria-label": "Tags" },
    tags.map((tag) => h("li", { class: "chip" }, tag)),
  );
}

/** Return the lowest balance of all currencies, or null: `{ currency, at, value }`. */
function lowestBalance(model) {
  const points = model.balances.map((balance) => ({
    currency: balance.currency,
    ...lowestPoint(balance, model.start, model.maxTime),
  }));
  return points.toSorted((left, right) => left.value - right.value)[0] ?? null;
}

function scenarioCard(
  { title, about, params, opening, expectations, model, lowest, text, id, isInvalid },
  { edit, remove },
) {
  const checks = { opening, expectations };
  const hiddenTitle = () => h("span", { class: "visually-hidden" }, ` ${title}`);
  const create = () =>
    withBusyState(button, async () => {
      try {
        await createClock(withName(params, title), checks);
      } catch (error) {
        notify(creationErrorMessage(error), { error: true });
      }
    });
  const button = h("button", { class: "soft", onclick: create }, "Create", hiddenTitle());
  return h(
    "li",
    { class: "card scenario" },
    h(
      "div",
      { class: "scenario-header" },
      h("h2", {}, title),
      lowest &&
        h(
          "p",
          { class: "muted" },
          "Lowest ",
          h(
            "strong",
            { class: lowest.value < 0 ? "below-zero" : undefined },
            formatMoney(lowest.value, lowest.currency),
          ),
          ` ${formatShortDay(lowest.at)}`,
        ),
    ),
    sparkline(model, { width: 360, height: 96 }),
    h("p", { class: "about" }, about),
    scenarioTags(model),
    h(
      "div",
      { class: "row card-actions" },
      id && h("button", { class: "quiet", onclick: () => remove(id, title) }, "Delete", hiddenTitle()),
      h("button", { class: "quiet", onclick: () => edit(text, id) }, "Edit", hiddenTitle()),
      !isInvalid && button,
    ),
  );
}

function gallery(scenarios, actions) {
  const entries = scenarios
    .toSorted((left, right) => rank(left) - rank(right))
    .map((scenario) => {
      const model = parseParams(scenario.params, scenario.opening);
      return { ...scenario, model, lowest: lowestBalance(model) };
    });
  const cards = entries.map((entry) => scenarioCard(entry, actions));
  let matches = FILTERS[0][1];
  const nothing = h("p", { class: "muted", hidden: true }, "No scenario matches.");
  const show = () => {
    const text = search.value.trim().toLowerCase();
    cards.forEach((card, index) => {
      const { title, about } = entries[index];
      card.hidden = !matches(entries[index]) || !`${title}\n${about}`.toLowerCase().includes(text);
    });
    nothing.hidden = cards.some((card) => !card.hidden);
  };
  const id = newId();
  const search = h("input", {
    id,
    type: "search",
    placeholder: "Search scenarios",
    autocomplete: "off",
    oninput: show,
  });
  // A filter that matches all or none is useless.
  const isUseful = ([, filter], index) => !index || new Set(entries.map((entry) => Boolean(filter(entry)))).size > 1;
  const chips = FILTERS.filter(isUseful).map(([text, filter], index) =>
    h(
      "button",
      {
        class: "filter-chip",
        "aria-pressed": String(index === 0),
        onclick: () => {
          matches = filter;
          chips.forEach((chip, position) => chip.setAttribute("aria-pressed", String(position === index)));
          show();
        },
      },
      `${text} ${entries.filter(filter).length}`,
    ),
  );
  return [
    h(
      "div",
      { class: "row gallery-filters" },
      h("label", { for: id, class: "visually-hidden" }, "Search scenarios"),
      search,
      h("div", { class: "row", role: "group", "aria-label": "Filter scenarios" }, chips),
    ),
    nothing,
    h("ul", { class: "cards" }, cards),
  ];
}

/** Expand a scenario of the user. An invalid one has an error instead of items, and can still be edited. */
async function expandOwn({ id, text }) {
  const own = { id, text, name: id, title: "My scenario", about: "Your own scenario.", opening: {} };
  try {
    const { params, expectations } = await call("expandScenario", { text }, { quiet: true });
    return { ...own, title: params.name ?? own.title, params, expectations };
  } catch (error) {
    return { ...own, about: `It can't be read. ${error.message}`, params: {}, expectations: [], isInvalid: true };
  }
}

/** Create the gallery. The button Edit calls `edit(text, id)`. Only the user's own scenarios have ids. */
export function scenarioGallery(edit) {
  const container = h("div", {}, h("p", { class: "muted" }, "Loading…"));
  const remove = async (id, title) => {
    const consequence = "The scenario is deleted from this browser. Clocks that it created stay.";
    if (!(await confirmAction(`Delete “${title}”?`, consequence, "Delete scenario"))) return;
    deleteScenario(id);
    await load();
    container.querySelector("input").focus();
  };
  const load = async () => {
    let scenarios;
    try {
      scenarios = await loadScenarios();
      for (const own of ownScenarios()) scenarios = [...scenarios, await expandOwn(own)];
    } catch {
      const retryButton = h("button", { onclick: () => withBusyState(retryButton, load) }, "Try again");
      render(
        container,
        h(
          "div",
          { class: "card row" },
          h("p", { role: "alert" }, "Can't load the scenarios. Is the server running?"),
          retryButton,
        ),
      );
      return;
    }
    render(container, gallery(scenarios, { edit, remove }));
  };
  load();
  return container;
}
