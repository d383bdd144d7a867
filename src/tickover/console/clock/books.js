// The books of an app: reads them from CSV, and lists how they differ from the clock. Pure functions.

import { readTime, TIME_FAULT } from "../lib/form-fields.js";
import { parseInstant } from "../lib/instants.js";

const COLUMNS = ["at", "date", "amount", "name", "id"];
const HINT = "The columns are at or date, amount, and optionally name and id.";
const MAX_ROWS = 5_000; // of reconcileTestClock

/** Return the cells of each line of a CSV text. A cell in quotes can contain separators, quotes and line breaks. */
function parseCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain.trim());
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.some(Boolean));
}

/** Return the transactions in a CSV text as reconcileTestClock takes them. Throw a SyntaxError for what it can't read. */
export function readBooks(text) {
  const [header = [], ...rows] = parseCsv(text.replace(/^\ufeff/, ""));
  const unknown = header.find((name) => !COLUMNS.includes(name));
  const isUsable = header.includes("amount") && header.includes("at") !== header.includes("date");
  if (unknown !== undefined) throw new SyntaxError(`The column “${unknown}” is unknown. ${HINT}`);
  if (!isUsable || new Set(header).size < header.length)
    throw new SyntaxError(`This is not a CSV file of books. ${HINT}`);
  if (rows.length > MAX_ROWS) throw new SyntaxError(`The file has more than ${MAX_ROWS} rows.`);
  return rows.map((cells, index) => {
    const fault = (message) => new SyntaxError(`Row ${index + 1}: ${message}.`);
    if (cells.length > header.length) throw fault("it has more cells than columns");
    const { at, date, amount, ...others } = Object.fromEntries(
      header.map((name, position) => [name, cells[position] ?? ""]),
    );
    const time = readTime(at ?? date);
    if (Number.isNaN(parseInstant(time))) throw fault(`“${at ?? date}” ${TIME_FAULT}`);
    if (amount === "" || !Number.isFinite(Number(amount)))
      throw fault(`“${amount}” must be an amount such as -12.50, negative if money goes out`);
    const named = Object.entries(others).filter(([, value]) => value);
    return { at: time, amount: Number(amount), ...Object.fromEntries(named) };
  });
}

/** The titles of the differences that reconcileTestClock finds. */
export const DIFFERENCES = {
  missing: "Missing",
  unexpected: "Unexpected",
  duplicated: "Duplicated",
  changed: "Changed",
};

/**
 * Return the differences in a result of reconcileTestClock, in the order of time: `{ kind, at, name, bank, app, fields }`.
 * `bank` is what the bank showed, and `app` what the app recorded, unless one of them doesn't have it.
 */
export const listDifferences = ({ missing, unexpected, duplicated, changed }) =>
  [
    ...missing.map((bank) => ({ kind: "missing", bank })),
    ...unexpected.map((app) => ({ kind: "unexpected", app })),
    ...duplicated.map((app) => ({ kind: "duplicated", app })),
    ...changed.map(({ expected, observed, fields }) => ({ kind: "changed", bank: expected, app: observed, fields })),
  ]
    .map((entry) => {
      const { at, name } = entry.bank ?? entry.app;
      return { ...entry, at: parseInstant(at), name: name ?? "" };
    })
    .sort((left, right) => left.at - right.at);
