// A clock as a schedule and an instant, and its view at any instant. Pure functions.

import { exactSum, toCommonUnit, toNumber } from "../lib/decimals.js";
import { addMonths, parseInstant, toTimestamp } from "../lib/instants.js";

const MAX_HUNDREDTHS = 10n ** 17n;

/** Return the progress with two decimals, rounded half up. It is 100 only if the target is reached. */
function progressPercent(current, target) {
  let hundredths = (20_000n * current + target) / (2n * target);
  if (current < target && hundredths > 9_999n) hundredths = 9_999n;
  if (hundredths > MAX_HUNDREDTHS) hundredths = MAX_HUNDREDTHS;
  return toNumber(hundredths, 2);
}

const CLOCK_MONTHS = 120;

/** Return a text that changes with each amendment. Items never change, and their ids are never used again. */
export const scheduleKey = ({ transactions, pendingTransactions, goals }) =>
  [transactions, pendingTransactions, goals.map((goal) => [goal, goal.contributions, goal.upcomingContributions])]
    .flat(3)
    .map(({ id }) => id)
    .join();

/**
 * Build the model of a clock in a response with details, or in a response to an action. Then an earlier model has the
 * start, the initial amounts and the opening balances.
 */
export function parseClock(clock, previous, opening = previous?.opening ?? {}) {
  const transactions = [...clock.transactions, ...clock.pendingTransactions];
  const goals = clock.goals.map((goal) => ({
    ...goal,
    contributions: [...goal.contributions, ...goal.upcomingContributions],
    initial: goal.initialAmount ?? previous.goals.find(({ id }) => id === goal.id).initial,
  }));
  return buildModel(
    {
      id: clock.id,
      scheduleKey: scheduleKey(clock),
      name: clock.name,
      labels: clock.labels ?? {},
      start: clock.startTime ? parseInstant(clock.startTime) : previous.start,
      now: parseInstant(clock.frozenTime),
      maxTime: parseInstant(clock.maxTime),
      expiresAt: parseInstant(clock.expiresAt),
    },
    transactions,
    goals,
    opening,
  );
}

/** Build the model of the clock that createTestClock would create. */
export function parseParams({ frozenTime, transactions = [], goals = [] }, opening = {}) {
  const now = frozenTime === undefined ? Date.now() : parseInstant(frozenTime);
  const inOrder = (entries) => [...entries].sort((left, right) => parseInstant(left.at) - parseInstant(right.at));
  const goalsWithDefaults = goals.map((goal, index) => ({
    id: `goal ${index}`,
    ...goal,
    initial: goal.initialAmount ?? 0,
    contributions: inOrder(goal.contributions ?? []),
  }));
  const state = { id: null, labels: {}, start: now, now, maxTime: addMonths(now, CLOCK_MONTHS), expiresAt: null };
  return buildModel(state, inOrder(transactions), goalsWithDefaults, opening);
}

const isEntry = ({ amount, at }) => typeof amount === "number" && amount > 0 && !Number.isNaN(parseInstant(at));
const isTransaction = (entry) => isEntry(entry) && /^[A-Z]{3}$/.test(entry.currency);

/** Return the model of the valid entries of some parameters, or null. The user can still be typing them. */
export function parseDraft({ frozenTime, transactions = [], goals = [] }) {
  if (frozenTime !== undefined && Number.isNaN(parseInstant(String(frozenTime)))) return null;
  try {
    return parseParams({
      frozenTime,
      transactions: transactions.filter(isTransaction),
      goals: goals
        .filter(({ targetAmount }) => typeof targetAmount === "number")
        .map((goal) => ({ ...goal, contributions: (goal.contributions ?? []).filter(isEntry) })),
    });
  } catch {
    return null;
  }
}

/** Return the params of createTestClock for the same schedule. An amended clock can have more items than it accepts. */
export function toParams(model) {
  return {
    frozenTime: toTimestamp(model.start),
    transactions: model.items
      .filter((item) => item.currency)
      .map(({ at, name, amount, currency, kind, category }) => ({
        at: toTimestamp(at),
        name,
        amount,
        currency,
        type: kind.toUpperCase(),
        ...(category !== undefined && { category }),
      })),
    goals: model.goals.map(({ name, target, initial, contributions }) => ({
      name,
      targetAmount: target,
      initialAmount: initial,
      contributions: contributions.map(({ at, amount }) => ({ at: toTimestamp(at), amount })),
    })),
  };
}

/** Return the view at an instant: the number of posted items, the balances and the goals. */
export function viewAt(model, instant) {
  return {
    instant,
    postedCount: countUntil(model.times, instant),
    balances: new Map(model.balances.map((balance) => [balance.currency, balanceAt(balance, instant)])),
    goals: model.goals.map((goal) => {
      const postedCount = countUntil(goal.times, instant);
      const current = goal.sums[postedCount];
      return {
        id: goal.id,
        name: goal.name,
        target: goal.target,
        current: toNumber(current, goal.places),
        remaining: toNumber(goal.targetUnits - current, goal.places),
        percent: progressPercent(current, goal.targetUnits),
        postedCount,
        next: goal.contributions[postedCount] ?? null,
      };
    }),
  };
}

/** Return the items of the next instant. There are none if all are posted. */
export function nextItems({ items, times, now }) {
  const first = countUntil(times, now);
  return items.slice(first, countUntil(times, times[first] ?? now));
}

export const signed = ({ kind, amount }) => (kind === "income" ? amount : -amount);

/** Return the exact sum of the income and expenses for each currency: `[["EUR", -12.5]]`. */
export function netAmounts(items) {
  const amounts = Map.groupBy(
    items.filter((item) => item.currency && !item.isOpening),
    (item) => item.currency,
  );
  return [...amounts].map(([currency, group]) => [currency, exactSum(group.map(signed))]);
}

/** The category of a transaction at the start that is an opening balance: neither income nor expense. */
export const OPENING_BALANCE = "Opening balance";

/** Return the balance of a currency before its first income or expense. */
export const openingBalance = ({ balances }, currency) =>
  balances.find((balance) => balance.currency === currency)?.values[0] ?? 0;

export const balanceAt = ({ times, values }, instant) => values[countUntil(times, instant)];

/**
 * Return the lowest point `{ at, value }` of a balance from `from` until `to`. The earliest point wins a tie. The opening
 * balance is a point of its own, before the other items of the start.
 */
export function lowestPoint({ times, values, start }, from, to) {
  const [first, last] = [from === start ? 0 : countUntil(times, from), countUntil(times, to)];
  let lowest = { at: from, value: values[first] };
  for (let index = first + 1; index <= last; index += 1)
    if (values[index] < lowest.value) lowest = { at: times[index - 1], value: values[index] };
  return lowest;
}

/** The number of currencies that a scenario shows. */
export const MAX_SHOWN_CURRENCIES = 3;

/** Return the lowest balance of each currency from `from` on: `{ currency, at, value }`. */
export const lowestOfEach = ({ balances, maxTime }, from) =>
  balances.map((balance) => ({ currency: balance.currency, ...lowestPoint(balance, from, maxTime) }));

/** Return the lowest balance of all currencies from `from` on, or null: `{ currency, at, value }`. */
export const lowestOfAll = (model, from) =>
  lowestOfEach(model, from).toSorted((left, right) => left.value - right.value)[0] ?? null;

/** Return the lowest points of one or two currencies from an instant on, or of more currencies the lowest of all. */
export const lowestPoints = (model, from) =>
  model.balances.length > 2 ? [lowestOfAll(model, from)] : lowestOfEach(model, from);

/** Return the lowest point of a balance from now on. */
export const lowestAhead = (balance, { now, maxTime }) => lowestPoint(balance, now, maxTime);

/** Count the sorted times at or before the instant. */
export function countUntil(times, instant) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

function buildModel(state, transactions, goals, opening) {
  const goalModels = goals.map(goalModel);
  const items = [
    ...transactions.map((entry, index) => ({
      id: entry.id ?? `transaction ${index}`,
      at: parseInstant(entry.at),
      kind: entry.type === "INCOME" ? "income" : "expense",
      name: entry.name,
      amount: entry.amount,
      currency: entry.currency,
      category: entry.category,
    })),
    ...goalModels.flatMap((goal) =>
      goal.contributions.map((entry) => ({
        id: entry.id,
        at: entry.at,
        kind: "goal",
        name: goal.name,
        amount: entry.amount,
        goalId: goal.id,
      })),
    ),
  ].sort((left, right) => left.at - right.at);
  for (const item of items) {
    item.isPosted = item.at <= state.now;
    item.isOpening = item.category === OPENING_BALANCE && item.at <= state.start;
  }
  return {
    ...state,
    items,
    times: items.map((item) => item.at),
    goals: goalModels,
    ...balancesOf(items, state.start, opening),
  };
}

/** Return the model with other opening balances. */
export const withOpening = (model, opening) => ({ ...model, ...balancesOf(model.items, model.start, opening) });

function balancesOf(items, start, opening) {
  const transactions = items.filter((item) => item.currency);
  const currencies = [...new Set([...transactions.map((item) => item.currency), ...Object.keys(opening)])];
  const balances = currencies.map((currency) =>
    balanceOf(
      currency,
      transactions.filter((item) => item.currency === currency),
      opening[currency] ?? 0,
      start,
    ),
  );
  return { opening, currencies, balances };
}

/**
 * Return the balance of a currency before its first income or expense, and after each instant with items. Set
 * `item.balance`, the balance after the item and all before it.
 */
function balanceOf(currency, items, opening, start) {
  const { places, counts } = toCommonUnit([opening, ...items.map((item) => item.amount)]);
  let sum = counts[0];
  const openings = items.filter((item) => item.isOpening);
  const [times, values] = [[], [exactSum([opening, ...openings.map(signed)])]];
  items.forEach((item, index) => {
    sum += item.kind === "income" ? counts[index + 1] : -counts[index + 1];
    item.balance = toNumber(sum, places);
    // Items of one instant count together.
    if (times.at(-1) !== item.at) times.push(item.at);
    values[times.length] = item.balance;
  });
  return { currency, start, times, values, places };
}

function goalModel({ id, name, targetAmount, initial, contributions }) {
  const { places, counts } = toCommonUnit([targetAmount, initial, ...contributions.map((entry) => entry.amount)]);
  const [targetUnits, ...steps] = counts;
  let sum = 0n;
  const entries = contributions.map((entry, index) => ({
    id: entry.id ?? `${id} ${index}`,
    at: parseInstant(entry.at),
    amount: entry.amount,
  }));
  return {
    id,
    name,
    target: targetAmount,
    initial,
    contributions: entries,
    places,
    targetUnits,
    sums: steps.map((step) => (sum += step)),
    times: entries.map((entry) => entry.at),
  };
}
