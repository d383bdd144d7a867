// The figures of a clock: its date, balances, next event, lowest balance and expectations.

import { lowestAhead, nextItems } from "../clock/clock-model.js";
import { describeStep, plural } from "../clock/clock-text.js";
import { smallestAllowed, summarizeChecks } from "../clock/expectations.js";
import { difference } from "../lib/decimals.js";
import { h, render } from "../lib/dom.js";
import { formatCount, formatDay, formatMoney, formatPastDay, formatPercent, formatTime } from "../lib/format.js";
import { stateBadge } from "../lib/icons.js";
import { DAY } from "../lib/instants.js";
import { nowrap, withAmounts } from "../lib/nowrap.js";

const MAX_OTHERS = 2; // currencies below the first one

/** A figure with a label, a note and other amounts. `label` can be nodes. */
export class Figure {
  #value = h("dd.figure-value");
  #note = h("dd.figure-note");
  #others = h("dd.figure-others", { hidden: true });

  constructor(label) {
    this.label = h("dt", label);
    this.element = h("div.figure", this.label, this.#value, this.#note, this.#others);
  }

  show(value, note, { low = false, others } = {}) {
    this.element.classList.toggle("low", low);
    // A long amount makes all values of the row smaller.
    this.#value.dataset.length = value.length > 14 ? "long" : "short";
    if (this.#value.textContent !== value) render(this.#value, value);
    render(this.#note, note);
    this.#note.title = this.#note.textContent;
    this.#others.hidden = !others;
    render(this.#others, others);
  }
}

const preview = (text, isPast) => h("strong.preview-text", `${isPast ? "←" : "→"} ${text}`);

/** Return how many of the currencies that are not shown go below zero: `97 more, 33 below zero`. */
const restText = (entries) => {
  const { length } = entries.filter(({ value }) => value < 0);
  return length
    ? `${formatCount(entries.length)} more, ${formatCount(length)} below zero`
    : `and ${plural(entries.length, "more currency", "more currencies")}`;
};

/** List the amounts of the other currencies: `{ value, currency, note, isLow }`. */
function listAmounts(entries) {
  if (!entries.length) return null;
  const rest = entries.slice(MAX_OTHERS);
  const row = ({ value, currency, note, isLow }) =>
    h("li", h("strong", { class: isLow ? "below-zero" : undefined }, formatMoney(value, currency)), " ", note);
  return h("ul", entries.slice(0, MAX_OTHERS).map(row), rest.length > 0 && h("li", restText(rest)));
}

/** Return the format of dates without a time. As in the plot, a long clock has years. */
const dayFormat = ({ start, times, now }) =>
  (times.at(-1) ?? start) - start > 366 * DAY ? formatDay : (at) => formatPastDay(at, now);

/** Return a balance after all events, or null if all are posted. */
function endText(model, { currency, times, values }) {
  const at = times.at(-1);
  return at > model.now ? withAmounts(`${formatMoney(values.at(-1), currency)} by ${dayFormat(model)(at)}`) : null;
}

function distance(from, to) {
  const days = Math.round(Math.abs(to - from) / DAY);
  const text = days <= 366 ? plural(days, "day") : plural(Math.round(days / 30.44), "month");
  return to > from ? `in ${text}` : `${text} ago`;
}

export class ClockFigures {
  #date = new Figure("Simulated date");
  #balance = new Figure("Balance");
  #next = new Figure("Next event");
  #lowest = new Figure("Lowest ahead");
  #checks = new Figure("Expectations");
  #drawnView = null;
  #onShow;
  element = h(
    "dl.figures",
    { "aria-label": "Summary" },
    [this.#date, this.#balance, this.#next, this.#lowest, this.#checks].map(({ element }) => element),
  );

  /** Call `onShow(instant)` to preview a violation. */
  constructor({ onShow }) {
    this.#onShow = onShow;
  }

  draw(model, currentView, view) {
    const { instant, now } = { instant: view.instant, now: currentView.instant };
    const isPreview = instant !== now;
    const time = `${formatTime(now)} UTC`;
    this.#date.label.textContent = isPreview ? `Now, ${time}` : "Simulated date";
    this.#date.show(
      formatDay(now),
      isPreview ? [preview(formatDay(instant), instant < now), " ", nowrap(distance(now, instant))] : time,
    );
    this.#drawBalance(model, currentView, view, isPreview);
    if (this.#drawnView === currentView) return;
    this.#drawnView = currentView;
    this.#drawNext(model);
    this.#drawLowest(model);
  }

  #drawBalance(model, currentView, view, isPreview) {
    const { balances, currencies } = model;
    const [main] = currencies;
    this.#balance.element.hidden = !main && !model.goals.length;
    if (!main) return this.#drawGoals(currentView, view, isPreview);
    const isPast = view.instant < currentView.instant;
    const entries = balances.map((balance) => {
      const { currency } = balance;
      const [now, then] = [currentView, view].map((each) => each.balances.get(currency));
      const isLow = now < smallestAllowed(model, balance, model.now);
      const change = isPast ? difference(now, then) : difference(then, now);
      const changeText = formatMoney(change, currency, { sign: "exceptZero" });
      const note = isPreview
        ? [preview(formatMoney(then, currency), isPast), " ", nowrap(isPast ? `${changeText} since` : changeText)]
        : endText(model, balance);
      return { value: now, currency, isLow, note };
    });
    const [{ value, note, isLow }, ...others] = entries;
    this.#balance.label.textContent = others.length
      ? "Balances"
      : `${main} ${model.accounts.length ? "total" : "balance"}`;
    return this.#balance.show(formatMoney(value, main), note ?? "all transactions are posted", {
      low: isLow,
      others: listAmounts(others),
    });
  }

  /** Show goals instead of the balance of a clock without transactions. */
  #drawGoals({ goals, instant }, view, isPreview) {
    const [goal, ...others] = goals;
    if (!goal) return;
    this.#balance.label.textContent = others.length ? "Goals" : goal.name;
    const progress = goals.map(({ name, percent }) => `${name} ${formatPercent(percent)}`).join(", ");
    if (others.length) return this.#balance.show(plural(goals.length, "goal"), progress);
    const amount = `${formatMoney(goal.current)} of ${formatMoney(goal.target)}`;
    const previewed = () => preview(formatPercent(view.goals[0].percent), view.instant < instant);
    return this.#balance.show(formatPercent(goal.percent), isPreview ? previewed() : amount);
  }

  #drawNext(model) {
    const items = nextItems(model);
    this.#next.element.title = "";
    if (!items.length) return this.#next.show("None", model.items.length ? "all events are posted" : "no events");
    const [{ at }] = items;
    const { name, amount, title } = describeStep(items);
    this.#next.element.title = title;
    const texts = items.length === 1 ? [nowrap(amount), " ", name] : [name, amount && [": ", withAmounts(amount)]];
    return this.#next.show(`${dayFormat(model)(at)}, ${formatTime(at)}`, texts);
  }

  /** Show the lowest balance of each currency from now on. */
  #drawLowest(model) {
    const { now } = model;
    const entries = model.balances.map((balance) => {
      const { at, value } = lowestAhead(balance, model);
      const { currency } = balance;
      const isLow = value < smallestAllowed(model, balance, at);
      return { at, value, currency, isLow, note: at === now ? "now" : dayFormat(model)(at) };
    });
    this.#lowest.element.hidden = !entries.length;
    if (!entries.length) return;
    const [{ at, value, currency, note, isLow }, ...others] = entries;
    // With several currencies, each has one line.
    const cause = at > now && !others.length && model.balances[0].items.findLast((item) => item.at === at).name;
    return this.#lowest.show(formatMoney(value, currency), cause ? `${note}, ${cause}` : note, {
      low: isLow,
      others: listAmounts(others),
    });
  }

  /** Show how many expectations hold. `results` is null until the server responds. */
  drawChecks(model, results) {
    const { expectations } = model;
    this.#drawLowest(model);
    if (!expectations.length) return this.#checks.show("None", "add one below");
    if (!results) return this.#checks.show("…", plural(expectations.length, "expectation"));
    const { state, text, at, detail } = summarizeChecks(model, results);
    const show = () => h("button.link", { onclick: () => this.#onShow(at) }, dayFormat(model)(at));
    return this.#checks.show(
      [stateBadge(state), h("span", text)],
      at === undefined
        ? (this.#margin(model) ?? plural(results.length, "expectation"))
        : [show(), ": ", withAmounts(detail)],
    );
  }

  /** Return how close the first balance comes to a limit below zero, because the figures show it too. */
  #margin(model) {
    const [balance] = model.balances;
    const { at, value } = balance ? lowestAhead(balance, model) : { value: 0 };
    if (value >= 0) return null;
    const { currency } = balance;
    const limit = smallestAllowed(model, balance, at);
    if (limit >= 0 || limit === -Infinity) return null;
    return withAmounts(`lowest ${formatMoney(value, currency)}, limit ${formatMoney(limit, currency)}`);
  }
}
