// <tick-goals>: the goals of a clock with their progress.

import { cancelButton, RowStates, stateCounts, stateMark } from "../chart/row-states.js";
import { plural } from "../clock/clock-text.js";
import { toNumber } from "../lib/decimals.js";
import { h, render, s } from "../lib/dom.js";
import { formatDay, formatInstant, formatMoney, formatPercent } from "../lib/format.js";

const RADIUS = 32;
const CIRCUMFERENCE = 2 * Math.PI * RADIUS;
const GROUP = 4; // goals that a frame can draw

const previewText = (text) => [" ", h("strong.preview-text", text)];

class GoalList extends HTMLElement {
  #scheduleKey = null;
  #count = h("span.muted");
  #times = [];

  setModel(model) {
    this.#times = model.items.filter(({ kind }) => kind === "goal").map(({ at }) => at);
    if (this.#scheduleKey === model.scheduleKey) return;
    this.#scheduleKey = model.scheduleKey;
    const open = this.goals?.filter(({ list }) => list.open).map(({ goal }) => goal.id) ?? [];
    this.goals = model.goals.map((goal, index) => new Goal(goal, index));
    render(
      this,
      h("div.card-header", h("h2", { id: "goals-title" }, "Goals"), this.#count),
      this.goals.length
        ? h(
            "ul.goals",
            { "aria-labelledby": "goals-title" },
            this.goals.map((goal) => goal.node),
          )
        : h("p.muted", "This clock has no goals."),
    );
    for (const { goal, list } of this.goals) list.open = open.includes(goal.id);
  }

  /** Return the parts to draw: the count, and groups of goals. All of a large clock would take longer than a frame. */
  get parts() {
    const groups = Map.groupBy(this.goals, ({ index }) => Math.floor(index / GROUP));
    const draw = (goals, ...views) => goals.forEach((goal) => goal.draw(...views));
    return [this, ...[...groups.values()].map((goals) => ({ draw: draw.bind(null, goals) }))];
  }

  draw(_model, currentView, view) {
    const counts = stateCounts(this.#times, currentView.instant, view.instant, "contribution");
    render(this.#count, this.#times.length > 0 && counts);
  }
}

function remainingText(remaining) {
  if (remaining === 0) return "reached";
  return remaining > 0 ? `${formatMoney(remaining)} to go` : `${formatMoney(-remaining)} over target`;
}

const nextText = (word, { next }) =>
  next
    ? `${word} ${formatMoney(next.amount, undefined, { sign: "always" })} on ${formatDay(next.at)}`
    : "no more contributions";

/** Return how a goal ends if all contributions post: when it is reached, or how much is missing. */
function goalEndText({ times, sums, targetUnits, places }) {
  const reached = sums.findIndex((sum) => sum >= targetUnits);
  if (reached > 0) return `, reached on ${formatDay(times[reached - 1])}`;
  return `, ${formatMoney(toNumber(targetUnits - sums.at(-1), places))} short at the end`;
}

/** Return the amount of a goal before its contributions, if there is one. */
const startText = ({ sums, places }) => sums[0] > 0 && `, and ${formatMoney(toNumber(sums[0], places))} from the start`;

class Goal {
  #drawnKey = "";
  #instants = [0, 0];

  constructor(goal, index) {
    Object.assign(this, { goal, index });
    this.ring = new Ring();
    this.percent = h("p.percent");
    this.amounts = h("p");
    this.next = h("p.muted");
    this.list = h(
      "details",
      { ontoggle: () => this.#buildContributions() },
      h("summary", plural(goal.contributions.length, "contribution"), startText(goal)),
    );
    this.node = h(
      "li.goal",
      this.ring.node,
      h("div.goal-details", h("h3.clamped", { title: goal.name }, goal.name), this.percent, this.amounts, this.next),
      goal.contributions.length ? this.list : null,
    );
  }

  draw(_model, currentView, view) {
    const [now, then] = [currentView, view].map(({ goals }) => goals[this.index]);
    this.#instants = [currentView.instant, view.instant];
    const key = `${now.postedCount} ${then.postedCount}`;
    if (this.list.open) this.states?.update(...this.#instants);
    if (key === this.#drawnKey) return;
    this.#drawnKey = key;
    this.ring.draw(Math.min(now.percent, then.percent), Math.max(now.percent, then.percent), then.percent);
    const change = then.postedCount - now.postedCount;
    this.ring.node.classList.toggle("previewed", change !== 0);
    const previewed = (text) => change !== 0 && previewText(`${change > 0 ? "→" : "←"}\u00a0${text}`);
    // The ring shows the percentage too.
    this.percent.classList.toggle("visually-hidden", !change);
    render(this.percent, formatPercent(now.percent), previewed(formatPercent(then.percent)));
    render(
      this.amounts,
      `${formatMoney(now.current)} of ${formatMoney(now.target)}`,
      previewed(formatMoney(then.current)),
    );
    render(
      this.next,
      remainingText(now.remaining),
      previewed(then.remaining > 0 && now.remaining > 0 ? formatMoney(then.remaining) : remainingText(then.remaining)),
      "\n",
      change === 0 ? nextText("next", now) : previewText(nextText("then", then)),
      now.remaining > 0 && now.next && goalEndText(this.goal),
    );
  }

  /** Build the list of contributions when it opens first. A clock can have 2,500 of them. */
  #buildContributions() {
    if (!this.list.open || this.states) return;
    const rows = this.goal.contributions.map((entry) => {
      const [mark, state] = stateMark("goal");
      return h(
        "li",
        mark,
        h("span.when", formatInstant(entry.at)),
        state,
        h("span.number", formatMoney(entry.amount, undefined, { sign: "always" })),
        cancelButton({ ...entry, kind: "goal", name: this.goal.name, goalId: this.goal.id }),
      );
    });
    this.list.append(
      h("ol.contributions", { tabindex: "0", "aria-label": `Contributions to ${this.goal.name}` }, rows),
    );
    this.states = new RowStates(this.goal.times, rows);
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
      "svg.ring",
      { width: 80, height: 80, viewBox: "0 0 80 80", "aria-hidden": "true" },
      circle("track"),
      s("g", { transform: "rotate(-90 40 40)" }, this.ghost, this.arc),
      this.text,
    );
  }

  draw(low, high, shown) {
    drawArc(this.arc, 0, low);
    drawArc(this.ghost, low, high);
    this.text.textContent = shown < 1000 ? formatPercent(shown) : "≫ 100%";
  }
}

/** Draw an arc between two percentages. Hide an empty arc, which browsers draw as a dot. */
function drawArc(circle, from, to) {
  const [start, end] = [Math.min(from, 100), Math.min(to, 100)].map((percent) => (percent / 100) * CIRCUMFERENCE);
  circle.setAttribute("stroke-dasharray", `${end - start} ${CIRCUMFERENCE}`);
  circle.setAttribute("stroke-dashoffset", -start);
  circle.setAttribute("visibility", end > start ? "visible" : "hidden");
}

customElements.define("tick-goals", GoalList);
