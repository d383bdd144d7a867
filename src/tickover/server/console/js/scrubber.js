// What moves the preview: a slider below the plot, buttons, and a field. Nothing here sends anything; it only says which
// instant the reader wants to see.

import { countUntil } from "./clock-model.js";
import { h } from "./dom.js";
import { addMonths, DAY, HOUR, MINUTE } from "./instants.js";

const THUMB = 20;
const FEWEST_STEPS = 28;
const STILL = 120;
const DIRECTIONS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };

/** How far one step of the slider is: whole days, unless the window is too short for that. */
export function stepOf({ from, to }) {
  return [DAY, HOUR, MINUTE, 1000].find((size) => (to - from) / size >= FEWEST_STEPS) ?? 1;
}

/** Where the steps from an instant lead; null where there is nowhere to go. Two months from 31 January is 31 March. */
export const MOVES = [
  { key: "d", label: "+1 day", to: (_model, instant) => instant + DAY },
  { key: "w", label: "+1 week", to: (_model, instant) => instant + 7 * DAY },
  {
    key: "m",
    label: "+1 month",
    to: (_model, _instant, months) => (months.to = addMonths(months.from, ++months.count)),
  },
  { key: "n", label: "Next event", to: (model, instant) => model.times[countUntil(model.times, instant)] ?? null },
];

/** As the field takes it; seconds are shown only if there are any. */
const inField = (instant) => new Date(instant).toISOString().slice(0, instant % MINUTE === 0 ? 16 : 19);

/** Within the life of the clock. */
export const withinLife = (model, instant) => Math.min(Math.max(instant, model.start), model.maxTime);

export class Scrubber {
  #model = null;
  #instant = 0;
  #fieldTimer = 0;
  #months = {};

  /** `look(instant)` is called with what the reader wants to see, `turn(direction)` when the slider is at its end. */
  constructor({ look, turn }) {
    this.look = look;
    this.turn = turn;
    this.slider = h("input", {
      type: "range",
      class: "scrubber",
      "aria-label": "Preview time",
      oninput: () => this.#slide(),
      onkeydown: (event) => this.#pushOn(event),
      onchange: () => this.#settle(),
    });
    this.field = h("input", {
      type: "datetime-local",
      "aria-label": "Preview time (UTC)",
      onchange: () => this.#readField(),
    });
    this.field.style.minWidth = "min(14rem, 100%)"; // or else it cuts off the time rather than go below its label
    this.buttons = MOVES.map((move) =>
      h(
        "button",
        {
          type: "button",
          "aria-keyshortcuts": move.key,
          title: `${move.label} (${move.key} while the timeline has the focus)`,
          onclick: () => this.move(move),
        },
        move.label,
      ),
    );
    this.controls = h(
      "div",
      { class: "row moves" },
      this.buttons,
      h("label", { class: "row goto" }, h("span", {}, "Go to (UTC)"), this.field),
    );
  }

  show(model) {
    this.#model = model;
    Object.assign(this.field, { min: inField(model.start), max: inField(model.maxTime) });
  }

  /** The slider's ends are those of the plot; without a plot it is as wide as there is room. */
  align(window, left, width) {
    const step = stepOf(window);
    Object.assign(this.slider, { min: 0, max: Math.ceil((window.to - window.from) / step), step: 1 });
    this.window = window;
    this.size = step;
    this.slider.style.marginLeft = width ? `${left - THUMB / 2}px` : "0";
    this.slider.style.width = width ? `${width + THUMB}px` : "100%";
    this.#place();
  }

  preview(instant, spoken) {
    this.#instant = instant;
    this.#place();
    this.slider.setAttribute("aria-valuetext", spoken);
    // The field is costly to draw, and nobody reads it while the slider moves.
    clearTimeout(this.#fieldTimer);
    this.#fieldTimer = setTimeout(() => this.#showInField(), STILL);
    const ends = [instant >= this.#model.maxTime, instant >= (this.#model.times.at(-1) ?? -Infinity)].map(String);
    this.buttons.forEach((button, index) => {
      const end = ends[MOVES[index].key === "n" ? 1 : 0];
      if (button.getAttribute("aria-disabled") !== end) button.setAttribute("aria-disabled", end);
    });
  }

  #showInField() {
    if (document.activeElement !== this.field) this.field.value = inField(this.#instant);
  }

  move({ to }) {
    if (this.#months.to !== this.#instant) this.#months = { from: this.#instant, count: 0 };
    const instant = to(this.#model, this.#instant, this.#months);
    if (instant !== null) this.#want(instant);
  }

  /** What is wanted is known here at once, though it is drawn only with the next frame. */
  #want(instant) {
    this.#instant = withinLife(this.#model, instant);
    this.look(this.#instant);
  }

  #place() {
    if (!this.window) return;
    const step = Math.round((this.#instant - this.window.from) / this.size);
    if (Number(this.slider.value) !== step) this.slider.value = step;
  }

  #slide() {
    const instant = this.window.from + Number(this.slider.value) * this.size;
    // The last step may lie beyond the window's end, which need not be whole days after its beginning.
    this.#want(Math.min(instant, this.window.to));
  }

  /** -1 or 1 at an end of the slider, else 0. */
  #end() {
    const { value, max } = this.slider;
    return Number(value) === Number(max) ? 1 : Number(value) === 0 ? -1 : 0;
  }

  #settle() {
    if (this.#end()) this.turn(this.#end());
  }

  /** At its end the slider would not move, and say nothing. */
  #pushOn(event) {
    const direction = DIRECTIONS[event.key];
    if (!direction || direction !== this.#end() || !this.turn(direction)) return;
    event.preventDefault();
    this.#want(this.#instant + direction * this.size);
  }

  #readField() {
    const instant = Date.parse(`${this.field.value}Z`);
    if (!Number.isNaN(instant)) this.#want(instant);
  }
}
