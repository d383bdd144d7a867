// The state of each row of items: posted, next, pending or later.

import { countUntil } from "./clock-model.js";
import { signedAmount } from "./clock-text.js";
import { h, s } from "./dom.js";
import { MARKS } from "./event-lanes.js";
import { formatInstant } from "./format.js";
import { icon } from "./icons.js";

const STATE_TEXTS = { posted: "posted", next: "would post", pending: "pending", later: "posted later" };

/** Shows the state of each row, in order of time. Updates only rows whose state changes. Some rows may be missing. */
export class RowStates {
  constructor(times, nodes) {
    Object.assign(this, { times, nodes });
  }

  /** Update the rows for a clock at `now` with a preview at `instant`. */
  update(now, instant) {
    const [postedCount, previewedCount] = [countUntil(this.times, now), countUntil(this.times, instant)];
    this.nodes.forEach((node, index) => {
      const state =
        index < previewedCount ? (index < postedCount ? "posted" : "next") : index < postedCount ? "later" : "pending";
      if (node.dataset.state === state) return;
      node.dataset.state = state;
      node.querySelector(".state").textContent = STATE_TEXTS[state];
    });
  }
}

/** Return the mark of a row, in the shape of its kind, and the text of its state. */
export function stateMark(kind) {
  return [
    s(
      "svg",
      { class: `mark ${kind}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      s("path", { d: MARKS[kind] }),
    ),
    h("span", { class: "state" }),
  ];
}

/** Create the button that cancels a pending item. It dispatches `cancelitem`. Posted rows hide it. */
export const cancelButton = (item) =>
  h(
    "button",
    {
      class: "quiet cancel-item",
      "aria-label": `Cancel ${item.name}, ${signedAmount(item)}, ${formatInstant(item.at)}`,
      title: "Cancel this item",
      onclick: ({ target }) => target.dispatchEvent(new CustomEvent("cancelitem", { detail: item, bubbles: true })),
    },
    icon("close"),
  );
