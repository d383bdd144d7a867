// A list of calls with their duration and outcome.

import { h } from "./dom.js";

const outcome = ({ response }) =>
  response ? (response.error?.data?.reason ?? (response.error ? "error" : "ok")) : "no response";

export const duration = ({ milliseconds }) =>
  `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;

export const describeCall = (call) => `${duration(call)} · ${outcome(call)}`;

/** Create a list of buttons. `textOf(call)` is the text of each, and `onSelect(call)` is called when it is pressed. */
export const callList = (label, calls, { selected, textOf, onSelect }) =>
  h(
    "ol",
    { class: "calls", "aria-label": label },
    calls.map((call) =>
      h(
        "li",
        {},
        h(
          "button",
          {
            type: "button",
            "aria-current": call === selected ? "true" : undefined,
            onclick: () => onSelect(call),
          },
          h("span", { class: "method" }, textOf(call)),
          h("span", { class: "muted" }, duration(call)),
          h("span", { class: call.response && !call.response.error ? "muted" : "error" }, outcome(call)),
        ),
      ),
    ),
  );
