// Forks a clock.

import { readChecks, writeChecks } from "./clock-checks.js";
import { forkName } from "./clock-names.js";
import { toTimestamp } from "./instants.js";
import { call } from "./rpc.js";

/** Fork the clock at an instant or at its start, `"start"`. Return the fork as the server describes it. */
export async function forkClock(model, at) {
  const fork = async (params) => {
    const { clock } = await call("forkTestClock", { id: model.id, name: forkName(model), ...params });
    return clock;
  };
  if (at === "start" || at === model.start) return fork();
  try {
    return await fork({ at: toTimestamp(at) });
  } catch (error) {
    // The model's start can be a day before the clock's start. The server rejects a time in between.
    if (error.reason !== "INVALID_PARAMS" || at > model.now) throw error;
    return fork();
  }
}

/** Give the fork the opening balances and expectations of the original. */
export const copyChecks = (original, fork) => writeChecks(fork.id, readChecks(original.id));
