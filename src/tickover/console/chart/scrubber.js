// The controls of the preview time: a slider, buttons and a date field. With Shift, a button advances the clock.

import { countUntil } from "../clock/clock-model.js";
import { h, s } from "../lib/dom.js";
import { parseTimeText, timeInput, toTimeText } from "../lib/form-fields.js";
import { addMonths, DAY, HOUR, MINUTE, toTimestamp } from "../lib/instants.js";

const THUMB_WIDTH = 22; // as in scrubber.css
const MIN_STEPS = 28;
const FIELD_UPDATE_MS = 120;

/** Return the length of one slider step: a day, or less for a short window. */
export const sliderStep = ({ from, to }) =>
  [DAY, HOUR, MINUTE, 1000].find((size) => (to - from) / size >= MIN_STEPS) ?? 1;

/**
 * Return the slider step nearest to an instant. If items or the clock's time lie within half a step of it, return the
 * last of them, so that the preview reaches the times of items.
 */
export function snapToItem({ times, now }, window, instant) {
  const step = sliderStep(window);
  const nearest = window.from + Math.round((instant - window.from) / step) * step;
  const end = nearest + step / 2 - 0.001; // a microsecond earlier
  const last = Math.max(times[countUntil(times, end) - 1] ?? -Infinity, now <= end ? now : -Infinity);
  return last > end - step ? last : nearest;
}

/** Align a slider with a plot. Without a plot, the slider fills the width. */
export function alignSlider(slider, window, left, width) {
  Object.assign(slider, { min: 0, max: Math.ceil((window.to - window.from) / sliderStep(window)), step: 1 });
  slider.style.marginLeft = width ? `${left - THUMB_WIDTH / 2}px` : "0";
  slider.style.setProperty("--left", `${width ? left : 0}px`);
  slider.style.width = width ? `${width + THUMB_WIDTH}px` : "100%";
}

/** Move the thumb to an instant, also between two steps. */
export function moveThumb(slider, { from, to }, instant, width) {
  const value = Math.round((instant - from) / sliderStep({ from, to }));
  if (Number(slider.value) !== value) slider.value = value;
  slider.style.setProperty("--offset", `${((instant - from) / (to - from) - value / slider.max) * width}px`);
}

/** The steps of the buttons. `to` returns the new instant or null. Two months after 31 January is 31 March. */
export const TIME_STEPS = [
  { key: "d", label: "+1 day", to: (_model, instant) => instant + DAY },
  { key: "w", label: "+1 week", to: (_model, instant) => instant + 7 * DAY },
  {
    key: "m",
    label: "+1 month",
    to: (_model, _instant, months) => (months.to = addMonths(months.from, ++months.count)),
  },
  { key: "n", label: "Next event", to: (model, instant) => model.times[countUntil(model.times, instant)] ?? null },
];

/** Limit an instant to the time between the start and the end of the clock. */
export const clampToClock = (model, instant) => Math.min(Math.max(instant, model.start), model.maxTime);

export class Scrubber {
  #model = null;
  #instant = 0;
  #fieldTimer = 0;
  #months = {};

  /**
   * Call `onPreview(instant)` for each move, `onAdvance(instant)` for a step with Shift, and `onEdge(direction)` when
   * the slider reaches an end.
   */
  constructor({ onPreview, onAdvance, onEdge }) {
    Object.assign(this, { onPreview, onAdvance, onEdge });
    this.axis = s("svg.time-axis", { "aria-hidden": "true", focusable: "false" });
    this.slider = h("input.scrubber", {
      type: "range",
      "aria-label": "Preview time",
      oninput: () => this.#readSlider(),
      onchange: () => this.#extendWindow(),
    });
    this.field = timeInput("", { "aria-label": "Preview time (UTC)", onchange: () => this.#readField() });
    this.buttons = TIME_STEPS.map((step) =>
      h(
        "button",
        {
          "aria-keyshortcuts": step.key,
          title: `Preview ${step.label.toLowerCase()}. Hold Shift to advance.`,
          onclick: (event) => this.move(step, { advances: event.shiftKey }),
        },
        step.label,
        h("kbd", { "aria-hidden": "true" }, step.key.toUpperCase()),
      ),
    );
    this.controls = h(
      "div.row.steps",
      { role: "group", "aria-label": "Preview" },
      h("p", { "aria-hidden": "true" }, "Preview"),
      h("div.joined", this.buttons),
    );
    this.fault = h("span.error.fault", { role: "alert" });
    this.goTo = h("label.go-to", { title: "Go to (UTC). Shortcut: G" }, this.field.parentNode, "UTC", this.fault);
  }

  setModel(model) {
    this.#model = model;
  }

  align(window, left, width) {
    Object.assign(this, { window, width, stepSize: sliderStep(window) });
    alignSlider(this.slider, window, left, width);
    this.#positionThumb();
  }

  preview(instant, spokenText) {
    this.#instant = instant;
    this.#positionThumb();
    // The field is slow to draw, so update it after the slider stops. The page may draw one preview several times.
    if (this.slider.getAttribute("aria-valuetext") !== spokenText) {
      clearTimeout(this.#fieldTimer);
      this.#fieldTimer = setTimeout(() => this.#updateField(), FIELD_UPDATE_MS);
    }
    this.slider.setAttribute("aria-valuetext", spokenText);
    const isAtEnd = [instant >= this.#model.maxTime, instant >= (this.#model.times.at(-1) ?? -Infinity)].map(String);
    this.buttons.forEach((button, index) => {
      const isDisabled = isAtEnd[TIME_STEPS[index].key === "n" ? 1 : 0];
      if (button.getAttribute("aria-disabled") !== isDisabled) button.setAttribute("aria-disabled", isDisabled);
    });
  }

  #updateField() {
    if (document.activeElement === this.field) return;
    this.field.removeAttribute("aria-invalid");
    this.fault.textContent = "";
    this.field.value = toTimeText(toTimestamp(this.#instant));
  }

  /** Move the preview by a step. With `advances`, advance the clock by the step instead. */
  move({ to }, { advances = false } = {}) {
    if (advances) {
      const { now } = this.#model;
      const instant = to(this.#model, now, { from: now, count: 0 });
      if (instant !== null) this.onAdvance(clampToClock(this.#model, instant));
      return;
    }
    // Months that were added one by one are counted from their start.
    if (this.#months.to !== this.#instant) this.#months = { from: this.#instant, count: 0 };
    const instant = to(this.#model, this.#instant, this.#months);
    if (instant !== null) this.#setInstant(instant);
  }

  /** Set the preview time. The page draws it in the next frame. */
  #setInstant(instant) {
    this.#instant = clampToClock(this.#model, instant);
    this.onPreview(this.#instant);
  }

  #positionThumb() {
    if (!this.window || !this.#model) return;
    const { from, to } = this.window;
    moveThumb(this.slider, this.window, this.#instant, this.width);
    const fraction = (instant) => Math.min(Math.max((instant - from) / (to - from), 0), 1);
    this.slider.style.setProperty("--now", fraction(this.#model.now));
    this.slider.style.setProperty("--end", fraction(Math.max(this.#instant, this.#model.now)));
  }

  #readSlider() {
    const instant = snapToItem(this.#model, this.window, this.window.from + Number(this.slider.value) * this.stepSize);
    // The last step can end after the window.
    this.#setInstant(Math.min(instant, this.window.to));
  }

  #extendWindow() {
    const { value, max } = this.slider;
    if (value === max) this.onEdge(1);
    else if (value === "0") this.onEdge(-1);
  }

  #readField() {
    const instant = parseTimeText(this.field.value);
    const isInvalid = Number.isNaN(instant);
    const problem = /^\d{4}-\d\d-\d\d/.test(this.field.value) ? "doesn't exist" : "isn't a time";
    this.field.setAttribute("aria-invalid", String(isInvalid));
    this.fault.textContent = isInvalid ? `“${this.field.value}” ${problem}. Example: 2027-01-31 09:00` : "";
    if (!isInvalid) this.#setInstant(instant);
  }
}
