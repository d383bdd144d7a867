// <tick-goals>: the goals of a clock with their progress.

import { plural } from "./clock-text.js";
import { h, s, show } from "./dom.js";
import { formatInstant, formatMoney, formatPercent } from "./format.js";
import { States, stateMark } from "./item-states.js";

const MOST_RINGS = 6;
const RADIUS = 32;
const AROUND = 2 * Math.PI * RADIUS;

class Goals extends HTMLElement {
  #schedule = "";

  show(model) {
    this.model = model;
    if (this.#schedule === model.id) return;
    this.#schedule = model.id;
    const many = model.goals.length > MOST_RINGS;
    const Form = many ? Bar : Ring;
    this.goals = model.goals.map((goal) => new Goal(goal, new Form()));
    show(
      this,
      h(
        "div",
        { class: "row top" },
        h("h2", { id: "goals-title" }, "Goals"),
        many ? h("span", { class: "quiet" }, String(model.goals.length)) : null,
      ),
      this.goals.length
        ? h(
            "ul",
            {
              class: many ? "goals bars" : "goals",
              tabindex: many ? "0" : undefined,
              "aria-labelledby": "goals-title",
            },
            this.goals.map((goal) => goal.node),
          )
        : h("p", { class: "quiet" }, "This clock has no goals."),
    );
  }

  preview(present, view) {
    this.goals.forEach((goal, index) => goal.preview(present, view, present.goals[index], view.goals[index]));
  }
}

class Goal {
  #said = "";
  #instants = [0, 0];

  constructor(goal, form) {
    this.goal = goal;
    this.form = form;
    this.percent = h("span", { class: "percent" });
    this.amounts = h("p", {});
    this.next = h("p", { class: "quiet" });
    this.list = h(
      "details",
      { ontoggle: () => this.#open() },
      h("summary", {}, plural(goal.contributions.length, "contribution")),
    );
    this.node = h(
      "li",
      { class: "goal" },
      form.node,
      h("div", { class: "facts" }, h("h3", {}, goal.name), h("p", {}, this.percent), this.amounts, this.next),
      goal.contributions.length ? this.list : null,
    );
  }

  preview(present, view, now, then) {
    this.#instants = [present.instant, view.instant];
    const key = `${now.posted} ${then.posted}`;
    if (this.list.open) this.states?.update(...this.#instants);
    if (key === this.#said) return;
    this.#said = key;
    this.form.draw(Math.min(now.percent, then.percent), Math.max(now.percent, then.percent));
    const changes = now.percent !== then.percent;
    this.percent.textContent = changes
      ? then.posted > now.posted
        ? `${formatPercent(now.percent)} → ${formatPercent(then.percent)}`
        : `${formatPercent(then.percent)} then, ${formatPercent(now.percent)} now`
      : formatPercent(then.percent);
    const remaining =
      then.remaining > 0
        ? `${formatMoney(then.remaining)} to go`
        : then.remaining < 0
          ? `${formatMoney(-then.remaining)} more than needed`
          : "reached";
    this.amounts.textContent = `${formatMoney(then.current)} of ${formatMoney(then.target)} · ${remaining}`;
    this.next.textContent = then.next
      ? `next ${formatMoney(then.next.amount, undefined, { sign: "always" })} on ${formatInstant(then.next.at)}`
      : "nothing more is scheduled";
  }

  /** A hundred contributions for each of twenty-five goals: nobody reads them all, so they are made when they are asked for. */
  #open() {
    if (!this.list.open || this.states) return;
    const rows = this.goal.contributions.map((entry) => {
      const [mark, state] = stateMark("goal");
      return h(
        "li",
        {},
        mark,
        h("span", { class: "when" }, formatInstant(entry.at)),
        state,
        h("span", { class: "number" }, formatMoney(entry.amount, undefined, { sign: "always" })),
      );
    });
    this.list.append(
      h("ol", { class: "contributions", tabindex: "0", "aria-label": `Contributions to ${this.goal.name}` }, rows),
    );
    this.states = new States(this.goal.times, rows);
    this.states.update(...this.#instants);
  }
}

class Ring {
  constructor() {
    const circle = (name) => s("circle", { class: name, r: RADIUS, cx: 40, cy: 40 });
    this.ghost = circle("ghost");
    this.arc = circle("arc");
    this.text = s("text", { x: 40, y: 45, "text-anchor": "middle" });
    this.node = s(
      "svg",
      { class: "ring", width: 80, height: 80, viewBox: "0 0 80 80", "aria-hidden": "true" },
      circle("track"),
      s("g", { transform: "rotate(-90 40 40)" }, this.ghost, this.arc),
      this.text,
    );
  }

  draw(low, high) {
    arc(this.arc, 0, low);
    arc(this.ghost, low, high);
    this.text.textContent = low > 9999 ? "≫ 100%" : formatPercent(Math.floor(low));
  }
}

/** From one percentage to another. A dash of no length with nothing after it would be drawn as a dot, so it is hidden. */
function arc(circle, from, to) {
  const [start, end] = [Math.min(from, 100), Math.min(to, 100)].map((percent) => (percent / 100) * AROUND);
  circle.setAttribute("stroke-dasharray", `${end - start} ${AROUND}`);
  circle.setAttribute("stroke-dashoffset", -start);
  circle.setAttribute("visibility", end > start ? "visible" : "hidden");
}

class Bar {
  constructor() {
    this.arc = h("span", { class: "arc" });
    this.ghost = h("span", { class: "ghost" });
    this.node = h("div", { class: "bar", "aria-hidden": "true" }, this.arc, this.ghost);
  }

  draw(low, high) {
    this.arc.style.width = `${Math.min(low, 100)}%`;
    this.ghost.style.width = `${Math.min(high, 100) - Math.min(low, 100)}%`;
  }
}

customElements.define("tick-goals", Goals);
