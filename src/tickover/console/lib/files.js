// Files that the user saves, chooses or drops.

import { h } from "./dom.js";

/** Let the browser save a text. */
export function downloadFile({ fileName, mediaType, text }) {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = h("a", { href: url, download: fileName });
  link.click();
  URL.revokeObjectURL(url);
}

/** Let the user choose a file and return it. If they choose none, the promise stays pending. */
export const chooseFile = (accept) =>
  new Promise((resolve) =>
    h("input", { type: "file", accept, onchange: ({ target }) => resolve(target.files[0]) }).click(),
  );

/** Call `onFile(file)` for a file that is dropped on a node. */
export function onFileDrop(node, onFile) {
  const hasFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  const mark = (isOver) => node.classList.toggle("drop-target", isOver);
  node.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  node.addEventListener("dragleave", () => mark(false));
  node.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(false);
    onFile(event.dataTransfer.files[0]);
  });
}
