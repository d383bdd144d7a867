// The scenario cards with a search and filters, and the scenarios of the user.

import { labelledSparkline } from "../chart/sparkline.js";
import { lowestOfAll, parseParams } from "../clock/clock-model.js";
import { plural, summaryParts } from "../clock/clock-text.js";
import { createClock, creationErrorMessage } from "../clock/create-clock.js";
import { firstViolation, lowestBalances } from "../clock/expectations.js";
import { busyButton } from "../lib/busy-button.js";
import { confirmAction } from "../lib/dialog.js";
import { h, render } from "../lib/dom.js";
import { showFailure } from "../lib/failure.js";
import { formatDay, formatMoney, formatShortDay } from "../lib/format.js";
import { stateBadge } from "../lib/icons.js";
import { DAY } from "../lib/instants.js";
import { notify } from "../lib/notification.js";
import { call, loadScenarios } from "../lib/rpc.js";
import { currentSession } from "../lib/session.js";
import { readStored, SCENARIOS_KEY, writeStored } from "../lib/storage.js";
import { filterBar } from "./filter-bar.js";

// The server doesn't store the scenarios of the user, so the browser does.
export const MAX_SCENARIOS = 20;

const owner = () => currentSession()?.userId ?? "";
const store = (scenarios) => writeStored(SCENARIOS_KEY, { ...readStored(SCENARIOS_KEY), [owner()]: scenarios });

/** Return the scenarios of the signed-in user, newest first: `{ id, text }`. */
const ownScenarios = () => readStored(SCENARIOS_KEY)?.[owner()] ?? [];

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
  ["Goes below zero", ({ model }) => lowestOfAll(model, model.start)?.value < 0],
  ["Several currencies", ({ model }) => model.currencies.length > 1],
  ["Saves for a goal", ({ model }) => model.goals.length > 0],
];

const lowestAmount = ({ value, currency, isLow }) =>
  h("strong", { class: isLow ? "below-zero" : undefined }, formatMoney(value, currency));

const MIN_YEAR = 350 * DAY; // a scenario of a year can end some days before

/** Return the day of a point in a scenario, with the year in a scenario of a year or more. */
const dayOf = ({ at }, { start, times }) => (times.at(-1) - start < MIN_YEAR ? formatShortDay(at) : formatDay(at));

/** Show the lowest balance, or those of several currencies in the order of their strips. */
function lowestFigures(lows, model) {
  if (lows.length === 1) return [h("p", `Lowest, ${dayOf(lows[0], model)}`), lowestAmount(lows[0])];
  return lows.map((low, index) => h("p", index === 0 && "Lowest ", lowestAmount(low), `, ${dayOf(low, model)}`));
}

function scenarioCard({ name, title, about, model, lows, text, id, isInvalid }, { edit, remove }) {
  const hiddenTitle = () => h("span.visually-hidden", ` ${title}`);
  const create = async () => {
    try {
      await createClock(id ? { text } : { scenario: name }, "createTestClockFromScenario");
    } catch (error) {
      notify(creationErrorMessage(error), { error: true });
    }
  };
  const button = busyButton("button.soft", ["Create", hiddenTitle()], create);
  const { expectations } = model;
  const parts = summaryParts(model);
  const counts = [parts.pop(), ...(expectations.length ? [plural(expectations.length, "expectation")] : [])];
  const violated = expectations.filter((expectation) => firstViolation(model, expectation) !== undefined);
  return h(
    "li.card.scenario",
    h(
      "div.scenario-header",
      h("div", h("h2", title), h("p", parts.join(" · "))),
      lows.length > 0 && h("div.lowest", lowestFigures(lows, model)),
    ),
    labelledSparkline(model, { width: 360, height: 80, lows }),
    h("p", { class: isInvalid ? "about error" : "about" }, about),
    h(
      "div.row.card-actions",
      violated.length
        ? h("p.count.error", stateBadge("will be violated"), plural(violated.length, "violation"))
        : h("p.count", counts.join(" · ")),
      id && h("button.quiet", { onclick: () => remove(id, title) }, "Delete", hiddenTitle()),
      h("button.quiet", { onclick: () => edit(text, id) }, "Edit", hiddenTitle()),
      !isInvalid && button,
    ),
  );
}

function gallery(scenarios, actions) {
  const entries = scenarios
    .toSorted((left, right) => rank(left) - rank(right))
    .map((scenario) => {
      const model = parseParams(scenario.params);
      return { ...scenario, model, lows: lowestBalances(model) };
    });
  const cards = entries.map((entry) => scenarioCard(entry, actions));
  const nothing = h("p.muted", { hidden: true }, "No scenario matches.");
  const show = (matches) => {
    cards.forEach((card, index) => {
      const { title, about } = entries[index];
      card.hidden = !matches(entries[index], `${title}\n${about}`);
    });
    nothing.hidden = cards.some((card) => !card.hidden);
  };
  const filters = filterBar("scenarios", FILTERS, show);
  filters.count(entries).forEach((number, index) => {
    // A filter that matches all or none is useless.
    filters.chips[index].hidden = index > 0 && [0, entries.length].includes(number);
  });
  return [filters.element, nothing, h("ul.cards", cards)];
}

/** Expand a scenario of the user. An invalid one has an error instead of items, and can still be edited. */
async function expandOwn({ id, text }) {
  const own = { id, text, name: id, title: "My scenario", about: "Your own scenario." };
  try {
    const { params, expectations } = await call("expandScenario", { text }, { quiet: true });
    return { ...own, title: params.name ?? own.title, params: { ...params, expectations } };
  } catch (error) {
    return { ...own, about: `It can't be read. ${error.message}`, params: {}, isInvalid: true };
  }
}

/** Create the gallery. The button Edit calls `edit(text, id)`. Only the user's own scenarios have ids. */
export function scenarioGallery(edit) {
  const container = h("div", h("p.muted", "Loading…"));
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
      const retry = busyButton("button.primary", "Try again", load);
      showFailure(container, "Can't load the scenarios. Is the server running?", [retry]);
      return;
    }
    render(container, gallery(scenarios, { edit, remove }));
  };
  load();
  return container;
}
