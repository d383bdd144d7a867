// The rule of the app. It runs in the page.

/** Returns the cents of a monthly budget that are left in the month of `now`. */
export function leftThisMonth(payments, monthlyCents, now = new Date()) {
  const month = now.toISOString().slice(0, 7);
  const spent = payments.filter(({ date, cents }) => cents < 0 && date.startsWith(month));
  return spent.reduce((left, { cents }) => left + cents, monthlyCents);
}
