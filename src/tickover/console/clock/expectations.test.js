import assert from "node:assert/strict";
import { test } from "node:test";
import { parseParams } from "./clock-model.js";
import {
  describeExpectation,
  describeViolation,
  expectationState,
  firstViolation,
  lowestBalances,
  progressText,
  shortLabel,
  smallestAllowed,
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

const violatedOn = (number) => ({ ok: false, violation: { at: day(number), actual: -1 } });
const never = { balance: { currency: "EUR", atLeast: 0 } };

test("a violation in the past and one ahead have different states", () => {
  const summary = (results, days) => {
    const { state, text, at } = summarizeChecks({ ...after(days), expectations: results.map(() => never) }, results);
    return [state, text, at && new Date(at).getUTCDate()];
  };
  assert.deepEqual(summary([{ ok: true }], 0), ["will hold", "All will hold", undefined]);
  assert.deepEqual(summary([{ ok: true }], 5), ["held", "All held", undefined]);
  assert.deepEqual(summary([violatedOn(3)], 1), ["will be violated", "1 violation", 3]);
  assert.deepEqual(summary([violatedOn(3)], 2), ["violated", "1 violation", 3]);
  // The first violation decides.
  assert.deepEqual(summary([violatedOn(5), violatedOn(3), { ok: true }], 1), ["will be violated", "2 violations", 3]);
  assert.deepEqual(summary([violatedOn(5), violatedOn(3), { ok: true }], 3), ["violated", "2 violations", 3]);
});

test("expectations in words", () => {
  const total = { type: "EXPENSE", currency: "EUR", category: "Home", per: "MONTH", atLeast: 5, atMost: 9 };
  assert.equal(describeExpectation(never, model), "EUR balance never below €0.00");
  assert.equal(
    describeExpectation({ balance: { currency: "EUR", atMost: 9.5, from: day(2), until: day(3) } }, model),
    "EUR balance never above €9.50 from 2 Jan 2027 until 3 Jan 2027",
  );
  assert.equal(
    describeExpectation({ total }, model),
    "Expenses for “Home” at least €5.00 and at most €9.00 in every month",
  );
  assert.equal(
    describeExpectation({ posted: { name: "Rent", by, count: 2 } }, model),
    "“Rent” posted 2 times by 1 Feb 2027",
  );
  assert.equal(describeExpectation({ goalReached: { goal: "Trip", by } }, model), "Goal “Trip” reached by 1 Feb 2027");
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
    lowestBalances(parseParams({ frozenTime: day(1), transactions })).map(({ currency, isLow }) => [currency, isLow]);
  const others = [["EUR", false], ["CHF", false], ["USD", false]]; // biome-ignore format: one line
  assert.deepEqual(shown(items), [...others, ["SEK", true]]);
  assert.deepEqual(shown(items.map((item) => ({ ...item, type: "INCOME" }))), others);
});

test("the labels of expectations are short", () => {
  const labels = [
    [{ balance: { currency: "EUR", atLeast: -500 } }, "≥ −€500.00"],
    [{ balance: { currency: "EUR", atMost: 0.5 } }, "≤ €0.50"],
    [{ total: { type: "EXPENSE", currency: "USD", atMost: 1500 } }, "Spent ≤ $1,500.00"],
    [
      { total: { type: "EXPENSE", currency: "EUR", category: "Staff", per: "MONTH", atMost: 2780 } },
      "Staff ≤ €2,780.00",
    ],
    [{ posted: { name: "Rent" } }, "Rent"],
    [{ posted: { name: "Rent", count: 6 } }, "Rent, 6 times"],
    [{ goalReached: { goal: "Trip" } }, "Trip"],
  ];
  for (const [expectation, label] of labels) assert.equal(shortLabel(expectation, model).join(""), label);
});

test("a violation is explained without what the expectation says already", () => {
  const violations = [
    [{ balance: { currency: "EUR", atLeast: 0 } }, { actual: -1, message: "Below 0.00 EUR." }, "Below 0.00 EUR."],
    [{ goalReached: { goal: "Trip" } }, { actual: 2100, message: "" }, "The goal has 2,100.00."],
    [{ posted: { name: "Rent" } }, { actual: 1, message: "" }, "It posts once."],
    [{ posted: { name: "Rent" } }, { actual: 0, message: "" }, "It posts 0 times."],
  ];
  for (const [expectation, violation, text] of violations)
    assert.equal(describeViolation(expectation, violation), text);
});

test("the first time at which a balance violates an expectation", () => {
  const violation = (rule) => firstViolation(model, { balance: { currency: "EUR", ...rule } });
  assert.equal(violation({ atLeast: -10 }), Date.parse(day(5)));
  assert.equal(violation({ atLeast: -15, from: day(6) }), Date.parse(day(6)));
  assert.equal(violation({ atLeast: -20 }), undefined);
  assert.equal(violation({ currency: "JPY", atLeast: 1 }), undefined);
  assert.equal(firstViolation(model, { posted: { name: "Rent", count: 9, by } }), undefined);
});

test("a scheduled violation is not a violation yet", () => {
  const at = (days) => new Date(days * DAY).toISOString();
  const violation = (days, actual) => ({ ok: false, violation: { at: at(days), actual } });
  // The last item is on day 15.
  const start = {
    start: 0,
    maxTime: Infinity,
    items: [],
    goals: [],
    accounts: [],
    balances: [{ currency: "EUR", times: [15 * DAY] }],
  };
  const summary = (checks, days) => {
    const [expectations, results] = [0, 1].map((index) => checks.map((check) => check[index]));
    const clock = { ...start, expectations, now: days * DAY };
    const { state, text, at, detail } = summarizeChecks(clock, results);
    return [state, text, at, detail, smallestAllowed(clock, clock.balances[0], days * DAY)];
  };
  const overdraft = { balance: { currency: "EUR", atLeast: -500, until: at(20) } };
  const posted = [{ posted: { name: "Rent", count: 6 } }, violation(20, 2)];
  const checks = [
    posted,
    [overdraft, violation(10, -550.5)],
    [{ balance: { currency: "EUR", atMost: 100 } }, { ok: true }],
  ];
  // The first violation decides.
  const first = [10 * DAY, "balance below −€500.00", -500];
  assert.deepEqual(summary(checks, 9), ["will be violated", "2 violations", ...first]);
  assert.deepEqual(summary(checks, 10), ["violated", "2 violations", ...first]);
  assert.deepEqual(summary(checks, 20), ["violated", "2 violations", ...first]);
  const counted = [20 * DAY, "“Rent” posts 2 of 6 times", 0];
  assert.deepEqual(summary([posted], 19), ["will be violated", "1 violation", ...counted]);
  assert.deepEqual(summary([posted], 20), ["violated", "1 violation", ...counted]);
  // Outside its time, an expectation allows everything.
  const kept = [overdraft, { ok: true }];
  const none = [undefined, undefined];
  assert.deepEqual(summary([kept], 1), ["will hold", "All will hold", ...none, -500]);
  assert.deepEqual(summary([kept], 15), ["held", "All held", ...none, -500]);
  assert.deepEqual(summary([kept], 21), ["held", "All held", ...none, -Infinity]);
  assert.equal(summary([kept, [{ posted: { name: "Rent" } }, { ok: true }]], 15)[0], "will hold");
  const spent = { total: { type: "EXPENSE", currency: "USD", per: "MONTH", atMost: 9 } };
  for (const [expectation, detail] of [
    [spent, "expenses above $9.00"],
    [{ goalReached: { goal: "Trip" } }, "“Trip” not reached"],
    [{ posted: { name: "Rent" } }, "“Rent” doesn't post"],
  ])
    assert.equal(summary([[expectation, violation(1, 10)]], 0)[3], detail);
});
