import assert from "node:assert/strict";
import { test } from "node:test";
import { nextItems, parseParams, viewAt } from "./clock-model.js";
import {
  advanceText,
  clockName,
  describeAmendment,
  describePreview,
  describeStep,
  forkName,
  plural,
  summaryParts,
} from "./clock-text.js";

const day = (number) => `2027-01-${String(number).padStart(2, "0")}T00:00:00Z`;
const at = (number) => Date.parse(day(number));
const expense = (name, amount, number, more) => ({
  name,
  amount,
  currency: "EUR",
  type: "EXPENSE",
  at: day(number),
  ...more,
});
const goal = (name, number) => ({ name, targetAmount: 9, contributions: [{ amount: 5, at: day(number) }] });
function model(transactions, goals = []) {
  const parsed = parseParams({ frozenTime: day(1), transactions, goals });
  return { ...parsed, items: parsed.items.map((item, index) => ({ ...item, id: item.id ?? `item ${index}` })) };
}
/** The events of the clock's items after an instant. */
const happened = ({ items }, from, to) => ({
  events: items.filter((item) => item.at > from && item.at <= to).map(({ id }) => ({ transaction: { id } })),
});
const plain = (text) => text.replaceAll("\u00a0", " ");

test("the next step has the net amount of all events at its time", () => {
  const items = [
    { ...expense("Pay", 5840, 3), type: "INCOME" },
    expense("Tax", 642.4, 3),
    expense("Fee", 3, 3, { currency: "CHF" }),
    expense("Rent", 900, 5),
  ];
  const clock = model(items, [goal("Trip", 4), goal("Car", 4), goal("Bike", 6)]);
  const step = (number) => Object.values(describeStep(nextItems({ ...clock, now: at(number) }))).map(plain);
  assert.deepEqual(step(1), ["3 events", "+€5,197.60, −CHF 3.00", "Pay +€5,840.00; Tax −€642.40; Fee −CHF 3.00"]);
  assert.deepEqual(step(3), ["2 events", "", "Trip +5.00; Car +5.00"]);
  assert.deepEqual(step(4), ["Rent", "−€900.00", "Rent"]);
  assert.deepEqual(step(5), ["Bike", "Goal +5.00", "Bike"]);
  assert.deepEqual(nextItems({ ...clock, now: at(6) }), []);
});

test("the message after an advance names what posted", () => {
  const items = [expense("Rent", 900, 3), expense("Tea", 1.5, 5), expense("Rent", 900, 5, { currency: "CHF" })];
  const clock = model(items, [goal("Trip", 4)]);
  const text = (from, to) => plain(advanceText({ ...clock, now: at(to) }, happened(clock, at(from), at(to))));
  assert.equal(text(1, 2), "Advanced to 2 Jan 2027. Nothing posted.");
  assert.equal(text(1, 3), "Rent −€900.00. Balance −€900.00.");
  assert.equal(text(3, 4), "Trip +5.00.");
  assert.equal(text(3, 5), "3 events posted. Balances −€901.50, −CHF 900.00.");
});

test("a preview says what would post, and how low the balance goes on the way", () => {
  const clock = model([expense("Rent", 900, 3), { ...expense("Pay", 1000, 9), type: "INCOME" }]);
  const text = (now, number) => plain(describePreview(clock, viewAt(clock, at(now)), viewAt(clock, at(number))));
  assert.equal(text(1, 1), "Next: Rent on 3 Jan 2027; €0.00 → −€900.00");
  assert.equal(text(1, 2), "Nothing would post");
  assert.equal(text(1, 9), "2 events would post; €0.00 → €100.00, dips to −€900.00 on 3 Jan");
  assert.equal(
    text(9, 3),
    "Past: 1 event posted since then; −€900.00 → €100.00; read-only because time only moves forward",
  );
  assert.equal(text(9, 9), "All events are posted");
});

test("a summary shortens a long name at its end", () => {
  const clock = model([expense("A".repeat(30) + "B".repeat(30), 1, 3)]);
  const text = describePreview(clock, viewAt(clock, at(1)), viewAt(clock, at(1)));
  assert.ok(text.startsWith(`Next: ${"A".repeat(30)}${"B".repeat(18)}… on 3 Jan`), text);
});

test("more than three currencies are counted", () => {
  const codes = ["EUR", "CHF", "USD", "GBP", "JPY"];
  const clock = model(codes.map((currency) => expense("Fee", 1, 3, { currency })));
  const text = plain(advanceText({ ...clock, now: at(3) }, happened(clock, at(1), at(3))));
  assert.equal(text, "5 events posted. Balances −€1.00, −CHF 1.00, −$1.00, 2 more currencies.");
});

test("an amendment is described by what it added and cancelled", () => {
  const [rent, tea, gym] = ["Rent", "Tea", "Gym"].map((name, index) => ({ ...expense(name, 5, 3), id: `${index}` }));
  const describe = (before, after) => plain(describeAmendment(model(before), model(after)));
  assert.equal(describe([rent], [rent, tea]), "Added “Tea”, −€5.00, on 3 Jan 2027.");
  assert.equal(describe([rent, tea], [gym]), "Added “Gym”, −€5.00, on 3 Jan 2027. Cancelled 2 events.");
  assert.equal(describe([rent], [rent]), "The goals or expectations have changed.");
});

test("names of clocks", () => {
  assert.equal(clockName({ id: "clock_0", name: undefined }), "Untitled clock");
  assert.equal(clockName({ id: "clock_0", name: "Summer" }), "Summer");
  assert.equal(forkName({ name: "Summer" }), "Fork of Summer");
  assert.equal(forkName({ name: "x".repeat(200) }), `Fork of ${"x".repeat(192)}`);
});

test("counts and lengths", () => {
  assert.deepEqual(
    [0, 1, 2, 1200].map((number) => plural(number, "event")),
    ["0 events", "1 event", "2 events", "1,200 events"],
  );
  const until = (month) => model([expense("Rent", 1, 1, { at: `${month}-01T00:00:00Z` })], [goal("Trip", 3)]);
  const parts = (month) => summaryParts(until(month)).join(", ");
  assert.equal(parts("2027-01"), "EUR, 1 goal, 1 transaction");
  assert.equal(parts("2027-02"), "EUR, 1 month, 1 goal, 1 transaction");
  assert.equal(parts("2027-12"), "EUR, 11 months, 1 goal, 1 transaction");
  assert.equal(parts("2028-01"), "EUR, 1 year, 1 goal, 1 transaction");
  assert.equal(parts("2029-01"), "EUR, 2 years, 1 goal, 1 transaction");
});
