// The states of rows in tables of events, and the buttons that cancel them.

import { countUntil } from "../clock/clock-model.js";
import { plural, signedAmount } from "../clock/clock-text.js";
import { h, s } from "../lib/dom.js";
import { formatCount, formatInstant } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { MARKS } from "./event-lanes.js";

const STATE_TEXTS = {
  posted: "posted",
  new: "just posted",
  next: "would post",
  pending: "scheduled",
  later: "posted later",
};

/** Count rows by their state: `78: 33 posted, 27 would post, 18 scheduled`. The noun is optional. */
export function stateCounts(times, now, instant, noun) {
  const [posted, previewed] = [now, instant].map((at) => countUntil(times, at));
  const [first, last] = [Math.min(posted, previewed), Math.max(posted, previewed)];
  const changed = `${formatCount(last - first)} ${STATE_TEXTS[posted < previewed ? "next" : "later"]}`;
  return [
    `${noun ? plural(times.length, noun) : formatCount(times.length)}: ${formatCount(first)} posted, `,
    first < last && [h("strong.preview-text", changed), ", "],
    `${formatCount(times.length - last)} scheduled`,
  ];
}

/** Shows the state of each row, in order of time. Updates only rows whose state changes. Some rows may be missing. */
export class RowStates {
  constructor(times, nodes) {
    Object.assign(this, { times, nodes });
  }

  /** Update the rows for a clock at `now` with a preview at `instant`. The last advance was from `advancedFrom`. */
  update(now, instant, advancedFrom = now) {
    const [old, posted, previewed] = [advancedFrom, now, instant].map((at) => countUntil(this.times, at));
    const stateOf = (index) => {
      if (index >= previewed) return index < posted ? "later" : "pending";
      if (index >= posted) return "next";
      return index < old ? "posted" : "new";
    };
    this.nodes.forEach((node, index) => {
      const state = stateOf(index);
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
    h("span.state"),
  ];
}

/** Create the button that cancels a pending item. It dispatches `cancelitem`. Posted rows hide it. */
export const cancelButton = (item) =>
  h(
    "button.quiet.cancel-item",
    {
      "aria-label": `Cancel ${item.name}, ${signedAmount(item)}, ${formatInstant(item.at)}`,
      title: "Cancel this event",
      onclick: ({ target }) => target.dispatchEvent(new CustomEvent("cancelitem", { detail: item, bubbles: true })),
    },
    icon("close"),
  );
