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
  #states;

  constructor(times, nodes) {
    this.times = times;
    this.nodes = nodes;
    this.#states = new Array(nodes.length);
  }

  /** Update the rows for a clock at `now` with a preview at `instant`. */
  update(now, instant) {
    const [postedCount, previewedCount] = [countUntil(this.times, now), countUntil(this.times, instant)];
    for (let index = 0; index < this.nodes.length; index += 1) {
      const state =
        index < previewedCount ? (index < postedCount ? "posted" : "next") : index < postedCount ? "later" : "pending";
      const node = this.nodes[index];
      if (!node || this.#states[index] === state) continue;
      const isNewlyPosted = state === "posted" && ["next", "pending"].includes(this.#states[index]);
      this.#states[index] = state;
      node.dataset.state = state;
      node.classList.toggle("newly-posted", isNewlyPosted);
      node.querySelector(".state").textContent = STATE_TEXTS[state];
    }
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
