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

/**
 * Return a text that changes with each amendment. Items never change, and their ids are never used again. The opening
 * balances and the expectations can change.
 */
export const scheduleKey = (clock) =>
  [
    ...[clock.transactions, clock.pendingTransactions, clock.transfers ?? [], clock.pendingTransfers ?? []],
    clock.goals.map((goal) => [goal, goal.contributions, goal.upcomingContributions]),
  ]
    .flat(3)
    .map(({ id }) => id)
    .concat(JSON.stringify([clock.openingBalances, clock.expectations]))
    .join();

/**
 * Build the model of a clock in a response with details, or in a response to an action. Then an earlier model has the
 * start and the initial amounts.
 */
export function parseClock(clock, previous) {
  const goals = clock.goals.map((goal) => ({
    ...goal,
    contributions: [...goal.contributions, ...goal.upcomingContributions],
    initial: goal.initialAmount ?? previous.goals.find(({ id }) => id === goal.id).initial,
  }));
  return buildModel({
    state: {
      id: clock.id,
      scheduleKey: scheduleKey(clock),
      name: clock.name,
      labels: clock.labels ?? {},
      start: clock.startTime ? parseInstant(clock.startTime) : previous.start,
      now: parseInstant(clock.frozenTime),
      maxTime: parseInstant(clock.maxTime),
      expiresAt: parseInstant(clock.expiresAt),
    },
    transactions: [...clock.transactions, ...clock.pendingTransactions],
    transfers: [...(clock.transfers ?? []), ...(clock.pendingTransfers ?? [])],
    goals,
    accounts: clock.accounts,
    opening: clock.openingBalances,
    expectations: clock.expectations,
  });
}

const inOrder = (entries) => [...entries].sort((left, right) => parseInstant(left.at) - parseInstant(right.at));

/** Build the model of the clock that createTestClock would create. */
export function parseParams(params) {
  const { frozenTime, transactions = [], transfers = [], goals = [], accounts = [] } = params;
  const now = frozenTime === undefined ? Date.now() : parseInstant(frozenTime);
  const currencyOf = (key) => accounts.find((account) => account.key === key)?.currency;
  return buildModel({
    state: { id: null, labels: {}, start: now, now, maxTime: addMonths(now, CLOCK_MONTHS), expiresAt: null },
    transactions: inOrder(transactions).map((entry) => ({
      ...entry,
      account: entry.account ?? accounts.find(({ currency }) => currency === entry.currency)?.key,
    })),
    transfers: inOrder(transfers).map((entry) => ({
      ...entry,
      currency: currencyOf(entry.from),
      receivedCurrency: currencyOf(entry.to),
    })),
    goals: goals.map((goal, index) => ({
      id: `goal ${index}`,
      ...goal,
      initial: goal.initialAmount ?? 0,
      contributions: inOrder(goal.contributions ?? []),
    })),
    accounts,
    opening: params.openingBalances,
    expectations: params.expectations,
  });
}

const isCurrency = (text) => /^[A-Z]{3}$/.test(text);
const isEntry = ({ amount, at }) => typeof amount === "number" && amount > 0 && !Number.isNaN(parseInstant(at));
const isTransaction = (entry) => isEntry(entry) && isCurrency(entry.currency);

/** Return the model of the valid entries of some parameters, or null. The user can still be typing them. */
export function parseDraft({ frozenTime, transactions = [], transfers = [], goals = [], accounts = [], ...rest }) {
  if (frozenTime !== undefined && Number.isNaN(parseInstant(String(frozenTime)))) return null;
  try {
    const complete = accounts
      .filter(({ key, currency }) => key && isCurrency(currency))
      .map((account) => ({ ...account, openingBalance: Number(account.openingBalance) || 0 }));
    const isAccount = (key) => complete.some((account) => account.key === key);
    return parseParams({
      ...rest,
      frozenTime,
      transactions: transactions.filter(isTransaction),
      transfers: transfers.filter((entry) => isEntry(entry) && isAccount(entry.from) && isAccount(entry.to)),
      goals: goals
        .filter(({ targetAmount }) => typeof targetAmount === "number")
        .map((goal) => ({ ...goal, contributions: (goal.contributions ?? []).filter(isEntry) })),
      accounts: complete,
    });
  } catch {
    return null;
  }
}

/** Return the params of createTestClock for the same schedule. An amended clock can have more items than it accepts. */
export function toParams({ start, items, goals, accounts, opening, expectations }) {
  const entry = ({ at, name, amount, ...item }, ...members) => ({
    ...{ at: toTimestamp(at), name, amount },
    ...Object.fromEntries(members.map((member) => [member, item[member]]).filter(([, value]) => value !== undefined)),
  });
  const authorization = ["authorizedAt", "authorizedAmount", "authorizedName"];
  // The goals of a new clock have other ids.
  const nameOf = (goal) => goals.find(({ id }) => id === goal)?.name ?? goal;
  return {
    frozenTime: toTimestamp(start),
    ...(accounts.length && { accounts: accounts.map(({ balance, ...account }) => account) }),
    ...(Object.keys(opening).length && { openingBalances: opening }),
    transactions: items
      .filter(isPayment)
      .map((item) => entry(item, "currency", "type", "category", "account", ...authorization)),
    ...(accounts.length && {
      transfers: items.filter(isTransfer).map((item) => entry(item, "from", "to", "received")),
    }),
    goals: goals.map(({ name, target, initial, contributions }) => ({
      name,
      targetAmount: target,
      initialAmount: initial,
      contributions: contributions.map(({ at, amount }) => ({ at: toTimestamp(at), amount })),
    })),
    ...(expectations.length && {
      expectations: expectations.map(({ goalReached: rule, ...rest }) =>
        rule ? { goalReached: { ...rule, goal: nameOf(rule.goal) } } : rest,
      ),
    }),
  };
}

export const isTransfer = ({ kind }) => kind === "transfer";

/** Return whether an item is a transaction: income or an expense. */
export const isPayment = ({ kind }) => kind === "income" || kind === "expense";

/** Return the view at an instant: the number of posted items, the balances and the goals. */
export function viewAt(model, instant) {
  return {
    instant,
    postedCount: countUntil(model.times, instant),
    balances: new Map(model.balances.map((balance) => [balance.currency, balanceAt(balance, instant)])),
    accounts: new Map(model.accountBalances.map((balance) => [balance.account, balanceAt(balance, instant)])),
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

/** Return by how much an item changes the balance of an account, of a currency, or of all that it concerns. */
export function changeOf({ changes }, { account, currency } = {}) {
  const concerned = changes.filter((change) =>
    account ? change.account === account : !currency || change.currency === currency,
  );
  // Exact sums are slow.
  return concerned.length === 1 ? concerned[0].amount : exactSum(concerned.map(({ amount }) => amount));
}

/** Return the exact sum of the items for each currency: `[["EUR", -12.5]]`. With an account, that of the account. */
export function netAmounts(items, account) {
  const changes = items.flatMap((item) => item.changes);
  const amounts = Map.groupBy(
    changes.filter((change) => !account || change.account === account),
    (change) => change.currency,
  );
  return [...amounts].map(([currency, group]) => [currency, exactSum(group.map(({ amount }) => amount))]);
}

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
  balances.map((curve) => ({ curve, currency: curve.currency, ...lowestPoint(curve, from, maxTime) }));

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

/** Return the items of the entries of a clock. Each has its `changes` of balances `{ account, currency, amount }`. */
function itemsOf({ transactions, transfers }, goals) {
  return [
    ...transactions.map((entry, index) => {
      const isIncome = entry.type === "INCOME";
      const { account, currency } = entry;
      return {
        ...entry,
        id: entry.id ?? `transaction ${index}`,
        at: parseInstant(entry.at),
        kind: isIncome ? "income" : "expense",
        changes: [{ account, currency, amount: isIncome ? entry.amount : -entry.amount }],
      };
    }),
    ...transfers.map((entry, index) => {
      const { from, to, amount, received = amount, currency, receivedCurrency = currency } = entry;
      const changes = [
        { account: from, currency, amount: -amount },
        { account: to, currency: receivedCurrency, amount: received },
      ];
      return { ...entry, id: entry.id ?? `transfer ${index}`, at: parseInstant(entry.at), kind: "transfer", changes };
    }),
    ...goals.flatMap((goal) =>
      goal.contributions.map(({ id, at, amount }) => {
        const { name, id: goalId } = goal;
        return { id, at, kind: "goal", name, amount, goalId, changes: [] };
      }),
    ),
  ].sort((left, right) => left.at - right.at);
}

function buildModel({ state, goals, accounts = [], opening = {}, expectations = [], ...entries }) {
  const goalModels = goals.map(goalModel);
  const items = itemsOf(entries, goalModels);
  for (const item of items) item.isPosted = item.at <= state.now;
  const { start } = state;
  const used = [...items.flatMap(({ changes }) => changes), ...accounts].map(({ currency }) => currency);
  const currencies = [...new Set([...Object.keys(opening), ...used])];
  const openingOf = (currency) =>
    exactSum([
      opening[currency] ?? 0,
      ...accounts.filter((each) => each.currency === currency).map(({ openingBalance = 0 }) => openingBalance),
    ]);
  return {
    ...state,
    ...{ items, accounts, opening, expectations },
    times: items.map((item) => item.at),
    goals: goalModels,
    currencies,
    balances: currencies.map((currency) => balanceOf({ currency, start }, openingOf(currency), items)),
    accountBalances: accounts.map(({ key, name, type, currency, openingBalance = 0 }) =>
      balanceOf({ account: key, name, type, currency, start }, openingBalance, items),
    ),
  };
}

/**
 * Return the balance of a currency or an account before its first item, and after each instant with items. Set the
 * balance after each change: that of the account, or of the currency of a clock without accounts.
 */
function balanceOf({ account, currency, ...about }, opening, all) {
  const concerns = (change) => (account ? change.account === account : change.currency === currency);
  const items = all.filter(({ changes }) => changes.some(concerns));
  const { places, counts } = toCommonUnit([opening, ...items.map((item) => changeOf(item, { account, currency }))]);
  let sum = counts[0];
  const [times, values] = [[], [opening]];
  items.forEach((item, index) => {
    sum += counts[index + 1];
    const balance = toNumber(sum, places);
    for (const change of item.changes.filter(concerns)) change.balance = balance;
    // Items of one instant count together.
    if (times.at(-1) !== item.at) times.push(item.at);
    values[times.length] = balance;
  });
  return { account, currency, ...about, items, times, values, places };
}

/** Return the curves that a page shows first: those of the accounts, or else of the currencies. */
export const curvesOf = ({ balances, accountBalances }) => (accountBalances.length ? accountBalances : balances);

/** Return the curve of an account, or else of a currency, or undefined. */
export const curveOf = ({ balances, accountBalances }, { account, currency }) =>
  account
    ? accountBalances.find((curve) => curve.account === account)
    : balances.find((curve) => curve.currency === currency);

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
