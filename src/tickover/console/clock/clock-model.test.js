import assert from "node:assert/strict";
import { test } from "node:test";
import {
  lowestAhead,
  lowestOfAll,
  lowestPoint,
  lowestPoints,
  netAmounts,
  openingBalance,
  parseClock,
  parseDraft,
  parseParams,
  toParams,
  viewAt,
} from "./clock-model.js";
import { totalOf } from "./compare-model.js";

const day = (number) => `2027-01-${String(number).padStart(2, "0")}T00:00:00Z`;
const at = (number) => Date.parse(day(number));

/** Return params with an item for each `[day, amount]`, negative for an expense. */
const params = (items, currency = "EUR") => ({
  frozenTime: day(1),
  transactions: items.map(([number, amount, category]) => ({
    at: day(number),
    name: `Item of ${number}`,
    amount: Math.abs(amount),
    currency,
    type: amount > 0 ? "INCOME" : "EXPENSE",
    ...(category && { category }),
  })),
});

test("the earliest of equal lowest balances wins", () => {
  const model = parseParams(params([[2, -5], [3, 5], [4, -5], [5, 9]])); // biome-ignore format: one line
  const [balance] = model.balances;
  assert.deepEqual(lowestPoint(balance, model.start, at(9)), { at: at(2), value: -5 });
  assert.deepEqual(lowestPoint(balance, at(3), at(9)), { at: at(4), value: -5 });
  // A balance that stays lowest is as low from the first instant on.
  assert.deepEqual(lowestPoint(balance, at(4), at(4)), { at: at(4), value: -5 });
  assert.deepEqual(lowestAhead(balance, { now: at(5), maxTime: model.maxTime }), { at: at(5), value: 4 });
});

test("the first currency wins if several have the same lowest balance", () => {
  const [first, second, third] = ["EUR", "CHF", "USD"].map((currency) => params([[2, -5]], currency).transactions);
  const model = parseParams({ ...params([]), transactions: [...first, ...second] });
  assert.equal(lowestOfAll(model, model.start).currency, "EUR");
  assert.equal(lowestPoints(model, model.start).length, 2);
  const three = parseParams({ ...params([]), transactions: [...third, ...first, ...second] });
  assert.deepEqual(
    lowestPoints(three, three.start).map(({ currency }) => currency),
    ["USD"],
  );
});

test("items of one instant count together", () => {
  const model = parseParams(params([[2, -5], [2, 5], [3, 1]])); // biome-ignore format: one line
  assert.deepEqual(lowestPoint(model.balances[0], model.start, at(9)), { at: at(1), value: 0 });
});

test("an opening balance is neither income nor expense", () => {
  const model = parseParams({ ...params([[1, 5], [3, -9]]), openingBalances: { EUR: 71 } }); // biome-ignore format: one line
  assert.equal(openingBalance(model, "EUR"), 71);
  assert.deepEqual([totalOf(model, "income", "EUR"), totalOf(model, "expense", "EUR")], [5, 9]);
  // It is a point of its own, before the items of the start.
  assert.deepEqual(lowestPoint(model.balances[0], model.start, at(2)), { at: at(1), value: 71 });
  assert.equal(viewAt(model, at(1)).balances.get("EUR"), 76);
});

const ACCOUNTS = [
  { key: "checking", name: "Checking", currency: "EUR", openingBalance: 100 },
  { key: "card", name: "Card", currency: "EUR", type: "CREDIT_CARD" },
  { key: "dollars", name: "Dollars", currency: "USD", openingBalance: 0.1 },
];

test("each account has a curve, and a transfer only moves money", () => {
  const { transactions, frozenTime } = params([[2, -30], [3, 5]]); // biome-ignore format: one line
  transactions[1].account = "card";
  const transfers = [
    { name: "Pay the card", from: "checking", to: "card", amount: 20, at: day(3) },
    { name: "Exchange", from: "checking", to: "dollars", amount: 10, received: 11.2, at: day(4) },
  ];
  const model = parseParams({ frozenTime, transactions, transfers, accounts: ACCOUNTS });
  assert.deepEqual(
    model.accountBalances.map(({ values }) => values),
    [
      [100, 70, 50, 40],
      [0, 25],
      [0.1, 11.3],
    ],
  );
  // Both sides of a transfer in one currency count together.
  assert.deepEqual(
    model.balances.map(({ currency, values }) => [currency, values]),
    [["EUR", [100, 70, 75, 65]], ["USD", [0.1, 11.3]]], // biome-ignore format: one line
  );
  assert.deepEqual(netAmounts(model.items, "card"), [["EUR", 25]]);
  const { EUR, USD } = Object.fromEntries(netAmounts(model.items));
  assert.deepEqual([EUR, USD], [-35, 11.2]);
  assert.deepEqual(viewAt(model, at(3)).accounts, new Map([["checking", 50], ["card", 25], ["dollars", 0.1]])); // biome-ignore format: one line
  assert.deepEqual(toParams(model).transfers, transfers);
  assert.deepEqual(toParams(model).accounts, ACCOUNTS);
});

test("the goals of a new clock have other ids", () => {
  const rule = { goal: "goal 0", by: day(9) };
  const model = parseParams({
    frozenTime: day(1),
    goals: [{ name: "Trip", targetAmount: 3 }],
    expectations: [{ goalReached: rule }],
  });
  assert.deepEqual(toParams(model).expectations, [{ goalReached: { ...rule, goal: "Trip" } }]);
});

const goal = (id, more) => ({
  id,
  name: id,
  targetAmount: 10,
  currentAmount: 7,
  remainingAmount: 3,
  contributions: [{ id: "c", at: day(3), amount: 2 }],
  upcomingContributions: [],
  ...more,
});
const response = { id: "clock_1", frozenTime: day(4), maxTime: "2037-01-01T00:00:00Z", expiresAt: day(8) };

test("a response to an action keeps the start and the initial amounts of the details", () => {
  const empty = { transactions: [], pendingTransactions: [], openingBalances: { EUR: 3 } };
  const details = { ...response, ...empty, startTime: day(2), goals: [goal("a", { initialAmount: 5 })] };
  const before = parseClock(details);
  const after = parseClock({ ...response, ...empty, goals: [goal("a")] }, before);
  for (const model of [before, after]) {
    assert.deepEqual([model.start, model.goals[0].initial, model.opening], [at(2), 5, { EUR: 3 }]);
    assert.equal(viewAt(model, at(2)).goals[0].current, 5);
  }
});

test("a goal is at 100 percent only if it is reached", () => {
  const percent = (initial, target) =>
    viewAt(
      parseParams({ ...params([]), goals: [{ name: "Trip", targetAmount: target, initialAmount: initial }] }),
      at(1),
    ).goals[0].percent;
  assert.deepEqual(
    [percent(0, 3), percent(1, 3), percent(2, 3), percent(99_999_999, 1e8), percent(3, 3)],
    [0, 33.33, 66.67, 99.99, 100],
  );
});

const ITEM = { at: "2027-01-02T00:00:00Z", name: "Rent", amount: 5, currency: "EUR", type: "EXPENSE" };
const count = (...transactions) => parseDraft({ frozenTime: "2027-01-01T00:00:00Z", transactions }).items.length;

test("the preview of a draft shows only complete transactions", () => {
  assert.equal(count(ITEM), 1);
  for (const currency of ["EU", "EURO", "eur", "E1R", "", undefined])
    assert.equal(count({ ...ITEM, currency }), 0, `currency ${currency}`);
  for (const amount of [0, -1, "5", "", undefined]) assert.equal(count({ ...ITEM, amount }), 0, `amount ${amount}`);
  for (const at of ["", "2027-01", "soon"]) assert.equal(count({ ...ITEM, at }), 0, `time ${at}`);
  assert.equal(count(ITEM, { ...ITEM, currency: "EU" }, ITEM), 2);
});

test("a draft with an invalid start has no preview", () => {
  assert.equal(parseDraft({ frozenTime: "soon", transactions: [ITEM] }), null);
  assert.equal(parseDraft({ transactions: 5 }), null);
});
