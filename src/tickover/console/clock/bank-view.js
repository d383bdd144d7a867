// What a bank shows of a clock at an instant, as the server's /plaid and /simplefin do. Pure functions.

import { formatInstant } from "../lib/format.js";
import { parseInstant } from "../lib/instants.js";

export const PROTOCOLS = { PLAID: "Plaid", SIMPLEFIN: "SimpleFIN" };

export const FAULT_KINDS = {
  LOGIN_REQUIRED: "Login required",
  INSTITUTION_DOWN: "Bank is down",
  RATE_LIMITED: "Rate limited",
  INTERNAL_ERROR: "Internal error",
};

/** Habits of banks, each with what the app sees. */
export const QUIRKS = {
  SAME_ID: "Booked payments keep the ID of pending ones",
  UNLINKED: "Booked payments don't name pending ones",
  HOLDS_AS_BOOKED: "Pending payments say that they are booked",
  HOLDS_STAY: "Pending payments stay for two days",
  REWRITES_NAMES: "Names change after a day",
  TELLS_LATE: "Everything is told two days late",
  NEW_IDS: "New IDs each month",
  NEW_IDS_ON_RELINK: "New IDs for each connection",
  DOUBLES: "Some payments are told twice",
  NO_IDS: "No IDs (SimpleFIN)",
  SHORT_HISTORY: "Only 90 days of history",
};

/** Return the IDs of the rows of all accounts at an instant. A payment is pending from its authorization on. */
function rowsAt({ items }, instant) {
  const [booked, pending] = [[], []];
  for (const { id, at, kind, authorizedAt } of items) {
    if (kind === "goal") continue;
    if (at <= instant) booked.push(...(kind === "transfer" ? [`${id}_out`, `${id}_in`] : [id]));
    else if (authorizedAt && parseInstant(authorizedAt) <= instant) pending.push(`${id}_p`);
  }
  return { booked, pending };
}

/** Return how many rows a sync adds and removes, and how many of those added are pending: `{ added, pending, removed }`. */
export function syncBetween(model, from, to) {
  const [before, after] = [from, to].map((instant) => rowsAt(model, instant));
  const missing = (rows, others) => rows.filter((id) => !others.includes(id)).length;
  const pending = missing(after.pending, before.pending);
  return {
    added: after.booked.length - before.booked.length + pending,
    pending,
    removed: missing(before.pending, after.pending),
  };
}

/** Return the fault of a connection at an instant, or undefined. The first in the list counts. */
export const faultAt = ({ faults = [] }, instant) =>
  faults.find(({ from, until }) => parseInstant(from) <= instant && (!until || instant < parseInstant(until)));

/** Return the faults of a connection as ranges `{ from, to, title }`. */
export const faultRanges = ({ institution, faults = [] }) =>
  faults.map((fault) => ({
    from: parseInstant(fault.from),
    to: fault.until ? parseInstant(fault.until) : Infinity,
    title: `${institution}: ${describeFault(fault)}`,
  }));

/** Describe a fault: `Bank is down from 1 Feb 2027 until 2 Feb 2027`. */
export const describeFault = ({ kind, from, until }) =>
  `${FAULT_KINDS[kind]} from ${formatInstant(parseInstant(from))}${until ? ` until ${formatInstant(parseInstant(until))}` : " on"}`;
