// For the tests: a clock with three months of payments, and the app that reads it.
import { Budget } from "./budget.js";

const PAYMENTS = ["2027-01", "2027-02", "2027-03"].flatMap((month) => [
  { at: `${month}-03T00:30:00Z`, name: "Rent", amount: 900, currency: "EUR", type: "EXPENSE" },
  // The bank books the dinner two days after the restaurant has authorized another amount.
  {
    at: `${month}-14T00:00:00Z`,
    name: "Dinner",
    amount: 48.75,
    currency: "EUR",
    type: "EXPENSE",
    authorizedAt: `${month}-12T20:00:00Z`,
    authorizedAmount: 41.5,
  },
  { at: `${month}-25T23:30:00Z`, name: "Salary", amount: 2800, currency: "EUR", type: "INCOME" },
]);

/** Returns a clock on 1 January, and the app connected to it as its bank. */
export async function openBank(tickover) {
  const { clock } = await tickover.createTestClock({ frozenTime: "2027-01-01T00:00:00Z", transactions: PAYMENTS });
  const { publicToken } = await tickover.connectTestClock({ id: clock.id, protocol: "PLAID" });
  const budget = new Budget(`${tickover.url}/plaid`);
  await budget.connect(publicToken);
  return { clock, budget };
}
