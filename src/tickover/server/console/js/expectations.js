// Pure functions about expectations, the parameters of checkTestClock.

import { countUntil } from "./clock-model.js";
import { formatInstant, formatMoney, formatWholeMoney } from "./format.js";
import { parseInstant } from "./instants.js";

const quote = (text) => `“${text}”`;
const date = (timestamp) => formatInstant(parseInstant(timestamp));

function bounds({ atLeast, atMost, currency }) {
  return [
    atLeast !== undefined && `at least ${formatMoney(atLeast, currency)}`,
    atMost !== undefined && `at most ${formatMoney(atMost, currency)}`,
  ]
    .filter(Boolean)
    .join(" and ");
}

const DESCRIBE = {
  balance({ currency, atLeast, atMost, from, until }) {
    const rule = [
      atLeast !== undefined && `never below ${formatMoney(atLeast, currency)}`,
      atMost !== undefined && `never above ${formatMoney(atMost, currency)}`,
    ].filter(Boolean);
    const range = [from && ` from ${date(from)}`, until && ` until ${date(until)}`].filter(Boolean);
    return `${currency} balance ${rule.join(" and ")}${range.join("")}`;
  },
  goalReached: ({ goal, by }) => `Goal ${quote(goal)} reached by ${date(by)}`,
  posted: ({ name, by, count = 1 }) => `${quote(name)} posted${count > 1 ? ` ${count} times` : ""} by ${date(by)}`,
  total({ type, currency, category, per, ...rule }) {
    const what = `${type === "INCOME" ? "Income" : "Expenses"}${category ? ` for ${quote(category)}` : ""}`;
    return `${what} ${bounds({ ...rule, currency })}${per === "ALL" ? "" : ` in every ${per.toLowerCase()}`}`;
  },
};

const ruleOf = (expectation) => Object.entries(expectation)[0];

/** Describe an expectation, without a full stop. */
export function describeExpectation(expectation) {
  const [word, rule] = ruleOf(expectation);
  return DESCRIBE[word](rule);
}

/** Describe how an expectation is broken. The server's message has plain numbers. */
export function describeViolation(expectation, { actual, message }) {
  const [word, { currency, atLeast, atMost }] = ruleOf(expectation);
  if (word === "goalReached") return `The goal has ${formatMoney(actual)}.`;
  if (word === "posted") return `It posts ${actual === 1 ? "once" : `${actual} times`}.`;
  const bound = actual < atLeast ? `below ${formatMoney(atLeast, currency)}` : `above ${formatMoney(atMost, currency)}`;
  return message.replace(/\S+, \w+ \S+$/, () => `${formatMoney(actual, currency)}, ${bound}.`);
}

/** Return the short label of an expectation in the chart. */
export function shortLabel(expectation) {
  const [word, { currency, atLeast, atMost, goal, name, type }] = ruleOf(expectation);
  const bound = `${atLeast === undefined ? "≤" : "≥"} ${formatWholeMoney(atLeast ?? atMost, currency)}`;
  if (word === "balance") return bound;
  return goal ?? name ?? `${type === "INCOME" ? "Income" : "Spent"} ${bound}`;
}

/** Return the instant at which an expectation is decided, or null. */
export function deadline(expectation) {
  const [, { by }] = ruleOf(expectation);
  return by ? parseInstant(by) : null;
}

/** Return the balance rules of a currency: `{ atLeast, atMost, from, to }` with instants. */
export const balanceRules = (expectations, currency, { start, maxTime }) =>
  expectations
    .filter(({ balance }) => balance?.currency === currency)
    .map(({ balance: { atLeast, atMost, from, until } }) => ({
      atLeast,
      atMost,
      from: from ? parseInstant(from) : start,
      to: until ? parseInstant(until) : maxTime,
    }));

/** Return the ranges `[from, to]` in which a balance breaks a rule. */
export function breachRanges({ times, values }, { atLeast = -Infinity, atMost = Infinity, from, to }) {
  const ranges = [];
  let index = countUntil(times, from);
  for (let at = from; at <= to && index < values.length; at = times[index++]) {
    if (values[index] >= atLeast && values[index] <= atMost) continue;
    const end = Math.min(times[index] ?? to, to);
    if (ranges.at(-1)?.[1] === at) ranges.at(-1)[1] = end;
    else ranges.push([at, end]);
  }
  return ranges;
}
