// Calls about one clock.

import { call } from "../lib/rpc.js";
import { truncate } from "./clock-text.js";

/** Return a clock with its details. */
export async function loadClock(id, options) {
  const { clock } = await call("getTestClock", { id, details: true }, options);
  return clock;
}

/** The label of a fork with the ID of its original. */
export const FORK_LABEL = "fork-of";

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
