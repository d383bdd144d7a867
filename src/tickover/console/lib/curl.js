// Calls as commands of curl.

import { toJson } from "./code-block.js";

const TOKEN_PLACEHOLDER = "paste your token here";

// Linux limits an argument to 128 KiB, and a character can have four bytes.
const MAX_ARGUMENT_LENGTH = 30_000;

const quoteForShell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Write a call as a command of curl. */
export function writeCurl({ request, headers = {}, authenticated = false }, { url, token = TOKEN_PLACEHOLDER }) {
  // An interactive shell can expand an exclamation mark, even between quotes.
  const body = toJson(request).replaceAll("!", String.raw`\u0021`);
  const isLong = body.length > MAX_ARGUMENT_LENGTH;
  const lines = [
    `curl -sS ${quoteForShell(url)}`,
    "-H 'Content-Type: application/json'",
    ...(authenticated ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    `--data-binary ${isLong ? "@- <<'JSON'" : quoteForShell(body)}`,
  ];
  const assignment = authenticated ? `TOKEN=${quoteForShell(token)}\n` : "";
  return `${assignment}${lines.join(" \\\n  ")}\n${isLong ? `${body}\nJSON\n` : ""}`;
}
