import assert from "node:assert/strict";
import { test } from "node:test";
import { parseParams } from "./clock-model.js";
import {
  describeExpectation,
  expectationState,
  lowestBalances,
  progressText,
  summarizeChecks,
} from "./expectations.js";

const day = (number) => `2027-01-${String(number).padStart(2, "0")}T00:00:00Z`;
const DAY = 86_400_000;
const rent = { name: "Rent", type: "EXPENSE", amount: 10, currency: "EUR" };
const by = "2027-02-01T00:00:00Z";
const model = parseParams({
  frozenTime: day(1),
  transactions: [
    { ...rent, at: day(3) },
    { ...rent, at: day(5) },
    { ...rent, currency: "USD", name: "Gym", at: day(9) },
  ],
  goals: [
    {
      name: "Trip",
      targetAmount: 9,
      initialAmount: 1.5,
      contributions: [
        { amount: 7.5, at: day(4) },
        { amount: 1, at: day(8) },
      ],
    },
    { name: "Done", targetAmount: 1, initialAmount: 1, contributions: [] },
  ],
});
const after = (days) => ({ ...model, now: model.now + days * DAY });

test("an expectation is held from the day on which nothing can break it", () => {
  // The day since 1 January, and the progress at the start and on the day before.
  for (const [expectation, held, first = "", last = ""] of [
    [{ posted: { name: "Rent", count: 2, by } }, 4, "0 of 2 posted so far", "1 of 2 posted so far"],
    [{ posted: { name: "Gym", by } }, 8, "Not posted yet", "Not posted yet"],
    [{ goalReached: { goal: "Trip", by } }, 3, "1.50 of 9.00 so far", "1.50 of 9.00 so far"],
    [{ goalReached: { goal: "goal 1", by } }, 0],
    [{ balance: { currency: "EUR", atLeast: -50 } }, 4],
    [{ balance: { currency: "USD", atLeast: -50 } }, 8],
    [{ balance: { currency: "USD", atLeast: -50, until: day(7) } }, 6],
    [{ balance: { currency: "CHF", atLeast: 0 } }, 0],
    [{ total: { type: "EXPENSE", currency: "EUR", atMost: 100 } }, 4],
  ]) {
    const states = Array.from({ length: 10 }, (_, days) => expectationState(expectation, { ok: true }, after(days)));
    const expected = states.map((_, days) => (days < held ? "will hold" : "held"));
    assert.deepEqual(states, expected, JSON.stringify(expectation));
    if (!held) continue;
    assert.equal(progressText(expectation, after(0)), first);
    assert.equal(progressText(expectation, after(held - 1)), last);
  }
});

const broken = (number) => ({ ok: false, violation: { at: day(number), actual: -1 } });
const never = { balance: { currency: "EUR", atLeast: 0 } };

test("a violation in the past is broken, and one ahead will break", () => {
  const summary = (results, days) => {
    const { state, text, at } = summarizeChecks(
      results.map(() => never),
      results,
      after(days),
    );
    return [state, text, at && new Date(at).getUTCDate()];
  };
  assert.deepEqual(summary([{ ok: true }], 0), ["will hold", "All will hold", undefined]);
  assert.deepEqual(summary([{ ok: true }], 5), ["held", "All held", undefined]);
  assert.deepEqual(summary([broken(3)], 1), ["will break", "Will break", 3]);
  assert.deepEqual(summary([broken(3)], 2), ["broken", "Broken", 3]);
  // The first violation decides. Equal states count together.
  assert.deepEqual(summary([broken(5), broken(3), { ok: true }], 1), ["will break", "2 of 3 will break", 3]);
  assert.deepEqual(summary([broken(5), broken(3), { ok: true }], 3), ["broken", "1 of 3 broken", 3]);
});

test("expectations in words", () => {
  const total = { type: "EXPENSE", currency: "EUR", category: "Home", per: "MONTH", atLeast: 5, atMost: 9 };
  assert.equal(describeExpectation(never), "EUR balance never below €0.00");
  assert.equal(
    describeExpectation({ balance: { currency: "EUR", atMost: 9.5, from: day(2), until: day(3) } }),
    "EUR balance never above €9.50 from 2 Jan 2027 until 3 Jan 2027",
  );
  assert.equal(describeExpectation({ total }), "Expenses for “Home” at least €5.00 and at most €9.00 in every month");
  assert.equal(describeExpectation({ posted: { name: "Rent", by, count: 2 } }), "“Rent” posted 2 times by 1 Feb 2027");
  assert.equal(describeExpectation({ goalReached: { goal: "Trip", by } }), "Goal “Trip” reached by 1 Feb 2027");
});

test("a fourth currency is shown only if it is too low, and the lowest of several", () => {
  const items = ["EUR", "CHF", "USD", "GBP", "JPY", "SEK"].map((currency, index) => ({
    ...rent,
    currency,
    at: day(3),
    type: index < 3 ? "INCOME" : "EXPENSE",
    amount: index + 1,
  }));
  const shown = (transactions) =>
    lowestBalances(parseParams({ frozenTime: day(1), transactions }), []).map(({ currency, isLow }) => [
      currency,
      isLow,
    ]);
  const others = [["EUR", false], ["CHF", false], ["USD", false]]; // biome-ignore format: one line
  assert.deepEqual(shown(items), [...others, ["SEK", true]]);
  assert.deepEqual(shown(items.map((item) => ({ ...item, type: "INCOME" }))), others);
});
