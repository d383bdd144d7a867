// Icons: 16 × 16 SVG paths in the colour of the text.

import { h, s } from "./dom.js";

const PATHS = {
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "m4.5 6.5 3.5 3.5 3.5-3.5",
  fork: "M5 5.5v5M5 8.5c0-1.5 6 0 6-3M5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM11 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  add: "M8 3.5v9M3.5 8h9",
  calendar: "M3 4.5h10V13H3zM3 7.5h10M5.5 3v3M10.5 3v3",
  close: "m4.5 4.5 7 7m0-7-7 7",
  check: "m4 8.5 2.5 2.5L12 5.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3",
  code: "m5 4.5-3.5 3.5L5 11.5M11 4.5l3.5 3.5L11 11.5",
  table: "M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 6.5v6",
  chart: "M2.5 2.5v11h11M5 10l3-3.5 2 2L13 5",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  swap: "M2.5 5.5h10m-3-3 3 3-3 3M13.5 10.5h-10m3 3-3-3 3-3",
  alert: "M8 3.5v5.5M8 12h.01",
  edit: "m3 13 .5-2.5 7-7 2 2-7 7zM9 5l2 2",
  pause: "M6 4v8M10 4v8",
  play: "m5.5 4 6.5 4-6.5 4z",
};

/** Create an icon. Screen readers skip it. */
export const icon = (name) =>
  s(
    "svg.icon",
    { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" },
    s("path", { d: PATHS[name] }),
  );

/** Create a button that shows only an icon. `label` names it, and so does the title, unless there is another one. */
export const iconButton = (name, label, { class: kind = "quiet", ...properties }) =>
  h("button", { class: `${kind} icon-button`, "aria-label": label, title: label, ...properties }, icon(name));

/** Create the mark of a state of expectations. */
export const stateBadge = (state) =>
  h("span", { class: `result ${state.replaceAll(" ", "-")}` }, icon(state.endsWith("violated") ? "close" : "check"));

/** Create the logo: a clock face whose filled part is the past. */
export const logo = () =>
  s(
    "svg.logo",
    { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true", focusable: "false" },
    s("path.sector", { d: "M11 11V3.5a7.5 7.5 0 0 1 6.5 11.25z" }),
    s("circle", { cx: 11, cy: 11, r: 9 }),
    s("path", { d: "M11 5.5V11l4 2.3" }),
  );
