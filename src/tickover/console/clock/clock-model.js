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

/** Build the model of a clock in a response. An earlier model has the exact initial amounts and opening balances. */
export function parseClock(clock, previous, opening = previous?.opening ?? {}) {
  const now = parseInstant(clock.frozenTime);
  const maxTime = parseInstant(clock.maxTime);
  const transactions = [...clock.transactions, ...clock.pendingTransactions];
  const goals = clock.goals.map((goal, index) => {
    const contributions = [...goal.contributions, ...goal.upcomingContributions];
    const initial = previous?.goals[index]?.id === goal.id ? previous.goals[index].initial : initialAmount(goal);
    return { ...goal, contributions, initial };
  });
  return buildModel(
    {
      id: clock.id,
      scheduleKey: scheduleKey(clock),
      name: clock.name,
      labels: clock.labels ?? {},
      now,
      maxTime,
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
  const state = { id: null, labels: {}, now, maxTime: addMonths(now, CLOCK_MONTHS), expiresAt: null };
  return buildModel(state, inOrder(transactions), goalsWithDefaults, opening);
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

/** Return the exact sum of the transactions for each currency: `[["EUR", -12.5]]`. */
export function netAmounts(items) {
  const amounts = Map.groupBy(
    items.filter((item) => item.currency),
    (item) => item.currency,
  );
  return [...amounts].map(([currency, group]) => [currency, exactSum(group.map(signed))]);
}

export const OPENING_BALANCE = { name: "Opening balance", category: "Opening balance" };

/** Return whether a transaction is the opening balance of a scenario. */
export const isOpening = ({ name, category }) => name === OPENING_BALANCE.name && category === OPENING_BALANCE.category;

/** Return the balance of a currency before its first income or expense. */
export function openingBalance({ items, opening }, currency) {
  const openings = items.filter((item) => item.currency === currency && isOpening(item));
  return exactSum([opening[currency] ?? 0, ...openings.map(signed)]);
}

export const balanceAt = ({ times, values }, instant) => values[countUntil(times, instant)];

/** Return the lowest point `{ at, value }` of a balance from `from` until `to`. The earliest point wins a tie. */
export function lowestPoint({ times, values }, from, to) {
  const [first, last] = [countUntil(times, from), countUntil(times, to)];
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
  for (const item of items) item.isPosted = item.at <= state.now;
  return {
    ...state,
    // A fork has the start and end of its original. For a start on 29 February, this is 28 February.
    start: Math.min(addMonths(state.maxTime, -CLOCK_MONTHS), state.now),
    items,
    times: items.map((item) => item.at),
    goals: goalModels,
    ...balancesOf(items, opening),
  };
}

/** Return the model with other opening balances. */
export const withOpening = (model, opening) => ({ ...model, ...balancesOf(model.items, opening) });

function balancesOf(items, opening) {
  const transactions = items.filter((item) => item.currency);
  const currencies = [...new Set([...transactions.map((item) => item.currency), ...Object.keys(opening)])];
  const balances = currencies.map((currency) =>
    balanceOf(
      currency,
      transactions.filter((item) => item.currency === currency),
      opening[currency] ?? 0,
    ),
  );
  return { opening, currencies, balances };
}

/**
 * Return the balance of a currency before its first item and after each instant with items. Set `item.balance`, the
 * balance after the item and all before it.
 */
function balanceOf(currency, items, opening) {
  const { places, counts } = toCommonUnit([opening, ...items.map((item) => item.amount)]);
  let sum = counts[0];
  const [times, values] = [[], [opening]];
  items.forEach((item, index) => {
    sum += item.kind === "income" ? counts[index + 1] : -counts[index + 1];
    item.balance = toNumber(sum, places);
    // Items of one instant count together.
    if (times.at(-1) !== item.at) times.push(item.at);
    values[times.length] = item.balance;
  });
  return { currency, times, values, places };
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

/**
 * Compute the initial amount of a goal, which responses don't have: the current amount minus the posted contributions.
 * The current amount is a rounded double, so take the shortest number that matches all amounts in the response.
 */
function initialAmount({ targetAmount, currentAmount, remainingAmount, contributions }) {
  const posted = contributions.map((entry) => entry.amount);
  if (posted.length === 0) return currentAmount;
  const { places, counts } = toCommonUnit([targetAmount, currentAmount, remainingAmount, ...posted]);
  const [target, current, remaining, ...steps] = counts;
  const postedSum = steps.reduce((sum, step) => sum + step, 0n);
  const matches = (initial) =>
    initial >= 0n &&
    initial <= target &&
    toNumber(initial + postedSum, places) === currentAmount &&
    toNumber(target - initial - postedSum, places) === remainingAmount;
  for (const guess of [current - postedSum, target - remaining - postedSum]) {
    for (let cut = places; cut >= 0; cut -= 1) {
      const unit = 10n ** BigInt(cut);
      const rounded = ((2n * guess + unit) / (2n * unit)) * unit;
      if (matches(rounded)) return toNumber(rounded, places);
    }
  }
  return Math.max(0, toNumber(current - postedSum, places));
}
