// Numbers, dates and currencies as the reader's locale writes them. Simulated time is shown in UTC, which is what it is in.

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
const small = new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 4 });
const smallest = new Intl.NumberFormat(locale, { notation: "scientific", maximumSignificantDigits: 2 });
const plain = new Intl.NumberFormat(locale);
const month = new Intl.DateTimeFormat(locale, { timeZone: "UTC", month: "short" });
const percentage = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 });
const monies = new Map();

const isMidnight = (instant) => instant % 86_400_000 === 0;

/** An instant is milliseconds since 1970, as `Date.parse` gives. */
export const formatDay = (instant) => day.format(instant);
export const formatShortDay = (instant) => shortDay.format(instant);
export const formatMonth = (instant) => month.format(instant);
export const formatInstant = (instant) =>
  isMidnight(instant) ? formatDay(instant) : `${formatDay(instant)}, ${formatTime(instant)} UTC`;
export const formatTime = (instant) => (instant % 60_000 === 0 ? time : exactTime).format(instant);
export const formatMonthOfYear = (instant) => monthOfYear.format(instant);
export const formatYear = (instant) => year.format(instant);
export const formatPercent = (number) => percentage.format(number / 100);

export const formatCount = (number) => plain.format(number);

/** A number in a few characters, for axes: `2.5K`. */
export const formatSmall = (number) => (number !== 0 && Math.abs(number) < 0.001 ? smallest : small).format(number);

/** As it is read aloud: `2 March 2027`, `2,460 euros`. */
export const speakInstant = (instant) =>
  longDay.format(instant) + (isMidnight(instant) ? "" : `, ${formatTime(instant)} UTC`);
export function speakMoney(amount, currency) {
  const whole = Number.isInteger(amount);
  const key = `spoken ${currency} ${whole}`;
  if (!monies.has(key)) {
    monies.set(
      key,
      new Intl.NumberFormat(locale, {
        style: "currency",
        currency,
        currencyDisplay: "name",
        minimumFractionDigits: whole ? 0 : undefined,
        maximumFractionDigits: 20,
      }),
    );
  }
  return monies.get(key).format(amount);
}

/** An amount with its currency, or `bare`, as `+2,800.00 EUR` with the sign that is given; any three letters do. */
export function formatMoney(amount, currency, { sign = "auto", bare = !currency } = {}) {
  const key = `${currency} ${sign} ${bare}`;
  if (!monies.has(key)) {
    const style = currency && { style: "currency", currency, currencyDisplay: "code" };
    monies.set(
      key,
      new Intl.NumberFormat(locale, {
        ...(!bare && style),
        minimumFractionDigits: style ? new Intl.NumberFormat(locale, style).resolvedOptions().minimumFractionDigits : 2,
        maximumFractionDigits: 20,
        signDisplay: sign,
      }),
    );
  }
  return monies.get(key).format(amount);
}

/** How long until then, in its two largest units: `6 d 23 h`. */
export function formatWait(milliseconds) {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
