// JSON as text without invisible characters.

// JSON doesn't escape these invisible and control characters.
const INVISIBLE_CHARACTERS = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const escapeCharacter = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Return indented JSON without invisible characters. */
export const toJson = (value, indent = 2) =>
  JSON.stringify(value, null, indent).replace(INVISIBLE_CHARACTERS, escapeCharacter);
