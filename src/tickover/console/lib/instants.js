// Instants: milliseconds since 1970 in UTC, with microseconds as the fraction.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Parse an RFC 3339 timestamp. Cut off digits after the microsecond, like the server. */
export function parseInstant(text) {
  // Fast path for the usual form.
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\dZ$/.test(text)) return Date.parse(text);
  const [, before, fraction = "", after] = /^(.{19})(?:\.(\d+))?(.+)$/.exec(text.toUpperCase()) ?? [];
  if (!before) return NaN;
  const isLeapSecond = before.endsWith(":60");
  const seconds = Date.parse((isLeapSecond ? `${before.slice(0, -2)}59` : before) + after) + (isLeapSecond ? 1000 : 0);
  return seconds + Number(fraction.slice(0, 6).padEnd(6, "0")) / 1000;
}

/** Format an instant like the server: in UTC, with microseconds if they are not zero. */
export function toTimestamp(instant) {
  const microseconds = Math.round(instant * 1000);
  const fraction = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000;
  const whole = new Date((microseconds - fraction) / 1000).toISOString().slice(0, 19);
  return fraction ? `${whole}.${String(fraction).padStart(6, "0")}Z` : `${whole}Z`;
}

export const startOfDay = (instant) => Math.floor(instant / DAY) * DAY;
export const endOfDay = (instant) => Math.ceil(instant / DAY) * DAY;

/** Return the start of the month of an instant. */
export function startOfMonth(instant) {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** Add calendar months. A month after 31 January is the last day of February. */
export function addMonths(instant, months) {
  const date = new Date(startOfDay(instant));
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime() + (instant - startOfDay(instant));
}
