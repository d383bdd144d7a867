// Pure functions about the expectations of a clock.

import { toNumber } from "../lib/decimals.js";
import { formatInstant, formatMoney } from "../lib/format.js";
import { parseInstant } from "../lib/instants.js";
import { countUntil, curveOf, isPayment, lowestOfEach, MAX_SHOWN_CURRENCIES } from "./clock-model.js";
import { plural } from "./clock-text.js";

const quote = (text) => `“${text}”`;
const date = (timestamp) => formatInstant(parseInstant(timestamp));

function bounds({ atLeast, atMost }, currency, [least, most]) {
  const texts = [
    atLeast !== undefined && `${least} ${formatMoney(atLeast, currency)}`,
    atMost !== undefined && `${most} ${formatMoney(atMost, currency)}`,
  ];
  return texts.filter(Boolean).join(" and ");
}

const DESCRIBE = {
  balance(rule, model) {
    const { from, until } = rule;
    const { name, currency } = subjectOf(rule, model);
    const range = [from && ` from ${date(from)}`, until && ` until ${date(until)}`].filter(Boolean);
    return `${name} balance ${bounds(rule, currency, ["never below", "never above"])}${range.join("")}`;
  },
  goalReached: ({ goal, by }) => `Goal ${quote(goal)} reached by ${date(by)}`,
  posted: ({ name, by, count = 1 }) => `${quote(name)} posted${count > 1 ? ` ${count} times` : ""} by ${date(by)}`,
  total({ type, currency, category, per, ...rule }) {
    const limits = bounds(rule, currency, ["at least", "at most"]);
    const what = `${type === "INCOME" ? "Income" : "Expenses"}${category ? ` for ${quote(category)}` : ""}`;
    return `${what} ${limits}${per === "ALL" ? "" : ` in every ${per.toLowerCase()}`}`;
  },
};

const ruleOf = (expectation) => Object.entries(expectation)[0];

/** Return what a rule is about: the name of an account, or a currency, and the currency of its amounts. */
function subjectOf({ account, currency }, { accounts }) {
  if (!account) return { name: currency, currency };
  const found = accounts.find(({ key }) => key === account);
  return { name: found?.name ?? account, currency: found?.currency };
}

/** Describe an expectation, without a full stop. `model` has the accounts. */
export function describeExpectation(expectation, model) {
  const [word, rule] = ruleOf(expectation);
  return DESCRIBE[word](rule, model);
}

/** Return whether a value in JSON is an expectation that can be described. */
export function isExpectation(value) {
  try {
    return Boolean(describeExpectation(value, { accounts: [] }));
  } catch {
    return false;
  }
}

/** Describe a violation: in the server's words, or without the names and times that the expectation has already. */
export function describeViolation(expectation, { actual, message }) {
  const [word] = ruleOf(expectation);
  if (word === "goalReached") return `The goal has ${formatMoney(actual)}.`;
  if (word === "posted") return `It posts ${actual === 1 ? "once" : `${actual} times`}.`;
  return message;
}

const NO_GOAL = { sums: [0n], times: [], targetUnits: 1n, target: 0, places: 0 }; // until the server rejects its name

/** Find a goal by its ID, or else by its name. */
const goalOf = ({ goals }, { goal }) =>
  goals.find(({ id }) => id === goal) ?? goals.find(({ name }) => name === goal) ?? NO_GOAL;

/** Return the times of the transactions that an expectation counts. */
export const postTimes = ({ items }, { name }) =>
  items.filter((item) => isPayment(item) && item.name === name).map(({ at }) => at);

/** Return when a balance changes for the last time until `to`. */
export const lastChange = ({ times }, to) => Math.min(to, times.at(-1) ?? -Infinity);

/** Return when an expectation that holds is decided: what must happen has happened, or nothing more can violate it. */
export function decidedAt(expectation, model) {
  const [word, rule] = ruleOf(expectation);
  if (word === "posted") return postTimes(model, rule)[(rule.count ?? 1) - 1] ?? Infinity;
  if (word === "goalReached") {
    const { sums, targetUnits, times } = goalOf(model, rule);
    return [-Infinity, ...times][sums.findIndex((sum) => sum >= targetUnits)] ?? Infinity;
  }
  const balance = curveOf(model, rule);
  return balance ? lastChange(balance, rule.until ? parseInstant(rule.until) : Infinity) : -Infinity;
}

/**
 * Return the state of an expectation, which is also its words on every page: `held`, `violated`, or for what is only
 * scheduled `will hold` or `will be violated`. It is empty until the server responds.
 */
export function expectationState(expectation, result, model) {
  if (!result) return "";
  if (!result.ok) return parseInstant(result.violation.at) > model.now ? "will be violated" : "violated";
  return decidedAt(expectation, model) > model.now ? "will hold" : "held";
}

/** Return how much of an expectation has happened: `2 of 6 posted so far`. Only goals and counts have such a text. */
export function progressText(expectation, model) {
  const [word, rule] = ruleOf(expectation);
  if (word === "goalReached") {
    const { sums, times, places, target } = goalOf(model, rule);
    return `${formatMoney(toNumber(sums[countUntil(times, model.now)], places))} of ${formatMoney(target)} so far`;
  }
  if (word !== "posted") return "";
  const posted = countUntil(postTimes(model, rule), model.now);
  if (rule.count > 1) return `${posted} of ${rule.count} posted so far`;
  return posted ? "posted" : "Not posted yet";
}

/** Describe a violation without its amount, because a balance can fall further at the same time. */
function shortViolation(expectation, { actual }, model) {
  const [word, rule] = ruleOf(expectation);
  const { account, atLeast, atMost, goal, name, count = 1, type } = rule;
  const subject = subjectOf(rule, model);
  const { currency } = subject;
  if (word === "goalReached") return `${quote(goal)} not reached`;
  if (word === "posted") return `${quote(name)} ${count > 1 ? `posts ${actual} of ${count} times` : "doesn't post"}`;
  const balance = account ? `${subject.name} balance` : "balance";
  const what = word === "balance" ? balance : type === "INCOME" ? "income" : "expenses";
  return `${what} ${actual < atLeast ? `below ${formatMoney(atLeast, currency)}` : `above ${formatMoney(atMost, currency)}`}`;
}

/**
 * Summarize expectations: `{ state, text }`, such as `All will hold` or `2 violations`. If there is a violation, the
 * state is that of the first one, `at` its time, and `detail` what it is: `balance below €0.00`.
 */
export function summarizeChecks(model, results) {
  const { expectations } = model;
  const violations = results.flatMap((result, index) =>
    result.ok
      ? []
      : [
          {
            at: parseInstant(result.violation.at),
            state: expectationState(expectations[index], result, model),
            text: () => shortViolation(expectations[index], result.violation, model),
          },
        ],
  );
  if (!violations.length) {
    const isHeld = results.every((result, index) => expectationState(expectations[index], result, model) === "held");
    return isHeld ? { state: "held", text: "All held" } : { state: "will hold", text: "All will hold" };
  }
  const { at, state, text } = violations.reduce((first, next) => (next.at < first.at ? next : first));
  return { state, text: plural(violations.length, "violation"), at, detail: text() };
}

/** Return the smallest balance that balance rules allow at an instant, or else zero. A debt can be of any size. */
export function smallestOf(rules, at, curve) {
  const bounded = rules.filter(({ atLeast }) => atLeast !== undefined);
  if (!bounded.length) return isDebt(curve) ? -Infinity : 0;
  return Math.max(...bounded.filter(({ from, to }) => from <= at && at <= to).map(({ atLeast }) => atLeast));
}

const isDebt = (curve) => curve?.type === "CREDIT_CARD" || curve?.type === "LOAN";

/** Return the rules that make a balance red: those with a smallest balance, or else zero, unless it is a debt. */
export function lowerLimits(model, curve) {
  const rules = balanceRules(model, curve).filter(({ atLeast }) => atLeast !== undefined);
  if (rules.length || isDebt(curve)) return rules;
  return [{ atLeast: 0, from: model.start, to: model.maxTime }];
}

/** Return the smallest balance that expectations allow on a curve at an instant. Smaller balances are red on all pages. */
export const smallestAllowed = (model, curve, at) => smallestOf(balanceRules(model, curve), at, curve);

/**
 * Return the lowest balances of the currencies that a scenario shows: `{ currency, at, value, isLow }`. If another one is
 * too low, add the lowest of those.
 */
export function lowestBalances(model) {
  const all = lowestOfEach(model, model.start).map((low) => ({
    ...low,
    isLow: low.value < smallestAllowed(model, low.curve, low.at),
  }));
  const others = all.slice(MAX_SHOWN_CURRENCIES).filter(({ isLow }) => isLow);
  const lowest = others.toSorted((left, right) => left.value - right.value).slice(0, 1);
  return [...all.slice(0, MAX_SHOWN_CURRENCIES), ...lowest];
}

/** Return the short label of an expectation in the chart: `[name, rest]`. A long name can be cut. */
export function shortLabel(expectation, model) {
  const [word, rule] = ruleOf(expectation);
  const { account, atLeast, atMost, goal, name, type, category, count = 1 } = rule;
  const subject = subjectOf(rule, model);
  if (word === "goalReached") return [goal, ""];
  if (word === "posted") return [name, count > 1 ? `, ${count} times` : ""];
  const bound = `${atLeast === undefined ? "≤" : "≥"} ${formatMoney(atLeast ?? atMost, subject.currency)}`;
  if (word === "balance") return account ? [subject.name, ` ${bound}`] : ["", bound];
  return [category ?? (type === "INCOME" ? "Income" : "Spent"), ` ${bound}`];
}

/** Return the instant at which an expectation is decided, or null. */
export function deadline(expectation) {
  const [, { by }] = ruleOf(expectation);
  return by ? parseInstant(by) : null;
}

/** Return the balance rules of a curve: `{ atLeast, atMost, from, to }` with instants. */
export const balanceRules = ({ expectations, start, maxTime }, { account, currency }) =>
  expectations
    .filter(
      ({ balance: rule }) => rule && (rule.account ? rule.account === account : !account && rule.currency === currency),
    )
    .map(({ balance: { atLeast, atMost, from, until } }) => ({
      atLeast,
      atMost,
      from: from ? parseInstant(from) : start,
      to: until ? parseInstant(until) : maxTime,
    }));

/** Return when a balance first violates an expectation. Return undefined if none does, or if it is about something else. */
export function firstViolation(model, { balance: rule }) {
  const curve = rule && curveOf(model, rule);
  if (!curve) return undefined;
  const [range] = balanceRules({ ...model, expectations: [{ balance: rule }] }, curve);
  return violationRanges(curve, range)[0]?.[0];
}

/** Return the ranges `[from, to]` in which a balance violates a rule. */
export function violationRanges({ times, values, start }, { atLeast = -Infinity, atMost = Infinity, from, to }) {
  const ranges = [];
  let index = from === start ? 0 : countUntil(times, from);
  for (let at = from; at <= to && index < values.length; at = times[index++]) {
    if (values[index] >= atLeast && values[index] <= atMost) continue;
    const end = Math.min(times[index] ?? to, to);
    if (ranges.at(-1)?.[1] === at) ranges.at(-1)[1] = end;
    else ranges.push([at, end]);
  }
  return ranges;
}
