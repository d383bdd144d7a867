// Calls as code for curl, Python and JavaScript.

const PLACEHOLDER = "paste your token here";

// Linux takes 128 KiB, and a character may have four bytes.
const LONGEST_ARGUMENT = 30_000;

// Beside what JSON escapes: what a terminal or a reader's eye would take for something else than text.
const TRICKY = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escapeCharacter = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Indented JSON, in which every character is what it looks like. */
export const toJson = (value, indent = 2) => JSON.stringify(value, null, indent).replace(TRICKY, escapeCharacter);

const inBash = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

// Strings and numbers of JSON are those of Python; its names for truth are not.
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
  // In an interactive shell an exclamation mark brings back what was typed before, in some even between quotes.
  const body = toJson(request).replaceAll("!", String.raw`\u0021`);
  const isLong = body.length > LONGEST_ARGUMENT;
  const lines = [
    `curl --silent --show-error ${inBash(url)}`,
    "--header 'Content-Type: application/json'",
    ...(token === null ? [] : ['--header "Authorization: Bearer $TOKEN"']),
    ...Object.entries(headers).map(([name, value]) => `--header ${inBash(`${name}: ${value}`)}`),
    `--data-binary ${isLong ? "@- <<'JSON'" : inBash(body)}`,
  ];
  return `${token === null ? "" : `TOKEN=${inBash(token)}\n`}${lines.join(" \\\n  ")}\n${isLong ? `${body}\nJSON\n` : ""}`;
}

const headerLines = (headers, token, bearer) =>
  [
    ["Content-Type", toJson("application/json")],
    ...(token === null ? [] : [["Authorization", bearer]]),
    ...Object.entries(headers).map(([name, value]) => [name, toJson(value)]),
  ]
    .map(([name, value]) => `    ${toJson(name)}: ${value},\n`)
    .join("");

// Line by line, because files are served without the blanks at the beginning of their lines.

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
    `    answer = urlopen(Request(${toJson(url)}, json.dumps(call).encode(), headers))`,
    "except HTTPError as refusal:",
    "    answer = refusal  # its body says why",
    "",
    "print(json.dumps(json.load(answer), indent=2))",
    "",
  ].join("\n");
}

function javascript({ url, request, headers, token }) {
  return [
    ...(token === null ? [] : [`const TOKEN = ${toJson(token)};`]),
    `const answer = await fetch(${toJson(url)}, {`,
    '  method: "POST",',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the snippet's own template literal
    `  headers: {\n${headerLines(headers, token, "`Bearer ${TOKEN}`")}  },`,
    `  body: JSON.stringify(${toJson(request).replaceAll("\n", "\n  ")}),`,
    "});",
    "console.log(JSON.stringify(await answer.json(), null, 2));",
    "",
  ].join("\n");
}

const WRITERS = { curl, python, javascript };

/** `kind` is curl, python or javascript; `token` is null for a call that carries none. */
export function snippet(kind, { request, headers = {}, signed = false }, { url, token = PLACEHOLDER }) {
  return WRITERS[kind]({ url, request, headers, token: signed ? token : null });
}
