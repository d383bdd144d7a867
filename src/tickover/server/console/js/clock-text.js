// Sentences about a clock and its preview.

import { formatCount, formatInstant, formatMoney, speakInstant, speakMoney } from "./format.js";

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
