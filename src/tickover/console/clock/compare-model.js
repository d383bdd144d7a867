// The differences between two clocks. Pure functions.

import { difference, exactSum, toCommonUnit, toNumber } from "../lib/decimals.js";
import { balanceAt } from "./clock-model.js";
import { violationRanges } from "./expectations.js";

const EMPTY = { times: [], values: [0] };

/**
 * Compare the balances of two clocks in a currency. Return their `balances`, `starts` and `nows`, and the difference
 * `delta` from `from` on, the later start. `differsFrom` is its first instant that is not zero, or Infinity, and
 * `largestAt` the instant with the largest difference.
 */
export function compareBalances(models, currency) {
  const balances = models.map(({ balances }) => balances.find((each) => each.currency === currency) ?? EMPTY);
  const starts = models.map(({ start }) => start);
  const from = Math.max(...starts);
  const times = [...new Set(balances.flatMap((balance) => balance.times))]
    .filter((time) => time > from)
    .sort((left, right) => left - right);
  const instants = [from, ...times];
  const values = instants.map((instant) =>
    difference(balanceAt(balances[1], instant), balanceAt(balances[0], instant)),
  );
  const largest = values.reduce((best, value, index) => (Math.abs(value) > Math.abs(values[best]) ? index : best), 0);
  return {
    balances,
    starts,
    nows: models.map(({ now }) => now),
    from,
    delta: { times, values },
    differsFrom: instants[values.findIndex((value) => value !== 0)] ?? Infinity,
    largestAt: instants[largest],
  };
}

/** Return when a balance first violates one of the rules, or Infinity. */
export const firstViolation = (balance, rules) =>
  Math.min(...rules.flatMap((rule) => violationRanges(balance, rule)).map(([at]) => at));

/** Pair the items of two lists that have the same key. Return the pairs, and the other items of both lists. */
function pairItems([first, second], keyOf) {
  const candidates = Map.groupBy(second, keyOf);
  const [pairs, rest] = [[], []];
  for (const item of first) {
    const match = candidates.get(keyOf(item))?.shift();
    if (match) pairs.push([item, match]);
    else rest.push(item);
  }
  return { pairs, rest: [rest, [...candidates.values()].flat()] };
}

const nameKey = ({ kind, name, currency, account, from, to }) => [kind, name, currency, account, from, to].join("\n");
const timeKey = (item) => `${item.at}\n${nameKey(item)}`;

/**
 * Return what differs between two clocks, in the order of time: `{ items, count }`. `items` is an item of each clock,
 * or null if only the other one has it. Equal changes of several items count together. Forks have items with other ids.
 */
export function findDifferences(models) {
  const { rest: unequal } = pairItems(
    models.map(({ items }) => items),
    (item) => `${item.amount}\n${timeKey(item)}`,
  );
  const changed = pairItems(unequal, timeKey);
  const moved = pairItems(changed.rest, nameKey);
  const [removed, added] = moved.rest;
  const groups = Map.groupBy(
    [...changed.pairs, ...moved.pairs, ...removed.map((item) => [item, null]), ...added.map((item) => [null, item])],
    ([first, second]) =>
      [nameKey(first ?? second), first?.amount, second?.amount, first && second && second.at - first.at].join("\n"),
  );
  const timeOf = ({ items: [first, second] }) => (first ?? second).at;
  return [...groups.values()]
    .map((group) => ({ items: group[0], count: group.length }))
    .sort((left, right) => timeOf(left) - timeOf(right));
}

/** Return by how much a difference changes the balance, or an item of one clock, as often as it occurs. */
export function totalChange({ items, count }) {
  const [first, second] = items;
  const { places, counts } = toCommonUnit([first?.amount ?? 0, second?.amount ?? 0]);
  const change = second ? counts[1] - counts[0] : counts[0];
  return toNumber(change * BigInt((first ?? second).kind === "expense" ? -count : count), places);
}

/** Return the sum of a clock's income or expenses in a currency. */
export function totalOf({ items }, kind, currency) {
  const some = items.filter((item) => item.kind === kind && item.currency === currency);
  return exactSum(some.map(({ amount }) => amount));
}
