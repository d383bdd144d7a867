// Calls as code for curl, the command line and the Python client.

import { toJson } from "../lib/code-block.js";

const LINE_LENGTH = 100;
const NAMES = /\b(?:contribution|expense|goal|goal_reached|income|never_above|never_below|posted|total)(?=\()/g;

class PythonCall {
  constructor(name, args, keywords) {
    Object.assign(this, { name, args, keywords });
  }
}

const pythonCall = (name, args = [], keywords = {}) => new PythonCall(name, args, keywords);
const list = (values) => (values?.length ? values : undefined);

/** Write a value or a call as Python, in one line if it fits. JSON strings and numbers are valid Python. */
function toPython(value, margin = "") {
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

function typeWord(type) {
  if (!["INCOME", "EXPENSE"].includes(type)) throw new TypeError();
  return type.toLowerCase();
}

const transaction = ({ type, name, amount, currency, at, category }) =>
  pythonCall(typeWord(type), [name, amount, currency, at], { category });
const goal = ({ name, targetAmount, initialAmount, contributions }) =>
  pythonCall("goal", [name, targetAmount], {
    initial: initialAmount || undefined,
    contributions: list(contributions?.map(({ amount, at }) => pythonCall("contribution", [amount, at]))),
  });

function expectations({ balance, goalReached, posted, total }) {
  if (goalReached) return pythonCall("goal_reached", [goalReached.goal, goalReached.by]);
  if (posted) return pythonCall("posted", [posted.name, posted.by], { count: posted.count });
  if (total) {
    const { type, currency, per, category, atLeast, atMost } = total;
    return pythonCall("total", [type, currency], { per, category, at_least: atLeast, at_most: atMost });
  }
  const { currency, atLeast, atMost, from, until } = balance;
  const bound = (name, amount) =>
    amount === undefined ? [] : pythonCall(name, [currency, amount], { from_: from, until });
  return [bound("never_below", atLeast), bound("never_above", atMost)].flat();
}

const METHODS = {
  createTestClock: ({ frozenTime, transactions, goals, name, labels }) =>
    pythonCall("create_clock", [], {
      frozen_time: frozenTime,
      transactions: list(transactions?.map(transaction)),
      goals: list(goals?.map(goal)),
      name,
      labels,
    }),
  getTestClock: ({ id, at, details }) => pythonCall("get_clock", [id], { at, details }),
  advanceTestClock: ({ id, frozenTime }) => pythonCall(`get_clock(${toJson(id)}).advance`, [], { to: frozenTime }),
  forkTestClock: ({ id, at, name, labels }) => pythonCall("fork_clock", [id], { at, name, labels }),
  amendTestClock: ({ id, add: { transactions = [], goals = [], contributions = [] } = {}, cancel }) =>
    pythonCall("amend_clock", [id], {
      add: list([
        ...transactions.map(transaction),
        ...goals.map(goal),
        ...contributions.map(({ amount, at, goalId }) => pythonCall("contribution", [amount, at], { goal: goalId })),
      ]),
      cancel,
    }),
  updateTestClock: ({ id, name, labels }) => pythonCall("update_clock", [id], { name, labels }),
  deleteTestClock: ({ id }) => pythonCall("delete_clock", [id]),
  listTestClocks: ({ limit, cursor, labels }) => pythonCall("list_page", [], { limit, cursor, labels }),
  listTestClockEvents: ({ id, after, until, openingBalances: opening }) =>
    pythonCall("list_events", [id], { after, until, opening }),
  getTestClockBalances: ({ id, at, openingBalances: opening }) => pythonCall("get_balances", [id], { at, opening }),
  exportTestClock: ({ id, format, pending, openingBalances: opening }) =>
    pythonCall(`get_clock(${toJson(id)}).export`, [format], { pending, opening }),
  checkTestClock: ({ id, expectations: checks, until, openingBalances: opening }) =>
    pythonCall("check_clock", [id, checks.flatMap(expectations)], { until, opening }),
  expandScenario: ({ text, start }) => pythonCall("expand_scenario", [text], { start }),
  sendLoginCodeEmail: ({ email, emailType }) =>
    pythonCall(emailType === "LOGIN_CODE" ? "send_code" : "send_link", [email]),
  loginByEmailVerification: ({ email, code }) => pythonCall("log_in", [email, code]),
  loginByEmailLink: ({ token }) => pythonCall("log_in_by_link", [token]),
  logout: () => pythonCall("log_out"),
  getCurrentUser: () => pythonCall("current_user"),
  createAccessToken: ({ name, expiresInDays, readOnly }) =>
    pythonCall("create_access_token", [name], { expires_in_days: expiresInDays, read_only: readOnly }),
  listAccessTokens: () => pythonCall("list_access_tokens"),
  revokeAccessToken: ({ id }) => pythonCall("revoke_access_token", [id]),
};

/** Return the call of the client for a request, or null. `receiver` is the name of the client. */
function clientCall(receiver, { method, params }) {
  const made = METHODS[method]?.(params);
  return made ? pythonCall(`${receiver}.${made.name}`, made.args, made.keywords) : null;
}

/** Return the names that code imports from tickover.client. */
const usedNames = (code) => [...new Set(code.match(NAMES))].sort();

const TOKEN_PLACEHOLDER = "paste your token here";

// Linux limits an argument to 128 KiB, and a character can have four bytes.
const MAX_ARGUMENT_LENGTH = 30_000;

const quoteForShell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const baseUrl = (url) => url.replace(/\/rpc$/, "");

/** Quote a word for the shell if it needs quotes. Throw if it can't be one. */
function word(value, invalid = /\p{Cc}/u) {
  const text = String(value);
  if (value === undefined || invalid.test(text)) throw new TypeError();
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteForShell(text);
}

const argument = (value) => word(value, /^-|\p{Cc}/u);

/** Write options: `{ at: "2027-01-01" }` is `--at=2027-01-01`. Lists repeat an option. */
const options = (values) =>
  Object.entries(values)
    .flatMap(([name, value]) => [value].flat().map((each) => [name, each]))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` --${name}=${word(value)}`)
    .join("");

const pairs = (values = {}) => Object.entries(values).map(([key, value]) => `${key}=${value}`);

function curl({ url, request, headers, token }) {
  // An interactive shell can expand an exclamation mark, even between quotes.
  const body = toJson(request).replaceAll("!", String.raw`\u0021`);
  const isLong = body.length > MAX_ARGUMENT_LENGTH;
  const lines = [
    `curl --silent --show-error ${quoteForShell(url)}`,
    "--header 'Content-Type: application/json'",
    ...(token === null ? [] : ['--header "Authorization: Bearer $TOKEN"']),
    ...Object.entries(headers).map(([name, value]) => `--header ${quoteForShell(`${name}: ${value}`)}`),
    `--data-binary ${isLong ? "@- <<'JSON'" : quoteForShell(body)}`,
  ];
  return `${token === null ? "" : `TOKEN=${quoteForShell(token)}\n`}${lines.join(" \\\n  ")}\n${isLong ? `${body}\nJSON\n` : ""}`;
}

/** Return the option of `tickover clock check` for an expectation, or null. */
function checkOption({ balance, goalReached, posted }) {
  if (balance && !balance.from && !balance.until)
    return {
      "never-below": balance.atLeast === undefined ? undefined : `${balance.currency}=${balance.atLeast}`,
      "never-above": balance.atMost === undefined ? undefined : `${balance.currency}=${balance.atMost}`,
    };
  if (goalReached) return { "goal-reached": `${goalReached.goal}=${goalReached.by}` };
  return posted && posted.count === undefined ? { posted: `${posted.name}=${posted.by}` } : null;
}

function amendCommands({ id, add = {}, cancel = [] }) {
  const { transactions = [], contributions = [], goals = [] } = add;
  if (goals.length || transactions.some(({ category }) => category !== undefined)) return null;
  return [
    ...transactions.map(
      ({ type, name, amount, currency, at }) =>
        `tickover clock add --${typeWord(type)} ${word(name)} ${word(amount)} ${word(currency)}${options({ at, clock: id })}`,
    ),
    ...contributions.map(
      ({ goalId, amount, at }) =>
        `tickover clock add --contribution ${word(goalId)} ${word(amount)}${options({ at, clock: id })}`,
    ),
    ...cancel.map((item) => `tickover clock cancel ${argument(item)}${options({ clock: id })}`),
  ].join("\n");
}

const COMMANDS = {
  createTestClock: (params) => `tickover clock create --params - <<'JSON'\n${toJson(params)}\nJSON`,
  getTestClock: ({ id, at }) => `tickover clock show ${argument(id)}${options({ at })}`,
  advanceTestClock: ({ id, frozenTime }) => `tickover clock advance ${argument(id)}${options({ to: frozenTime })}`,
  forkTestClock: ({ id, at, name, labels }) =>
    `tickover clock fork ${argument(id)}${options({ at, name, label: pairs(labels) })}`,
  amendTestClock: amendCommands,
  updateTestClock: ({ id, name, labels }) =>
    typeof name === "string" && labels === undefined ? `tickover clock rename -- ${word(name)} ${word(id)}` : null,
  deleteTestClock: ({ id }) => `tickover clock delete ${argument(id)} --yes`,
  listTestClocks: ({ limit, labels }) => `tickover clock list${options({ limit, label: pairs(labels) })}`,
  listTestClockEvents: ({ id, after, until, openingBalances }) =>
    `tickover clock events ${argument(id)}${options({ after, until, opening: pairs(openingBalances) })}`,
  getTestClockBalances: ({ id, at, openingBalances }) =>
    `tickover clock balance ${argument(id)}${options({ at, opening: pairs(openingBalances) })}`,
  exportTestClock: ({ id, format, pending, openingBalances }) =>
    `tickover clock export ${argument(id)}${options({ format, opening: pairs(openingBalances) })}${pending ? " --pending" : ""}`,
  checkTestClock({ id, until, openingBalances, expectations }) {
    const checks = expectations.map(checkOption);
    if (checks.includes(null)) return null;
    return `tickover clock check ${argument(id)}${checks.map(options).join("")}${options({ until, opening: pairs(openingBalances) })}`;
  },
  sendLoginCodeEmail: ({ email, emailType }) =>
    `tickover login ${argument(email)}${emailType === "WEB_LOGIN_LINK" ? " --link" : ""}`,
  logout: () => "tickover logout",
};

function cli({ url, request: { method, params }, token }) {
  const command = COMMANDS[method]?.(params);
  if (!command) return "# The command line has no command for this request. Use curl.\n";
  const variables = [
    `TICKOVER_URL=${word(baseUrl(url))}`,
    ...(token === null ? [] : [`TICKOVER_TOKEN=${word(token)}`]),
  ];
  return `export ${variables.join(" ")}\n${command}\n`;
}

function python({ url, request, token }) {
  const made = clientCall("tickover", request);
  if (!made) return "# The Python client has no method for this request. Use curl.\n";
  const code = toPython(made);
  const client = `Tickover(${toJson(baseUrl(url))}${token === null ? "" : `, token=${toJson(token)}`})`;
  return `from tickover.client import ${["Tickover", ...usedNames(code)].join(", ")}\n\ntickover = ${client}\nresult = ${code}\nprint(result)\n`;
}

const WRITERS = { curl, cli, python };

/** Return the command line that advances a clock. */
export const advanceCommand = (id, frozenTime) => COMMANDS.advanceTestClock({ id, frozenTime });

/** Write a call as code. `kind` is curl, cli or python. */
export function writeSnippet(kind, call, { url, token = TOKEN_PLACEHOLDER }) {
  const { request, headers = {}, authenticated = false } = call;
  try {
    return WRITERS[kind]({ url, request, headers, token: authenticated ? token : null });
  } catch {
    return "# No code for these parameters. Use curl.\n";
  }
}
