// The opening balances, expectations and the original of each clock, which the server doesn't store.

import { call } from "../lib/rpc.js";
import { CHECKS_KEY, readStored, writeStored } from "../lib/storage.js";

const MAX_CLOCKS_WITH_CHECKS = 200;

/** Return `{ opening, expectations }` of a clock, as in the parameters of checkTestClock, and `original` of a fork. */
export function readChecks(id) {
  const stored = readStored(CHECKS_KEY)?.[id];
  return { opening: stored?.opening ?? {}, expectations: stored?.expectations ?? [], original: stored?.original };
}

/** Check the expectations of a clock on the server. Return their results. */
export async function checkClock(id, { opening, expectations }, options) {
  if (!expectations.length) return [];
  const openingBalances = Object.keys(opening).length ? opening : undefined;
  const { results } = await call("checkTestClock", { id, expectations, openingBalances }, { quiet: true, ...options });
  return results;
}

/** Store the checks of a clock, and the original `{ id, name }` of a fork. Empty checks remove them. */
export function writeChecks(id, { opening = {}, expectations = [], original }) {
  const checks = { ...readStored(CHECKS_KEY), [id]: { opening, expectations, original } };
  if (!Object.keys(opening).length && !expectations.length && !original) delete checks[id];
  // Ids start with the time of creation, so the first ids are the oldest.
  const newest = Object.entries(checks).sort().slice(-MAX_CLOCKS_WITH_CHECKS);
  writeStored(CHECKS_KEY, Object.fromEntries(newest));
}
