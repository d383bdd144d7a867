// Cards with a title, and forms that open in them.

import { h, newId, render } from "./dom.js";
import { icon } from "./icons.js";

/** Create a section with a title, which can be nodes, and what is beside it. */
export function card({ title, aside, ...properties }, ...content) {
  const id = newId();
  return h(
    "section.card",
    { ...properties, "aria-labelledby": id },
    h("div.row.card-header", h("h2", { id }, title), aside),
    content,
  );
}

/** Create an entry of a list: its title, what is below it, and a button. */
export const listEntry = (title, details, button) => h("li.row", h("div", title, details), button);

/** Create a button that opens and closes a form: `{ button, box }`. `build(close)` creates the form for the box. */
export function disclosure(text, build) {
  const box = h("div", { hidden: true });
  const toggle = (isOpen) => {
    button.setAttribute("aria-expanded", String(isOpen));
    box.hidden = !isOpen;
    render(box, isOpen && build(() => toggle(false)));
    (isOpen ? box.querySelector("select") : button).focus();
  };
  const onclick = () => toggle(box.hidden);
  const button = h("button.quiet", { "aria-expanded": "false", onclick }, icon("add"), text);
  return { button, box };
}

/** Create the links to the pages above a page. */
export const breadcrumb = () =>
  h(
    "nav.breadcrumb",
    { "aria-label": "Breadcrumb" },
    h("a", { href: "#/clocks", "aria-label": "Back to clocks" }, "Clocks"),
    h("span", { "aria-hidden": "true" }, "/"),
  );
