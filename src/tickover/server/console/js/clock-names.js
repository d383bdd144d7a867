// Clock names, which the server stores.

import { call } from "./rpc.js";

export const MAX_NAME_LENGTH = 200;

const truncate = (name) => [...name].slice(0, MAX_NAME_LENGTH).join("");

/** Return the name of a clock, or the end of its id if it has no name. */
export const clockName = ({ id, name }) => name || `clock …${id.slice(-6)}`;

/** Return the name for a fork of a clock. */
export const forkName = (clock) => truncate(`Fork of ${clockName(clock)}`);

/** Name a clock. An empty name removes its name. Return the clock. */
export async function renameClock(id, name) {
  const { clock } = await call("updateTestClock", { id, name: truncate(name.trim()) || null });
  return clock;
}
