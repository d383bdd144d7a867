// A pill above a plot, with a line down to its end.

import { s } from "../lib/dom.js";
import { textWidth } from "./chart-paths.js";

const [TOP, HEIGHT, MARGIN] = [4, 22, 10];

/** Return half the width of a pill with a text. */
export const halfWidth = (text) => textWidth(text) / 2 + MARGIN;

export class Pill {
  #text = s("text", { y: TOP + 15, "text-anchor": "middle" });
  #rect = s("rect", { y: TOP, height: HEIGHT, rx: HEIGHT / 2 });

  constructor(name) {
    this.stem = s(`path.stem.${name}`);
    this.node = s(`g.pill.${name}`, this.#rect, this.#text);
  }

  /** Place the pill around `middle`. */
  place(text, middle) {
    const half = halfWidth(text);
    if (this.#text.textContent !== text) this.#text.textContent = text;
    this.#text.setAttribute("x", middle);
    this.#rect.setAttribute("x", middle - half);
    this.#rect.setAttribute("width", half * 2);
    this.node.setAttribute("visibility", "visible");
  }

  drawLine(x, bottom) {
    this.stem.setAttribute("d", `M${x} ${TOP + HEIGHT}V${bottom}`);
  }

  hide() {
    this.node.setAttribute("visibility", "hidden");
  }

  hideLine() {
    this.stem.setAttribute("d", "");
  }
}
