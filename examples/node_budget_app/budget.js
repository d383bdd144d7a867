// A budget app: warns before the account is overdrawn.

/** Returns the text of the warning, or an empty text if the money lasts until `until`. */
export async function overdraftWarning(tickover, clockId, until) {
  const { balances } = await tickover.getTestClockBalances({ id: clockId, at: until });
  const overdrawn = balances.find(({ lowest }) => lowest.balance < 0);
  if (!overdrawn) return "";
  const { lowest, currency } = overdrawn;
  return `Your account will be at ${lowest.balance} ${currency} on ${lowest.at.slice(0, 10)}.`;
}
