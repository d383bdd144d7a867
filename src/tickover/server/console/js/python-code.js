// Calls of the Python client as code.

import { toJson } from "./code-block.js";

const LINE_LENGTH = 100;
const NAMES = /\b(?:contribution|expense|goal|goal_reached|income|never_above|never_below|posted|total)(?=\()/g;

class PythonCall {
  constructor(name, args, keywords) {
    Object.assign(this, { name, args, keywords });
  }
}

const call = (name, args = [], keywords = {}) => new PythonCall(name, args, keywords);
const list = (values) => (values?.length ? values : undefined);

/** Write a value or a call as Python, in one line if it fits. JSON strings and numbers are valid Python. */
export function toPython(value, margin = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return toJson(value);
  const named = (entries, separator, write) =>
    Object.entries(entries)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [write(name) + separator, member]);
  const isCall = value instanceof PythonCall;
  const members = isCall
    ? [...value.args.map((member) => ["", member]), ...named(value.keywords, "=", String)]
    : Array.isArray(value)
      ? value.map((member) => ["", member])
      : named(value, ": ", toJson);
  const [open, close] = isCall ? [`${value.name}(`, ")"] : Array.isArray(value) ? "[]" : "{}";
  const line = open + members.map(([prefix, member]) => prefix + toPython(member, margin)).join(", ") + close;
  if (!line.includes("\n") && margin.length + line.length <= LINE_LENGTH) return line;
  const inner = `${margin}    `;
  const lines = members.map(([prefix, member]) => `${inner}${prefix}${toPython(member, inner)},\n`);
  return `${open}\n${lines.join("")}${margin}${close}`;
}

export function typeName(type) {
  if (!["INCOME", "EXPENSE"].includes(type)) throw new TypeError();
  return type.toLowerCase();
}

const transaction = ({ type, name, amount, currency, at, category }) =>
  call(typeName(type), [name, amount, currency, at], { category });
const goal = ({ name, targetAmount, initialAmount, contributions }) =>
  call("goal", [name, targetAmount], {
    initial: initialAmount || undefined,
    contributions: list(contributions?.map(({ amount, at }) => call("contribution", [amount, at]))),
  });

function expectations({ balance, goalReached, posted, total }) {
  if (goalReached) return call("goal_reached", [goalReached.goal, goalReached.by]);
  if (posted) return call("posted", [posted.name, posted.by], { count: posted.count });
  if (total) {
    const { type, currency, per, category, atLeast, atMost } = total;
    return call("total", [type, currency], { per, category, at_least: atLeast, at_most: atMost });
  }
  const { currency, atLeast, atMost, from, until } = balance;
  const bound = (name, amount) => (amount === undefined ? [] : call(name, [currency, amount], { from_: from, until }));
  return [bound("never_below", atLeast), bound("never_above", atMost)].flat();
}

const METHODS = {
  createTestClock: ({ frozenTime, transactions, goals, name, labels }) =>
    call("create_clock", [], {
      frozen_time: frozenTime,
      transactions: list(transactions?.map(transaction)),
      goals: list(goals?.map(goal)),
      name,
      labels,
    }),
  getTestClock: ({ id, at }) => call("get_clock", [id], { at }),
  advanceTestClock: ({ id, frozenTime }) => call(`get_clock(${toJson(id)}).advance`, [], { to: frozenTime }),
  forkTestClock: ({ id, at, name, labels }) => call("fork_clock", [id], { at, name, labels }),
  amendTestClock: ({ id, add: { transactions = [], goals = [], contributions = [] } = {}, cancel }) =>
    call("amend_clock", [id], {
      add: list([
        ...transactions.map(transaction),
        ...goals.map(goal),
        ...contributions.map(({ amount, at, goalId }) => call("contribution", [amount, at], { goal: goalId })),
      ]),
      cancel,
    }),
  updateTestClock: ({ id, name, labels }) => call("update_clock", [id], { name, labels }),
  deleteTestClock: ({ id }) => call("delete_clock", [id]),
  listTestClocks: ({ limit, cursor, labels }) => call("list_page", [], { limit, cursor, labels }),
  listTestClockEvents: ({ id, after, until, openingBalances: opening }) =>
    call("list_events", [id], { after, until, opening }),
  getTestClockBalances: ({ id, at, openingBalances: opening }) => call("get_balances", [id], { at, opening }),
  exportTestClock: ({ id, format, pending, openingBalances: opening }) =>
    call(`get_clock(${toJson(id)}).export`, [format], { pending, opening }),
  checkTestClock: ({ id, expectations: checks, until, openingBalances: opening }) =>
    call("check_clock", [id, checks.flatMap(expectations)], { until, opening }),
  expandScenario: ({ text, start }) => call("expand_scenario", [text], { start }),
  sendLoginCodeEmail: ({ email, emailType }) => call(emailType === "LOGIN_CODE" ? "send_code" : "send_link", [email]),
  loginByEmailVerification: ({ email, code }) => call("log_in", [email, code]),
  loginByEmailLink: ({ token }) => call("log_in_by_link", [token]),
  logout: () => call("log_out"),
  getCurrentUser: () => call("current_user"),
  createAccessToken: ({ name, expiresInDays, readOnly }) =>
    call("create_access_token", [name], { expires_in_days: expiresInDays, read_only: readOnly }),
  listAccessTokens: () => call("list_access_tokens"),
  revokeAccessToken: ({ id }) => call("revoke_access_token", [id]),
};

/** Return the call of the client for a request, or null. `receiver` is the name of the client. */
export function clientCall(receiver, { method, params }) {
  const made = METHODS[method]?.(params);
  return made ? call(`${receiver}.${made.name}`, made.args, made.keywords) : null;
}

/** Return the call of the fixture that creates a clock. */
export const fixtureCall = (params) => call("clock", [], METHODS.createTestClock(params).keywords);

/** Return the names that code imports from tickover.client. */
export const usedNames = (code) => [...new Set(code.match(NAMES))].sort();
