// Exact sums of JSON numbers, like on the server: 0.1 + 0.2 is 0.3.
// Sums are integers of a common decimal unit. Only the result becomes a double.

/** Return the digits of a number and its decimal places: 12.5 is `{ count: 125n, places: 1 }`. */
function decimalDigits(number) {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  const count = BigInt(sign + whole + fraction);
  const places = fraction.length - Number(exponent);
  return places < 0 ? { count: count * 10n ** BigInt(-places), places: 0 } : { count, places };
}

/** Return the numbers as integers of 1/10^places, with as few places as possible. */
export function toCommonUnit(numbers) {
  const digits = numbers.map(decimalDigits);
  const places = digits.reduce((max, number) => Math.max(max, number.places), 0);
  return { places, counts: digits.map((number) => number.count * 10n ** BigInt(places - number.places)) };
}

/** Return count/10^places as the nearest double. */
export function toNumber(count, places) {
  const digits = String(count < 0n ? -count : count).padStart(places + 1, "0");
  const cut = digits.length - places;
  const size = Number(`${digits.slice(0, cut)}.${digits.slice(cut)}`);
  return count < 0n ? -size : size;
}

/** Return the sum of numbers, exactly. */
export function exactSum(numbers) {
  const { places, counts } = toCommonUnit(numbers);
  const sum = counts.reduce((total, count) => total + count, 0n);
  return toNumber(sum, places);
}

/** Return left minus right, exactly. */
export const difference = (left, right) => exactSum([left, -right]);
