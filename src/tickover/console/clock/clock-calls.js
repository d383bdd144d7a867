// Calls about one clock.

import { call, RpcError } from "../lib/rpc.js";
import { CHECKS_KEY, readStored, writeStored } from "../lib/storage.js";
import { truncate } from "./clock-text.js";

/** Return a clock with its details. */
export async function loadClock(id, options) {
  const { clock } = await call("getTestClock", { id, details: true }, options);
  return readStored(CHECKS_KEY)?.[id] ? moveStoredChecks(clock, options) : clock;
}

/** The label of a fork with the ID of its original. */
export const FORK_LABEL = "fork-of";

/** Store what an earlier release stored in this browser with the clock, unless the server rejects it. Return the clock. */
async function moveStoredChecks(clock, options) {
  const { opening = {}, expectations = [], original } = readStored(CHECKS_KEY)[clock.id];
  try {
    await updateClock(clock.id, {
      ...(expectations.length && !clock.expectations && { expectations }),
      ...(Object.keys(opening).length && !clock.openingBalances && { openingBalances: opening }),
      ...(original && { labels: { ...clock.labels, [FORK_LABEL]: original.id } }),
    });
  } catch (error) {
    if (!(error instanceof RpcError) || error.reason !== "INVALID_PARAMS") throw error;
  }
  const { [clock.id]: _moved, ...others } = readStored(CHECKS_KEY) ?? {};
  writeStored(CHECKS_KEY, others);
  return loadClock(clock.id, options);
}

/** Change the name, labels, opening balances or expectations of a clock. Return the clock. */
export async function updateClock(id, changes) {
  const { clock } = await call("updateTestClock", { id, ...changes });
  return clock;
}

/** Check the expectations of a clock on the server. Return their results. */
export async function checkClock({ id, expectations }, options) {
  if (!expectations.length) return [];
  const { results } = await call("checkTestClock", { id }, { quiet: true, ...options });
  return results;
}

/** Name a clock. An empty name removes its name. Return the clock. */
export function renameClock(id, name) {
  return updateClock(id, { name: truncate(name.trim()) || null });
}
