// A clock as a schedule and an instant, and its view at any instant. Pure functions.

import { inCommonUnit, toNumber } from "./decimals.js";
import { addMonths, readInstant } from "./instants.js";

const MOST_HUNDREDTHS = 10n ** 17n;

/** Two decimals, half up; 100 only when the target is reached. */
function percentOf(current, target) {
  let hundredths = (20_000n * current + target) / (2n * target);
  if (current < target && hundredths > 9_999n) hundredths = 9_999n;
  if (hundredths > MOST_HUNDREDTHS) hundredths = MOST_HUNDREDTHS;
  return toNumber(hundredths, 2);
}

// A clock is a schedule and an instant, and all that is seen is computed from the two. So one snapshot is enough to show
// the clock at any instant, exactly as the server would, without asking it.

const MONTHS_OF_A_CLOCK = 120;

/** Of what createTestClock, advanceTestClock and getTestClock answer. `before`, an older model of it, may know more. */
export function readClock(clock, before) {
  const now = readInstant(clock.frozenTime);
  const maxTime = readInstant(clock.maxTime);
  const transactions = [...clock.transactions, ...clock.pendingTransactions];
  const goals = clock.goals.map((goal, index) => {
    const contributions = [...goal.contributions, ...goal.upcomingContributions];
    const initial = before?.goals[index]?.id === goal.id ? before.goals[index].initial : initialAmount(goal);
    return { ...goal, contributions, initial };
  });
  return build(
    { id: clock.id, status: clock.status, now, maxTime, expiresAt: readInstant(clock.expiresAt) },
    transactions,
    goals,
  );
}

/** Of the params of createTestClock, as scenarios have them: the clock that they would make. */
export function readParams({ frozenTime, transactions = [], goals = [] }) {
  const now = frozenTime === undefined ? Date.now() : readInstant(frozenTime);
  const inOrder = (entries) => [...entries].sort((one, other) => readInstant(one.at) - readInstant(other.at));
  const whole = goals.map((goal, index) => ({
    id: `goal ${index}`,
    ...goal,
    initial: goal.initialAmount ?? 0,
    contributions: inOrder(goal.contributions ?? []),
  }));
  const head = { id: null, status: null, now, maxTime: addMonths(now, MONTHS_OF_A_CLOCK), expiresAt: null };
  return build(head, inOrder(transactions), whole);
}

/** The params of createTestClock that make the same schedule again. */
export function writeParams(model, writeInstant) {
  return {
    frozenTime: writeInstant(model.start),
    transactions: model.items
      .filter((item) => item.currency)
      .map(({ at, name, amount, currency, kind, category }) => ({
        at: writeInstant(at),
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
      contributions: contributions.map(({ at, amount }) => ({ at: writeInstant(at), amount })),
    })),
  };
}

/** What is seen at an instant: how many of the items have happened, each currency's net flow, and every goal. */
export function viewAt(model, instant) {
  return {
    instant,
    happened: countUntil(model.times, instant),
    flows: new Map(model.flows.map((flow) => [flow.currency, flow.values[countUntil(flow.times, instant)]])),
    goals: model.goals.map((goal) => {
      const posted = countUntil(goal.times, instant);
      const current = goal.sums[posted];
      return {
        id: goal.id,
        name: goal.name,
        target: goal.target,
        current: toNumber(current, goal.places),
        remaining: toNumber(goal.needed - current, goal.places),
        percent: percentOf(current, goal.needed),
        posted,
        next: goal.contributions[posted] ?? null,
      };
    }),
  };
}

/** How many of these sorted times are at or before the instant. */
export function countUntil(times, instant) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

function build(head, transactions, goals) {
  const read = goals.map(readGoal);
  const items = [
    ...transactions.map((entry, index) => ({
      id: entry.id ?? `transaction ${index}`,
      at: readInstant(entry.at),
      kind: entry.type === "INCOME" ? "income" : "expense",
      name: entry.name,
      amount: entry.amount,
      currency: entry.currency,
      category: entry.category,
    })),
    ...read.flatMap((goal) =>
      goal.contributions.map((entry) => ({
        id: entry.id,
        at: entry.at,
        kind: "goal",
        name: goal.name,
        amount: entry.amount,
        goalId: goal.id,
      })),
    ),
  ].sort((one, other) => one.at - other.at);
  for (const item of items) item.happened = item.at <= head.now;
  const paid = items.filter((item) => item.currency);
  const currencies = [...new Set(paid.map((item) => item.currency))];
  return {
    ...head,
    // A fork has the start and the end of its original. Of 29 February the end is 28 February, and nobody can tell.
    start: Math.min(addMonths(head.maxTime, -MONTHS_OF_A_CLOCK), head.now),
    items,
    times: items.map((item) => item.at),
    goals: read,
    currencies,
    flows: currencies.map((currency) =>
      flowOf(
        currency,
        paid.filter((item) => item.currency === currency),
      ),
    ),
  };
}

/** The net flow of a currency before its first item, after it, and so on. */
function flowOf(currency, items) {
  const { places, counts } = inCommonUnit(items.map((item) => item.amount));
  let sum = 0n;
  const steps = counts.map((count, index) => (sum += items[index].kind === "income" ? count : -count));
  return { currency, times: items.map((item) => item.at), values: [0, ...steps.map((step) => toNumber(step, places))] };
}

function readGoal({ id, name, targetAmount, initial, contributions }) {
  const { places, counts } = inCommonUnit([targetAmount, initial, ...contributions.map((entry) => entry.amount)]);
  const [needed, ...steps] = counts;
  let sum = 0n;
  const read = contributions.map((entry, index) => ({
    id: entry.id ?? `${id} ${index}`,
    at: readInstant(entry.at),
    amount: entry.amount,
  }));
  return {
    id,
    name,
    target: targetAmount,
    initial,
    contributions: read,
    places,
    needed,
    sums: steps.map((step) => (sum += step)),
    times: read.map((entry) => entry.at),
  };
}

/**
 * What a goal had before its first contribution; the server does not say. It is what it has less what was posted, but
 * what it has was rounded to a double: so the number of the fewest digits that agrees with all that was said is taken.
 */
function initialAmount({ targetAmount, currentAmount, remainingAmount, contributions }) {
  const posted = contributions.map((entry) => entry.amount);
  if (posted.length === 0) return currentAmount;
  const { places, counts } = inCommonUnit([targetAmount, currentAmount, remainingAmount, ...posted]);
  const [target, current, remaining, ...steps] = counts;
  const given = steps.reduce((sum, step) => sum + step, 0n);
  const agrees = (initial) =>
    initial >= 0n &&
    initial <= target &&
    toNumber(initial + given, places) === currentAmount &&
    toNumber(target - initial - given, places) === remainingAmount;
  for (const guess of [current - given, target - remaining - given]) {
    for (let cut = places; cut >= 0; cut -= 1) {
      const unit = 10n ** BigInt(cut);
      const rounded = ((2n * guess + unit) / (2n * unit)) * unit;
      if (agrees(rounded)) return toNumber(rounded, places);
    }
  }
  return Math.max(0, toNumber(current - given, places));
}
