// Formats numbers, dates and currencies for the user's locale. Simulated time is in UTC.

export const locale = navigator.languages?.length ? [...navigator.languages] : undefined;
const day = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "numeric", month: "short" });
const time = new Intl.DateTimeFormat(locale, { timeZone: "UTC", hour: "2-digit", minute: "2-digit" });
const exactTime = new Intl.DateTimeFormat(locale, {
  timeZone: "UTC",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const longDay = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
const monthOfYear = new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short", year: "numeric" });
const year = new Intl.DateTimeFormat(locale, { timeZone: "UTC", year: "numeric" });
const integer = new Intl.NumberFormat(locale);
const month = new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short" });
const percentage = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 });
const moneyFormats = new Map();
const DEFAULT_DECIMALS = 2; // for amounts without a currency
const [MAX_AXIS_VALUE, MAX_AXIS_DECIMALS] = [1e8, 4];

export const isMidnight = (instant) => instant % 86_400_000 === 0;

// An instant is in milliseconds since 1970, see instants.js.
export const formatDay = (instant) => day.format(instant);
export const formatShortDay = (instant) => shortDay.format(instant);
export const formatMonth = (instant) => month.format(instant);
export const formatInstant = (instant) =>
  isMidnight(instant) ? formatDay(instant) : `${formatDay(instant)}, ${formatTime(instant)} UTC`;
export const formatTime = (instant) => (instant % 60_000 === 0 ? time : exactTime).format(instant);
export const formatMonthOfYear = (instant) => monthOfYear.format(instant);
export const formatYear = (instant) => year.format(instant);
export const formatPercent = (number) => percentage.format(number / 100);

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

const minDecimals = (currency) =>
  currency ? moneyFormat(currency, {}).resolvedOptions().minimumFractionDigits : DEFAULT_DECIMALS;

/** Format an amount: `€2,800.00`. Any three letters can be a currency. */
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

/** Format an amount without the decimals of whole numbers: `€500`. */
export const formatWholeMoney = (amount, currency) =>
  Number.isInteger(amount) ? formatAxisMoney(amount, currency, 1) : formatMoney(amount, currency);

/** Format a duration in its two largest units: `6 d 23 h`. */
export function formatDuration(milliseconds) {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
