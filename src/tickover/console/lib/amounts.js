// Amounts that users type, in the number format of the locale.

import { locale } from "./format.js";

export const amountFormat = new Intl.NumberFormat(locale, { useGrouping: "always", numberingSystem: "latn" });
// Locales use several kinds of spaces and apostrophes. Keyboards have one of each.
const normalizeSeparators = (text) => text.trim().replace(/\s/g, " ").replace(/’/g, "'");

/** Return the separators of groups and decimals of a number format. */
export const separatorsOf = (format) =>
  Object.fromEntries(
    format.formatToParts(1234567.8).map(({ type, value }) => [type, normalizeSeparators(value) || " "]),
  );

const SEPARATORS = separatorsOf(amountFormat);

/** Parse an amount in the format of the locale or with a decimal point. Return ambiguous or invalid text unchanged. */
export function parseAmount(text, { group = ",", decimal = "." } = SEPARATORS) {
  const normalized = normalizeSeparators(text);
  const number = (digits) => (Number.isFinite(Number(digits)) ? Number(digits) : text);
  if (new RegExp(`^-?[1-9]\\d{0,2}(\\${group}\\d{3})+(\\${decimal}\\d+)?$`).test(normalized))
    return number(normalized.replaceAll(group, "").replace(decimal, "."));
  if (new RegExp(`^-?\\d+(\\${decimal}\\d+)?(e-\\d+)?$`).test(normalized))
    return number(normalized.replace(decimal, "."));
  // In other locales, a point before exactly three digits can also separate thousands.
  return /^-?\d+\.\d+(e-\d+)?$/.test(normalized) && !/^-?[1-9]\d{0,2}\.\d{3}$/.test(normalized)
    ? number(normalized)
    : text;
}

export const formatAmount = (value) =>
  typeof value === "number" ? String(value).replace(".", SEPARATORS.decimal) : value;
