// Formats numbers and currencies for the user's locale, and dates in one format for all. Times are in UTC.

export const locale = globalThis.navigator?.languages?.length ? [...navigator.languages] : undefined;
const longDay = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", dateStyle: "long" });
const integer = new Intl.NumberFormat(locale);
const percentage = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const moneyFormats = new Map();
const DEFAULT_DECIMALS = 2; // for amounts without a currency, or with many decimals
const [MAX_AXIS_VALUE, MAX_AXIS_DECIMALS] = [1e8, 4];

export const isMidnight = (instant) => instant % 86_400_000 === 0;

// An instant is in milliseconds since 1970, see instants.js. JavaScript writes "Mon, 12 Apr 2027 19:42:49 GMT".
const dateParts = (instant) => new Date(instant).toUTCString().replace(", 0", ", ").split(" ");
export const formatYear = (instant) => dateParts(instant)[3];
export const formatMonth = (instant) => dateParts(instant)[2];
export const formatMonthOfYear = (instant) => dateParts(instant).slice(2, 4).join(" ");
export const formatShortDay = (instant) => dateParts(instant).slice(1, 3).join(" ");
export const formatDay = (instant) => dateParts(instant).slice(1, 4).join(" ");
/** Format a day with its year if that is before the year of `now`. */
export const formatPastDay = (instant, now) =>
  (instant < now && formatYear(instant) !== formatYear(now) ? formatDay : formatShortDay)(instant);
export const formatTime = (instant) => dateParts(instant)[4].slice(0, instant % 60_000 === 0 ? 5 : 8);
export const formatInstant = (instant) =>
  isMidnight(instant) ? formatDay(instant) : `${formatDay(instant)}, ${formatTime(instant)} UTC`;
/** Format an instant where the text has no room for the time zone. */
export const formatShortInstant = (instant) => formatInstant(instant).replace(" UTC", "");
/** Format a percentage without decimals. It is 0 or 100 only if the number is. */
export const formatPercent = (number) =>
  number > 0 && number < 1
    ? `<${percentage.format(0.01)}`
    : percentage.format(Math.min(Math.round(number), number < 100 ? 99 : number) / 100);

/** Cut the end of a text with more than `max` characters. */
export function shorten(text, max) {
  const characters = [...text];
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : text;
}

export const formatCount = (number) => integer.format(number);

/** Format an instant or an amount for screen readers: `2 March 2027`, `2,460 euros`. */
export const spokenInstant = (instant) =>
  longDay.format(instant) + (isMidnight(instant) ? "" : `, ${formatTime(instant)} UTC`);
export function spokenMoney(amount, currency) {
  const options = { currencyDisplay: "name", maximumFractionDigits: 20 };
  return moneyFormat(currency, Number.isInteger(amount) ? { ...options, minimumFractionDigits: 0 } : options).format(
    amount,
  );
}

/** Return the number format for these options. Creating a format is slow. */
function moneyFormat(currency, options) {
  const key = `${currency} ${JSON.stringify(options)}`;
  if (!moneyFormats.has(key)) {
    const style = currency ? { style: "currency", currency } : {};
    moneyFormats.set(key, new Intl.NumberFormat(locale, { ...style, ...options }));
  }
  return moneyFormats.get(key);
}

const withMinusSign = (text) => text.replace("-", "−");

const usedDecimals = new Map();
const MAX_EQUAL_DECIMALS = 4;

/** Show all amounts of a currency with the decimals that one of them needs. Each balance has its `places`. */
export function setDecimals(balances) {
  usedDecimals.clear();
  for (const { currency, places } of balances)
    usedDecimals.set(currency, places <= MAX_EQUAL_DECIMALS ? places : DEFAULT_DECIMALS);
}

const minDecimals = (currency) =>
  currency
    ? Math.max(moneyFormat(currency, {}).resolvedOptions().minimumFractionDigits, usedDecimals.get(currency) ?? 0)
    : DEFAULT_DECIMALS;

/** Format an amount with the decimals of its currency, or with more that are used: `€2,800.00`. Any three letters can be one. */
export function formatMoney(amount, currency, { sign = "auto" } = {}) {
  const options = { minimumFractionDigits: minDecimals(currency), maximumFractionDigits: 20, signDisplay: sign };
  return withMinusSign(moneyFormat(currency, options).format(amount));
}

/** Format a value of an axis whose values are `step` apart: `€2,000`. */
export function formatAxisMoney(value, currency, step) {
  const decimals = step >= 1 ? 0 : Math.min(20, Math.ceil(-Math.log10(step)));
  const isLong = Math.abs(value) >= MAX_AXIS_VALUE || decimals > MAX_AXIS_DECIMALS;
  const options = isLong
    ? { notation: step < 1 ? "scientific" : "compact", maximumSignificantDigits: 3 }
    : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return withMinusSign(moneyFormat(currency, options).format(value));
}

/** Format a duration in its two largest units: `6 d 23 h`. */
export function formatDuration(milliseconds) {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
