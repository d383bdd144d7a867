// Instants: milliseconds since 1970 in UTC, with microseconds as the fraction.

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Of a timestamp of RFC 3339. Digits beyond the microsecond are cut off, as the server does. */
export function readInstant(text) {
  const [, before, fraction = "", after] = /^(.{19})(?:\.(\d+))?(.+)$/.exec(text.toUpperCase()) ?? [];
  if (!before) return NaN;
  const leap = before.endsWith(":60");
  const seconds = Date.parse((leap ? `${before.slice(0, -2)}59` : before) + after) + (leap ? 1000 : 0);
  return seconds + Number(fraction.slice(0, 6).padEnd(6, "0")) / 1000;
}

/** As the server writes it: in UTC, with six digits of a second if there are any. */
export function writeInstant(instant) {
  const microseconds = Math.round(instant * 1000);
  const fraction = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000;
  const whole = new Date((microseconds - fraction) / 1000).toISOString().slice(0, 19);
  return fraction ? `${whole}.${String(fraction).padStart(6, "0")}Z` : `${whole}Z`;
}

export const startOfDay = (instant) => Math.floor(instant / DAY) * DAY;
export const endOfDay = (instant) => Math.ceil(instant / DAY) * DAY;

/** So many calendar months later; from 31 January that is the last day of February. */
export function addMonths(instant, months) {
  const date = new Date(startOfDay(instant));
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, lastDay));
  return date.getTime() + (instant - startOfDay(instant));
}
