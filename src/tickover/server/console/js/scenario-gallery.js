// The scenario cards, each with a button that creates a clock.

import { readParams } from "./clock-model.js";
import { createClock, whyNotCreated } from "./create-clock.js";
import { h, say, show, whileBusy } from "./dom.js";
import { scenarios } from "./server-info.js";
import { smallCurve } from "./sparkline.js";

// The plainest is shown first, and the one that no person would live last.
const RANKS = { "salary-and-rent": -1, limits: 1 };
const rank = ({ name }) => RANKS[name] ?? 0;

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function contents(model) {
  const transactions = model.items.filter((item) => item.kind !== "goal").length;
  return [
    counted(transactions, "transaction"),
    model.goals.length && counted(model.goals.length, "goal"),
    model.currencies.join(", "),
  ]
    .filter(Boolean)
    .join(" · ");
}

export function card({ title, about, params }, edit) {
  const model = readParams(params);
  const button = h(
    "button",
    { type: "button", class: "primary" },
    "Create",
    h("span", { class: "unseen" }, ` ${title}`),
  );
  button.addEventListener("click", () =>
    whileBusy(button, async () => {
      try {
        await createClock(params, title);
      } catch (error) {
        say(whyNotCreated(error), { error: true });
      }
    }),
  );
  return h(
    "li",
    { class: "card scenario" },
    h("h2", {}, title),
    h("p", {}, about),
    smallCurve(model, { width: 320, height: 72 }),
    h("p", { class: "quiet" }, contents(model)),
    h(
      "div",
      { class: "row" },
      button,
      h(
        "button",
        { type: "button", onclick: () => edit({ name: title, params }) },
        "Edit first",
        h("span", { class: "unseen" }, `: ${title}`),
      ),
    ),
  );
}

/** `edit({ name, params })` is called for those who want to change a scenario before they make a clock of it. */
export function gallery(edit) {
  const place = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
  const load = async () => {
    try {
      const all = (await scenarios()).toSorted((one, other) => rank(one) - rank(other));
      show(
        place,
        h(
          "ul",
          { class: "cards" },
          all.map((scenario) => card(scenario, edit)),
        ),
      );
    } catch {
      const again = h("button", { type: "button" }, "Try again");
      again.addEventListener("click", () => whileBusy(again, load));
      show(
        place,
        h(
          "div",
          { class: "card row" },
          h("p", { role: "alert" }, "The scenarios cannot be loaded. Is the server running?"),
          again,
        ),
      );
    }
  };
  load();
  return place;
}
