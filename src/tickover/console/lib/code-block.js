// JSON as text, and code with syntax colours.

import { copyText } from "./clipboard.js";
import { h } from "./dom.js";

const MAX_SHOWN_LENGTH = 20_000;

// Strings, numbers and keywords of JSON, shells and Python. A string before a colon is a key.
const TOKENS = new RegExp(
  [
    /(?<key>"(?:[^"\\\n]|\\.)*"(?=:))/,
    /(?<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')/,
    /(?<![\w/.-]|\w:)(?<number>-?\d[\d.]*(?:e[+-]?\d+)?)(?![\w-])/,
    /(?<![\w./-])(?<keyword>curl|from|import|for|in|print|[Tt]rue|[Ff]alse|null|None)\b(?![\w./-]| =)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gm",
);

/** Yield the text in parts: strings, and elements with colours. */
export function* highlight(text) {
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > end) yield text.slice(end, match.index);
    const [name] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    yield h("span", { class: `token-${name}` }, match[0]);
    end = match.index + match[0].length;
  }
  yield text.slice(end);
}

/** Create a box with a secret that is shown once, and a button that copies it. */
export const secretBox = (hint, secret) =>
  h(
    "div.token-secret",
    h("p", hint),
    h("div.row", h("code", secret), h("button", { onclick: () => copyText(secret, "the token") }, "Copy token")),
  );

/** Create a code block. It shows the start of a long text. */
export function codeBlock(label, text) {
  const rest = text.length - MAX_SHOWN_LENGTH;
  const shown = rest > 0 ? `${text.slice(0, MAX_SHOWN_LENGTH)}\n… ${rest} more characters. Copy includes them.` : text;
  return h("pre.code", { tabIndex: 0, role: "group", "aria-label": label }, [...highlight(shown)]);
}

// JSON doesn't escape these invisible and control characters.
const INVISIBLE_CHARACTERS = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escapeCharacter = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Return indented JSON without invisible characters. */
export const toJson = (value, indent = 2) =>
  JSON.stringify(value, null, indent).replace(INVISIBLE_CHARACTERS, escapeCharacter);
