// The view of a page without content: its reason, what to do, and the actions.

import { h, render } from "./dom.js";
import { icon } from "./icons.js";

const shown = new WeakMap();

/**
 * Show a message in a node, with actions. Its first sentence is the title, a heading such as `h1`. `id` is what was not
 * found.
 */
export function showFailure(node, message, actions, heading = "h2", id = "") {
  // A screen reader would announce the same message again, and one of the actions can have the focus.
  const previous = shown.get(node);
  if (previous?.message === message && previous.element.parentNode === node) return;
  const [first, ...rest] = message.split(/(?<=[.?!])\s+/);
  const title = first.replace(/\.$/, "");
  const hadFocus = node.contains(document.activeElement);
  const element = h(
    "section.failure",
    { "aria-label": title },
    h("span.failure-mark", { "aria-hidden": "true" }, icon("alert")),
    h(
      "div",
      { role: "alert" },
      h(heading, { tabIndex: -1 }, title),
      " ",
      rest.length > 0 && h("p.muted", rest.join(" ")),
      id && [" ", h("p.muted.mono", id)],
    ),
    actions.length > 0 && h("div.row", actions),
  );
  render(node, element);
  shown.set(node, { message, element });
  if (hadFocus) actions[0]?.focus();
}

const MISSING_CLOCK = "Clock not found. It was deleted, it expired after seven days, or it belongs to another account.";

/** Return why a clock can't be shown, or undefined for other errors. */
export const goneMessage = (reason) =>
  ({
    CLOCK_EXPIRED: "This clock has expired. Clocks expire after seven days.",
    CLOCK_NOT_FOUND: MISSING_CLOCK,
    INVALID_PARAMS: MISSING_CLOCK,
  })[reason];

export const clocksLink = () => h("a.button.primary", { href: "#/clocks" }, "Back to your clocks");
