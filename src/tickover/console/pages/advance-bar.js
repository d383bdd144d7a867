// The actions below the timeline: advance, fork, go back to now, and what the preview would do.

import { countUntil } from "../clock/clock-model.js";
import { describePreview } from "../clock/clock-text.js";
import { h, render } from "../lib/dom.js";
import { formatShortInstant } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { addMonths, DAY } from "../lib/instants.js";
import { menuButton } from "../lib/menu.js";
import { withAmounts } from "../lib/nowrap.js";

/** The items of the menu beside the main button. `to` returns the new time. */
const WAYS = [
  { text: "Advance 1 day", hint: "⇧D", to: ({ now }) => now + DAY },
  { text: "Advance 1 week", hint: "⇧W", to: ({ now }) => now + 7 * DAY },
  { text: "Advance 1 month", hint: "⇧M", to: ({ now }) => addMonths(now, 1) },
  null,
  { text: "Advance to the last event", to: ({ now, times, maxTime }) => Math.max(now, times.at(-1) ?? maxTime) },
];

/** Return the time to which the main button advances without a preview: the next event, or a month later. */
function nextTime({ times, now, maxTime }) {
  return times[countUntil(times, now)] ?? Math.min(addMonths(now, 1), maxTime);
}

export class AdvanceBar {
  #model = null;
  #hide;
  instant = 0; // of the preview
  isGone = false;

  /** Call `onAdvance(instant)`, `onFork(instant)`, `onPreview(instant)`, and `hide(node, hidden)`. */
  constructor({ scrubber, onAdvance, onFork, onPreview, hide }) {
    this.#hide = hide;
    const wayItem = ({ text, hint, to }) => {
      const end = () => Math.min(to(this.#model), this.#model.maxTime);
      return { text, hint, getTarget: () => formatShortInstant(end()), onSelect: () => onAdvance(end()) };
    };
    this.advance = h(
      "button.primary.advance",
      { "aria-describedby": "preview-summary", onclick: () => onAdvance(this.target) },
      (this.label = h("span")),
      h("kbd", { "aria-hidden": "true" }, "↵"),
    );
    this.more = menuButton(
      { label: "More ways to advance", content: icon("down"), className: "primary" },
      WAYS.map((way) => way && wayItem(way)),
    );
    this.forkHere = h("button.primary", { onclick: () => onFork(this.instant) }, "Fork here");
    this.backToNow = h(
      "button.quiet.back",
      { title: "Back to now", "aria-keyshortcuts": "Escape", onclick: () => onPreview(this.#model.now) },
      icon("close"),
      "Back to now",
      h("kbd", { "aria-hidden": "true" }, "Esc"),
    );
    this.summary = h("p.preview-summary", { id: "preview-summary" });
    this.split = h("div.split", this.advance, this.more);
    this.element = h(
      "div.row.advance-bar",
      h("div.scale", scrubber.axis, scrubber.slider),
      h("div.main-actions", this.summary, this.split, this.forkHere, this.backToNow),
      scrubber.controls,
    );
  }

  /** The time to which the main button advances. */
  get target() {
    return this.instant > this.#model.now ? this.instant : nextTime(this.#model);
  }

  draw(model, currentView, view) {
    const { isGone } = this;
    this.#model = model;
    this.instant = view.instant;
    const [isNow, isPast] = [view.instant === model.now, view.instant < model.now];
    const [first, ...others] = describePreview(model, currentView, view).split("; ");
    render(
      this.summary,
      others.length && !isNow ? h("strong", first) : first,
      others.map((text) => withAmounts(`; ${text}`)),
      ".",
    );
    const hasNext = countUntil(model.times, model.now) < model.times.length;
    const step = hasNext ? "Advance to next event" : "Advance 1 month";
    this.label.textContent = isNow ? step : `Advance to ${formatShortInstant(view.instant)}`;
    this.advance.setAttribute("aria-disabled", String(isGone || (isNow && model.now >= model.maxTime)));
    for (const button of [this.advance, this.more.button]) button.classList.toggle("primary", model.items.length > 0);
    this.#hide(this.split, isPast);
    this.#hide(this.forkHere, !isPast || isGone);
    this.#hide(this.backToNow, isNow);
  }
}
