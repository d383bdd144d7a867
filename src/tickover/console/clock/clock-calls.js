// Calls about one clock.

import { call } from "../lib/rpc.js";
import { truncate } from "./clock-text.js";

/** Return a clock with its details. */
export async function loadClock(id, options) {
  const { clock } = await call("getTestClock", { id, details: true }, options);
  return clock;
}

/** Name a clock. An empty name removes its name. Return the clock. */
export async function renameClock(id, name) {
  const { clock } = await call("updateTestClock", { id, name: truncate(name.trim()) || null });
  return clock;
}
