// Saves text as a file.

import { h } from "./dom.js";

/** Let the browser save a JSON text. */
export function downloadFile(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
