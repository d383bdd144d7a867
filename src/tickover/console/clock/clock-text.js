// Sentences about a clock and its preview, and the names of clocks.

import {
  formatCount,
  formatInstant,
  formatMoney,
  formatShortDay,
  shorten,
  spokenInstant,
  spokenMoney,
} from "../lib/format.js";
import { DAY } from "../lib/instants.js";
import {
  balanceAt,
  isPayment,
  isTransfer,
  lowestPoint,
  MAX_SHOWN_CURRENCIES,
  netAmounts,
  viewAt,
} from "./clock-model.js";

const MAX_CURRENCIES = 3;
const MAX_ITEM_NAME = 49; // characters in the summary, which is one line

export const plural = (number, one, many = `${one}s`) => `${formatCount(number)} ${number === 1 ? one : many}`;

/** Describe items that posted, and the new balances: `Rent −€900.00. Balance €100.00.` */
export function postedText(model, items, { more = false } = {}) {
  if (!items.length) return "Nothing posted.";
  const { balances } = viewAt(model, model.now);
  const changed = netAmounts(items).map(([currency]) => formatMoney(balances.get(currency), currency));
  const shown = fewCurrencies(changed).join(", ");
  const [item] = items;
  return [
    items.length > 1
      ? `${more ? "More than " : ""}${plural(items.length, "event")} posted.`
      : `${shorten(item.name, MAX_ITEM_NAME)} ${signedAmount(item)}.`,
    shown && `${changed.length > 1 ? "Balances" : "Balance"}\u00a0${shown}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Describe the result of an advance. The page shows the new time, so the message names it only if nothing posted. */
export function advanceText(model, { events, moreEvents }) {
  const ids = new Set(
    events.map(({ transaction, transfer, contribution }) => (transaction ?? transfer ?? contribution)?.id),
  );
  const items = model.items.filter(({ id }) => ids.has(id));
  const text = postedText(model, items, { more: moreEvents });
  return items.length ? text : `Advanced to ${formatInstant(model.now)}. ${text}`;
}

/** Describe what an amendment added and cancelled, as a sentence. */
export function describeAmendment(before, after) {
  const missingIn = ({ items }) => {
    const ids = new Set(items.map(({ id }) => id));
    return ({ id }) => !ids.has(id);
  };
  const describe = (items, verb) => {
    if (items.length !== 1) return items.length ? `${verb} ${plural(items.length, "event")}.` : "";
    const [item] = items;
    return `${verb} “${item.name}”, ${signedAmount(item)}, on ${formatInstant(item.at)}.`;
  };
  const sentences = [
    describe(after.items.filter(missingIn(before)), "Added"),
    describe(before.items.filter(missingIn(after)), "Cancelled"),
  ];
  return sentences.filter(Boolean).join(" ") || "The goals or expectations have changed.";
}

/** Describe the difference between the current view of a clock and the previewed one. */
export function describePreview(model, currentView, view) {
  const count = view.postedCount - currentView.postedCount;
  const changes = describeBalances(model, currentView, view);
  if (view.instant === currentView.instant) return describeNextItem(model, currentView);
  if (view.instant > currentView.instant) {
    const kinds = describeKinds(model.items.slice(currentView.postedCount, view.postedCount));
    return [count ? `${plural(count, "event")} would post${kinds}` : "Nothing would post", ...changes].join("; ");
  }
  const since = count ? `${plural(-count, "event")} posted since then` : "nothing posted since then";
  return [`Past: ${since}`, ...changes, "read-only because time only moves forward"].join("; ");
}

/** Count the items of each kind: `["27 transactions", "2 contributions"]`. */
export function countKinds(items) {
  const counts = {
    transaction: items.filter(isPayment).length,
    transfer: items.filter(isTransfer).length,
    contribution: items.filter(({ goalId }) => goalId).length,
  };
  return Object.entries(counts)
    .filter(([, count]) => count)
    .map(([noun, count]) => plural(count, noun));
}

/** Count the items of each kind, if there are several: `: 27 transactions and 2 contributions`. */
function describeKinds(items) {
  const kinds = countKinds(items);
  return kinds.length > 1 ? `: ${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}` : "";
}

/** Describe a balance that goes below zero on the way and ends above it, or return an empty text. */
function describeDip(balance, { instant: from }, { instant: to }) {
  const lowest = lowestPoint(balance, from, to);
  if (lowest.value >= 0 || lowest.value >= balanceAt(balance, to) || lowest.at === from) return "";
  return `, dips to ${formatMoney(lowest.value, balance.currency)} on ${formatShortDay(lowest.at)}`;
}

/** Describe the change of each balance, from the earlier view to the later. */
function describeBalances(model, currentView, view) {
  const isPast = view.instant < currentView.instant;
  const [from, to] = isPast ? [view, currentView] : [currentView, view];
  const changes = model.balances.flatMap((balance) => {
    const { currency } = balance;
    const [before, after] = [from, to].map(({ balances }) => balances.get(currency));
    const dip = isPast ? "" : describeDip(balance, from, to);
    return before !== after || dip ? [`${formatMoney(before, currency)} → ${formatMoney(after, currency)}${dip}`] : [];
  });
  return fewCurrencies(changes);
}

function describeNextItem(model, currentView) {
  const item = model.items[currentView.postedCount];
  if (!item)
    return model.items.length
      ? "All events are posted"
      : "This clock has no events yet. Add one below, or click a date";
  const next = viewAt(model, item.at);
  const count = next.postedCount - currentView.postedCount;
  const others = count > 1 ? ` and ${plural(count - 1, "other event")}` : "";
  const amount = item.kind === "goal" ? `, ${signedAmount(item)},` : "";
  return [
    `Next: ${shorten(item.name, MAX_ITEM_NAME)}${amount}${others} on ${formatInstant(item.at)}`,
    ...describeBalances(model, currentView, next),
  ].join("; ");
}

/**
 * Format the amount of an item with its sign. A contribution has no currency. A transfer has a sign only for an account.
 */
export function signedAmount(item, account) {
  const change = account && item.changes.find((each) => each.account === account);
  if (change) return formatMoney(change.amount, change.currency, { sign: "always" });
  const amount = item.kind === "expense" ? -item.amount : item.amount;
  return formatMoney(amount, item.currency, { sign: isTransfer(item) ? "auto" : "always" });
}

const MAX_NAMES = 8; // in the title of a step

const atMost = (limit, texts, one, many) =>
  texts.length > limit ? [...texts.slice(0, limit), plural(texts.length - limit, one, many)] : texts;
const fewCurrencies = (texts) => atMost(MAX_CURRENCIES, texts, "more currency", "more currencies");

/** Return the net amount of items in each currency: `+€20.00, −CHF 5.00`. */
export function netText(items, account) {
  const format = ([currency, sum]) => formatMoney(sum, currency, { sign: "exceptZero" });
  return fewCurrencies(netAmounts(items, account).map(format)).join(", ");
}

/**
 * Describe the events of one instant, at least one: `{ name, amount, title }`. Several events have their count as the
 * name, and the net amount of each currency. The title names them all.
 */
export function describeStep(items) {
  const [{ name, kind }] = items;
  if (items.length === 1)
    return { name, amount: (kind === "goal" ? "Goal " : "") + signedAmount(items[0]), title: name };
  const texts = items.map((item) => `${item.name} ${signedAmount(item)}`);
  const title = atMost(MAX_NAMES, texts, "more event").join("; ");
  return { name: plural(items.length, "event"), amount: netText(items), title };
}

/** Describe a preview for screen readers. */
export function spokenPreview(model, currentView, view) {
  const count = view.postedCount - currentView.postedCount;
  const distance = view.instant - currentView.instant;
  const shown = model.currencies.slice(0, MAX_CURRENCIES);
  const balances = shown.map((currency) => spokenMoney(view.balances.get(currency), currency));
  return [
    spokenInstant(view.instant),
    distance < 0 && "past",
    distance === 0 && "now",
    balances.length && `balance ${balances.join(" and ")}`,
    count < 0 && `${plural(-count, "event")} posted since then`,
    distance > 0 && (count ? `${plural(count, "event")} would post` : "nothing would post"),
  ]
    .filter(Boolean)
    .join(", ");
}

export const MAX_NAME_LENGTH = 200;

/** Cut a name to the length that the server allows. */
export const truncate = (name) => [...name].slice(0, MAX_NAME_LENGTH).join("");

export const clockName = ({ name }) => name || "Untitled clock";

/** Return the name of a curve: that of an account, or a currency. */
export const curveName = ({ name, currency }) => name ?? currency;

/** Return the names of the accounts of an item: `Checking → Savings`. It is empty for a clock without accounts. */
export const accountNames = ({ changes }, { accounts }) =>
  changes.flatMap(({ account }) => accounts.find(({ key }) => key === account)?.name ?? []).join(" → ");

/** Return the name for a fork of a clock. */
export const forkName = (clock) => truncate(`Fork of ${clockName(clock)}`);

const MONTH_DAYS = 30.4;

/** Return the currencies, length, goals and transactions of a model: `["EUR", "6 months", "1 goal", "78 transactions"]`. */
export function summaryParts({ start, times, currencies, goals, accounts, items }) {
  const months = Math.round(((times.at(-1) ?? start) - start) / DAY / MONTH_DAYS);
  return [
    ...currencies.slice(0, MAX_SHOWN_CURRENCIES),
    months > 0 && (months % 12 === 0 ? plural(months / 12, "year") : plural(months, "month")),
    goals.length && plural(goals.length, "goal"),
    accounts.length > 0 && plural(accounts.length, "account"),
    plural(items.filter(isPayment).length, "transaction"),
  ].filter(Boolean);
}
