// Clock names. The API has none, so the browser stores them.

import { DEVICE, NAMES, read, TAB, write } from "./storage.js";

const MOST_NAMES = 500;

/** The end of an id is what tells it from others. */
const shortId = (id) => `clock …${id.slice(-6)}`;

export function nameOf(id) {
  const name = read(TAB, NAMES)?.[id] ?? read(DEVICE, NAMES)?.[id];
  return typeof name === "string" && name ? name : shortId(id);
}

/** Without a name it goes by its short id again. */
export function rename(id, name) {
  const storage = read(TAB) ? TAB : DEVICE;
  // Ids begin with the time of creation, so the first are the oldest.
  const kept = Object.entries({ ...read(storage, NAMES), [id]: name.trim() })
    .sort()
    .slice(-MOST_NAMES);
  write(storage, NAMES, Object.fromEntries(kept));
}
