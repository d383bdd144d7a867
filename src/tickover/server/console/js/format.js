// Formats numbers, dates and currencies for the user's locale. Simulated time is in UTC.

export const locale = navigator.languages?.length ? [...navigator.languages] : undefined;
const day = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "2-digit", month: "short", year: "numeric" });
const shortDay = new Intl.DateTimeFormat(locale, { timeZone: "UTC", day: "2-digit", month: "short" });
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
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 4 });
const scientific = new Intl.NumberFormat(locale, { notation: "scientific", maximumSignificantDigits: 2 });
const integer = new Intl.NumberFormat(locale);
const month = new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short" });
const percentage = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 });
const moneyFormats = new Map();

const isMidnight = (instant) => instant % 86_400_000 === 0;

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

/** Format a number in a few characters: `2.5K`. */
export const formatCompact = (number) =>
  (number !== 0 && Math.abs(number) < 0.001 ? scientific : compact).format(number);

/** Format an instant or an amount for screen readers: `2 March 2027`, `2,460 euros`. */
export const spokenInstant = (instant) =>
  longDay.format(instant) + (isMidnight(instant) ? "" : `, ${formatTime(instant)} UTC`);
export function spokenMoney(amount, currency) {
  const isInteger = Number.isInteger(amount);
  const key = `spoken ${currency} ${isInteger}`;
  if (!moneyFormats.has(key)) {
    moneyFormats.set(
      key,
      new Intl.NumberFormat(locale, {
        style: "currency",
        currency,
        currencyDisplay: "name",
        minimumFractionDigits: isInteger ? 0 : undefined,
        maximumFractionDigits: 20,
      }),
    );
  }
  return moneyFormats.get(key).format(amount);
}

/** Format an amount: `EUR 2,800.00`, or `2,800.00` if `bare`. Any three letters can be a currency. */
export function formatMoney(amount, currency, { sign = "auto", bare = !currency } = {}) {
  const key = `${currency} ${sign} ${bare}`;
  if (!moneyFormats.has(key)) {
    const style = currency && { style: "currency", currency, currencyDisplay: "code" };
    moneyFormats.set(
      key,
      new Intl.NumberFormat(locale, {
        ...(!bare && style),
        minimumFractionDigits: style ? new Intl.NumberFormat(locale, style).resolvedOptions().minimumFractionDigits : 2,
        maximumFractionDigits: 20,
        signDisplay: sign,
      }),
    );
  }
  return moneyFormats.get(key).format(amount);
}

/** Format a duration in its two largest units: `6 d 23 h`. */
export function formatDuration(milliseconds) {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
