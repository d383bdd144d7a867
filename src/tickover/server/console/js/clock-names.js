// Clock names. The API has none, so the browser stores them next to the token.

import { DEVICE, NAMES_KEY, readStored, SESSION_KEY, TAB, writeStored } from "./storage.js";

const MAX_NAMES = 500;

/** Return the name of a clock, or the end of its id if it has no name. */
export function clockName(id) {
  const name = readStored(TAB, NAMES_KEY)?.[id] ?? readStored(DEVICE, NAMES_KEY)?.[id];
  return typeof name === "string" && name ? name : `clock …${id.slice(-6)}`;
}

/** Name a clock. An empty name removes its name. */
export function renameClock(id, name) {
  const storage = readStored(TAB, SESSION_KEY) ? TAB : DEVICE;
  // Ids start with the time of creation, so the first ids are the oldest.
  const newestNames = Object.entries({ ...readStored(storage, NAMES_KEY), [id]: name.trim() })
    .sort()
    .slice(-MAX_NAMES);
  writeStored(storage, NAMES_KEY, Object.fromEntries(newestNames));
}
