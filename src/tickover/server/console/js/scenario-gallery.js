// The scenario cards, each with a button that creates a clock.

import { parseParams } from "./clock-model.js";
import { plural } from "./clock-text.js";
import { createClock, creationErrorMessage } from "./create-clock.js";
import { h, notify, render, withBusyState } from "./dom.js";
import { loadScenarios } from "./server-info.js";
import { sparkline } from "./sparkline.js";

// The simplest scenario comes first, and the artificial one last.
const RANKS = { "salary-and-rent": -1, limits: 1 };
const rank = ({ name }) => RANKS[name] ?? 0;

function summary(model) {
  const transactions = model.items.filter((item) => item.kind !== "goal").length;
  return [
    plural(transactions, "transaction"),
    model.goals.length && plural(model.goals.length, "goal"),
    model.currencies.join(", "),
  ]
    .filter(Boolean)
    .join(" · ");
}

function scenarioCard({ title, about, params }, edit) {
  const model = parseParams(params);
  const button = h(
    "button",
    { type: "button", class: "primary" },
    "Create",
    h("span", { class: "visually-hidden" }, ` ${title}`),
  );
  button.addEventListener("click", () =>
    withBusyState(button, async () => {
      try {
        await createClock(params, title);
      } catch (error) {
        notify(creationErrorMessage(error), { error: true });
      }
    }),
  );
  return h(
    "li",
    { class: "card scenario" },
    h("h2", {}, title),
    h("p", {}, about),
    sparkline(model, { width: 320, height: 72 }),
    h("p", { class: "muted" }, summary(model)),
    h(
      "div",
      { class: "row" },
      button,
      h(
        "button",
        { type: "button", onclick: () => edit({ name: title, params }) },
        "Edit",
        h("span", { class: "visually-hidden" }, ` ${title}`),
      ),
    ),
  );
}

/** Create the gallery. The button Edit calls `edit({ name, params })`. */
export function scenarioGallery(edit) {
  const container = h("div", {}, h("p", { class: "muted" }, "Loading…"));
  const load = async () => {
    try {
      const scenarios = (await loadScenarios()).toSorted((left, right) => rank(left) - rank(right));
      render(
        container,
        h(
          "ul",
          { class: "cards" },
          scenarios.map((scenario) => scenarioCard(scenario, edit)),
        ),
      );
    } catch {
      const retryButton = h("button", { type: "button" }, "Try again");
      retryButton.addEventListener("click", () => withBusyState(retryButton, load));
      render(
        container,
        h(
          "div",
          { class: "card row" },
          h("p", { role: "alert" }, "The scenarios cannot be loaded. Is the server running?"),
          retryButton,
        ),
      );
    }
  };
  load();
  return container;
}
