// What is on a clock in rows: its transactions, its goals, and the timeline as a table.

import { amountOf, plural, States, stateMark } from "./clock-words.js";
import { h, s, show } from "./dom.js";
import {
  formatCount,
  formatDay,
  formatInstant,
  formatMoney,
  formatMonthOfYear,
  formatPercent,
  formatTime,
} from "./format.js";
import { addMonths, countUntil, inCommonUnit, startOfDay, toNumber } from "./model.js";

// The transactions of a clock, whose rows turn from pending to posted. There are at most a hundred of them.

class Transactions extends HTMLElement {
  #schedule = "";
  #first = -1;

  show(model) {
    const items = model.items.filter((item) => item.currency);
    // The schedule of a clock never changes, so its rows are made once and only told what has become of them.
    if (this.#schedule === model.id) return;
    this.#schedule = model.id;
    this.rows = items.map(row);
    this.states = new States(
      items.map((item) => item.at),
      this.rows,
    );
    this.count = h("span", { class: "quiet" });
    this.scroller = h(
      "div",
      { class: "rows", tabindex: "0", role: "region", "aria-labelledby": "transactions-title" },
      h(
        "table",
        { class: "data as-cards" },
        (this.head = h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["When", "Name", "State"].map((title) => h("th", { scope: "col" }, title)),
            h("th", { scope: "col", class: "number" }, "Amount"),
          ),
        )),
        h("tbody", {}, this.rows),
      ),
    );
    show(
      this,
      h("div", { class: "row top" }, h("h2", { id: "transactions-title" }, "Transactions"), this.count),
      items.length ? this.scroller : h("p", { class: "quiet" }, "This clock has no transactions."),
    );
  }

  preview(now, instant) {
    const { posted } = this.states.update(now, instant);
    const count = this.rows.length
      ? `${posted} posted, ${plural(this.rows.length - posted, "pending", "pending")}`
      : "";
    if (this.count.textContent !== count) this.count.textContent = count;
    this.#reveal(posted);
  }

  /** What comes next is in sight, without moving the page. */
  #reveal(posted) {
    if (posted === this.#first) return;
    this.#first = posted;
    const target = this.rows[posted];
    if (!target || this.scroller.scrollHeight <= this.scroller.clientHeight) return;
    const above = this.rows[Math.max(0, posted - 2)];
    this.scroller.scrollTop = above.offsetTop - this.head.offsetHeight;
  }
}

const isMidnight = (instant) => instant === startOfDay(instant);

function row(item) {
  const [mark, state] = stateMark(item.kind);
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "when" },
      mark,
      formatDay(item.at),
      isMidnight(item.at) ? null : h("span", { class: "quiet detail" }, `${formatTime(item.at)} UTC`),
    ),
    h(
      "th",
      { scope: "row", class: "name" },
      item.name,
      item.category ? h("span", { class: "quiet detail" }, item.category) : null,
    ),
    h("td", { class: "how" }, state),
    h("td", { class: `number ${item.kind}` }, amountOf(item)),
  );
}

customElements.define("tick-transactions", Transactions);

// The goals of a clock: rings, or bars if there are many, with a ghost of what the preview adds.

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

// The text version of the timeline: what comes in and goes out in each month, and where that leads.

function sum(items) {
  const { places, counts } = inCommonUnit(items.map((item) => item.amount));
  return toNumber(
    counts.reduce((total, count) => total + count, 0n),
    places,
  );
}

const monthOf = (instant) => {
  const date = new Date(instant);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
};

/** One row per month and currency, and one per month for the goals. */
function rowsOf(model) {
  const groups = new Map();
  for (const item of model.items) {
    const key = `${monthOf(item.at)} ${item.currency ?? ""}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.values()].map((items) => {
    const [{ at, currency }] = items;
    const month = monthOf(at);
    const of = (kind) => items.filter((item) => item.kind === kind);
    const flow = model.flows.find((one) => one.currency === currency);
    const end = flow?.values[countUntil(flow.times, addMonths(month, 1) - 0.001)];
    return {
      month,
      currency,
      posted: items.filter((item) => item.happened).length,
      count: items.length,
      income: of("income"),
      expense: of("expense"),
      goal: of("goal"),
      end,
    };
  });
}

export function buildChartTable(model) {
  const bare = (amount, { currency }) => formatMoney(amount, currency, { bare: true });
  const money = (kind, row) => (row[kind].length ? bare(sum(row[kind]), row) : "");
  const rows = rowsOf(model).map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, formatMonthOfYear(row.month)),
      h("td", {}, row.currency ?? "goals"),
      h("td", { class: "number" }, `${formatCount(row.posted)} of ${formatCount(row.count)}`),
      h("td", { class: "number" }, money(row.currency ? "income" : "goal", row)),
      h("td", { class: "number" }, money("expense", row)),
      h("td", { class: "number" }, row.currency ? bare(row.end, row) : ""),
    ),
  );
  if (rows.length === 0) return h("p", { class: "quiet" }, "This clock has no items.");
  return h(
    "table",
    { class: "data" },
    h(
      "caption",
      { class: "quiet" },
      "By month: how many items have posted, what comes in and goes out, and the net flow of this clock at the month's end.",
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Month", "Currency", "Posted"].map((title, index) =>
          h("th", { scope: "col", class: index > 1 ? "number" : undefined }, title),
        ),
        ["In", "Out", "Net flow then"].map((title) => h("th", { scope: "col", class: "number" }, title)),
      ),
    ),
    h("tbody", {}, rows),
  );
}
