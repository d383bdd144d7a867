// Calls as code for curl, Python and JavaScript.

const TOKEN_PLACEHOLDER = "paste your token here";

// Linux limits an argument to 128 KiB, and a character can have four bytes.
const MAX_ARGUMENT_LENGTH = 30_000;

// JSON doesn't escape these invisible and control characters.
const INVISIBLE_CHARACTERS = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escapeCharacter = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Return indented JSON without invisible characters. */
export const toJson = (value, indent = 2) =>
  JSON.stringify(value, null, indent).replace(INVISIBLE_CHARACTERS, escapeCharacter);

const quoteForShell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

// JSON strings and numbers are valid Python. true, false and null are not.
function toPython(value, margin = "") {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return toJson(value);
  const inner = `${margin}    `;
  const members = Array.isArray(value)
    ? value.map((member) => toPython(member, inner))
    : Object.entries(value).map(([name, member]) => `${toJson(name)}: ${toPython(member, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return members.length
    ? `${open}\n${members.map((member) => `${inner}${member},\n`).join("")}${margin}${close}`
    : `${open}${close}`;
}

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

const headerLines = (headers, token, bearer) =>
  [
    ["Content-Type", toJson("application/json")],
    ...(token === null ? [] : [["Authorization", bearer]]),
    ...Object.entries(headers).map(([name, value]) => [name, toJson(value)]),
  ]
    .map(([name, value]) => `    ${toJson(name)}: ${value},\n`)
    .join("");

function python({ url, request, headers, token }) {
  return [
    "import json",
    "from urllib.error import HTTPError",
    "from urllib.request import Request, urlopen",
    "",
    ...(token === null ? [] : [`TOKEN = ${toJson(token)}`]),
    `call = ${toPython(request)}`,
    `headers = {\n${headerLines(headers, token, 'f"Bearer {TOKEN}"')}}`,
    "try:",
    `    response = urlopen(Request(${toJson(url)}, json.dumps(call).encode(), headers))`,
    "except HTTPError as error:",
    "    response = error  # the body has the details",
    "",
    "print(json.dumps(json.load(response), indent=2))",
    "",
  ].join("\n");
}

function javascript({ url, request, headers, token }) {
  return [
    ...(token === null ? [] : [`const TOKEN = ${toJson(token)};`]),
    `const response = await fetch(${toJson(url)}, {`,
    '  method: "POST",',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: part of the snippet
    `  headers: {\n${headerLines(headers, token, "`Bearer ${TOKEN}`")}  },`,
    `  body: JSON.stringify(${toJson(request).replaceAll("\n", "\n  ")}),`,
    "});",
    "console.log(JSON.stringify(await response.json(), null, 2));",
    "",
  ].join("\n");
}

const WRITERS = { curl, python, javascript };

/** Write a call as code. `kind` is curl, python or javascript. */
export function writeSnippet(
  kind,
  { request, headers = {}, authenticated = false },
  { url, token = TOKEN_PLACEHOLDER },
) {
  return WRITERS[kind]({ url, request, headers, token: authenticated ? token : null });
}
