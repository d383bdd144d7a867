// The tags of a scenario: its currencies, length, goals and transactions.

import { plural } from "./clock-text.js";
import { h } from "./dom.js";
import { DAY } from "./instants.js";

const MONTH_DAYS = 30.4;

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
