// Exact sums of JSON numbers.

// Exact sums of JSON numbers, as the server makes them: an amount is the decimal number that its shortest text shows, so
// 0.1 + 0.2 is 0.3. Sums are whole numbers of a common decimal unit; only a finished value becomes a double again.

/** The digits of a number and how many of them stand behind the point: 12.5 is `{ count: 125n, places: 1 }`. */
function digitsOf(number) {
  const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  const count = BigInt(sign + whole + fraction);
  const places = fraction.length - Number(exponent);
  return places < 0 ? { count: count * 10n ** BigInt(-places), places: 0 } : { count, places };
}

/** The numbers as whole numbers of 1/10^places, with the fewest places that hold them all. */
export function inCommonUnit(numbers) {
  const digits = numbers.map(digitsOf);
  const places = digits.reduce((most, one) => Math.max(most, one.places), 0);
  return { places, counts: digits.map((one) => one.count * 10n ** BigInt(places - one.places)) };
}

/** count/10^places as the nearest double. */
export function toNumber(count, places) {
  const digits = String(count < 0n ? -count : count).padStart(places + 1, "0");
  const cut = digits.length - places;
  const size = Number(`${digits.slice(0, cut)}.${digits.slice(cut)}`);
  return count < 0n ? -size : size;
}
