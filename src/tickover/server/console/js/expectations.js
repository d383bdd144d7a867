// Pure functions about expectations, the parameters of checkTestClock.

import { countUntil } from "./clock-model.js";
import { formatInstant, formatMoney } from "./format.js";
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

/**
 * Return the state of an expectation at `now`, which is also its words on every page: `holds`, `will break` for a
 * violation that is only scheduled, or `broken`. It is empty until the server responds.
 */
export function expectationState(result, now) {
  if (!result) return "";
  if (result.ok) return "holds";
  return parseInstant(result.violation.at) > now ? "will break" : "broken";
}

/** Describe a violation without its amount, because a balance can fall further at the same time. */
function shortViolation(expectation, { actual }) {
  const [word, { currency, atLeast, atMost, goal, name, count = 1, type }] = ruleOf(expectation);
  if (word === "goalReached") return `${quote(goal)} not reached`;
  if (word === "posted") return `${quote(name)} ${count > 1 ? `posts ${actual} of ${count} times` : "doesn't post"}`;
  const what = word === "balance" ? "balance" : type === "INCOME" ? "income" : "expenses";
  return `${what} ${actual < atLeast ? `below ${formatMoney(atLeast, currency)}` : `above ${formatMoney(atMost, currency)}`}`;
}

/**
 * Summarize expectations at `now`: `{ state, text }`, such as `All hold` or `1 of 2 will break`. If one doesn't hold,
 * add `at`, the time of the first violation, and `detail`: `balance below €0.00`.
 */
export function summarizeChecks(expectations, results, now) {
  const violations = results.flatMap((result, index) =>
    result.ok
      ? []
      : [
          {
            at: parseInstant(result.violation.at),
            state: expectationState(result, now),
            text: () => shortViolation(expectations[index], result.violation),
          },
        ],
  );
  if (!violations.length) return { state: "holds", text: "All hold" };
  const { at, state, text } = violations.reduce((first, next) => (next.at < first.at ? next : first));
  const { length } = violations.filter((violation) => violation.state === state);
  const [first, ...rest] = state;
  const words =
    results.length === 1 ? [first.toUpperCase(), ...rest].join("") : `${length} of ${results.length} ${state}`;
  return { state, text: words, at, detail: text() };
}

/** Return the smallest balance that expectations allow at an instant. Without one, it is zero. */
export function smallestAllowed(expectations, currency, model, at) {
  const bounds = balanceRules(expectations, currency, model)
    .filter(({ atLeast, from, to }) => atLeast !== undefined && from <= at && at <= to)
    .map(({ atLeast }) => atLeast);
  return bounds.length ? Math.max(...bounds) : 0;
}

/** Return the short label of an expectation in the chart. */
export function shortLabel(expectation) {
  const [word, { currency, atLeast, atMost, goal, name, type, count = 1 }] = ruleOf(expectation);
  const bound = `${atLeast === undefined ? "≤" : "≥"} ${formatMoney(atLeast ?? atMost, currency)}`;
  if (word === "balance") return bound;
  if (word === "posted") return count > 1 ? `${name} ×${count}` : name;
  return goal ?? `${type === "INCOME" ? "Income" : "Spent"} ${bound}`;
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
