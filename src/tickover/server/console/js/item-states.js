// The state of each row of items: posted, next, pending or later.

import { LANES } from "./chart.js";
import { countUntil } from "./clock-model.js";
import { h, s } from "./dom.js";

const WORDS = { posted: "posted", next: "next", pending: "pending", later: "posted later" };

/** Nodes in order of their times, which show their state; only those whose state changes are touched. */
export class States {
  #states;

  constructor(times, nodes) {
    this.times = times;
    this.nodes = nodes;
    this.#states = new Array(nodes.length);
  }

  /** Tell every node what it is when the clock stands at `now` and is looked at as of `instant`. */
  update(now, instant) {
    const [posted, seen] = [countUntil(this.times, now), countUntil(this.times, instant)];
    for (let index = 0; index < this.nodes.length; index += 1) {
      const state = index < seen ? (index < posted ? "posted" : "next") : index < posted ? "later" : "pending";
      if (this.#states[index] === state) continue;
      const flips = state === "posted" && ["next", "pending"].includes(this.#states[index]);
      this.#states[index] = state;
      const node = this.nodes[index];
      node.dataset.state = state;
      node.classList.toggle("flips", flips);
      node.querySelector(".state").textContent = WORDS[state];
    }
    return { posted, seen };
  }
}

/** The mark of a row, in its lane's shape and filled once it is posted, and the word for it. */
export function stateMark(kind) {
  const { mark } = LANES.find((lane) => lane.kind === kind);
  return [
    s(
      "svg",
      { class: `mark ${kind}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      s("path", { d: `M0 0${mark}` }),
    ),
    h("span", { class: "state" }),
  ];
}
