// Reads and writes amounts in the number format of the user's locale.

import { locale } from "./format.js";

export const format = new Intl.NumberFormat(locale, { useGrouping: "always", numberingSystem: "latn" });
// Blanks and apostrophes have many shapes, and keyboards one of each.
const usual = (text) => text.trim().replace(/\s/g, " ").replace(/’/g, "'");

/** How a locale separates groups and fraction. */
const marksOf = (format) =>
  Object.fromEntries(format.formatToParts(1234567.8).map(({ type, value }) => [type, usual(value) || " "]));
const MARKS = marksOf(format);

/**
 * The number that a person has written as their locale does, or with a point; what may mean two numbers, or none, is given
 * back as it is.
 */
export function readAmount(text, { group = ",", decimal = "." } = MARKS) {
  const written = usual(text);
  const number = (whole) => (Number.isFinite(Number(whole)) ? Number(whole) : text);
  if (new RegExp(`^-?[1-9]\\d{0,2}(\\${group}\\d{3})+(\\${decimal}\\d+)?$`).test(written))
    return number(written.replaceAll(group, "").replace(decimal, "."));
  if (new RegExp(`^-?\\d+(\\${decimal}\\d+)?(e-\\d+)?$`).test(written)) return number(written.replace(decimal, "."));
  // With three digits behind it, elsewhere than where it is usual, a point may be meant to separate thousands.
  return /^-?\d+\.\d+(e-\d+)?$/.test(written) && !/^-?[1-9]\d{0,2}\.\d{3}$/.test(written) ? number(written) : text;
}

export const writeAmount = (value) => (typeof value === "number" ? String(value).replace(".", MARKS.decimal) : value);
