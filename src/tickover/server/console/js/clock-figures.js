// The figures at the top of a clock's page: date, balance, next event, lowest balance ahead, and expectations.

import { lowestPoint } from "./clock-model.js";
import { plural, signedAmount } from "./clock-text.js";
import { difference } from "./decimals.js";
import { h, render } from "./dom.js";
import { describeExpectation } from "./expectations.js";
import { formatDay, formatMoney, formatShortDay, formatTime } from "./format.js";
import { icon } from "./icons.js";
import { DAY } from "./instants.js";

const MAX_OTHERS = 3;

/** A figure with a label and a note. `label` can be nodes. */
export class Figure {
  #value = h("dd", { class: "figure-value" });
  #note = h("dd", { class: "figure-note" });

  constructor(label, className) {
    this.label = h("dt", {}, label);
    this.element = h("div", { class: `figure ${className}` }, this.label, this.#value, this.#note);
  }

  show(value, note, { broken = false } = {}) {
    this.element.classList.toggle("broken", broken);
    // Long amounts get a smaller font.
    this.#value.dataset.length =
      typeof value !== "string" || value.length < 12 ? "short" : value.length < 15 ? "long" : "longest";
    render(this.#value, value);
    render(this.#note, note);
  }
}

const preview = (text) => h("strong", { class: "preview-text" }, `→ ${text}`);

const nowrap = (text) => h("span", { class: "nowrap" }, text);

const isMidnight = (instant) => instant % DAY === 0;

function distance(from, to) {
  const days = Math.round(Math.abs(to - from) / DAY);
  return to > from ? `in ${plural(days, "day")}` : `${plural(days, "day")} ago`;
}

export class ClockFigures {
  #date = new Figure("Simulated date", "headline");
  #balance = new Figure("Balance", "headline");
  #next = new Figure("Next event", "");
  #lowest = new Figure("Lowest ahead", "");
  #checks = new Figure("Expectations", "");
  element = h(
    "dl",
    { class: "figures", "aria-label": "Summary" },
    [this.#date, this.#balance, this.#next, this.#lowest, this.#checks].map(({ element }) => element),
  );

  draw(model, currentView, view) {
    const { instant, now } = { instant: view.instant, now: currentView.instant };
    const isPreview = instant !== now;
    this.#date.show(
      formatDay(now),
      isPreview
        ? [preview(formatDay(instant)), " ", nowrap(distance(now, instant))]
        : isMidnight(now)
          ? "00:00 UTC"
          : `${formatTime(now)} UTC`,
    );
    this.#drawBalance(model, currentView, view, isPreview);
    this.#drawNext(model, currentView);
    this.#drawLowest(model, now);
  }

  #drawBalance(model, currentView, view, isPreview) {
    const [main, ...others] = model.currencies;
    if (!main) return this.#balance.show("–", "no transactions");
    this.#balance.label.textContent = `${main} balance`;
    const [current, then] = [currentView.balances.get(main), view.balances.get(main)];
    const otherBalances = others
      .slice(0, MAX_OTHERS)
      .map((currency) => formatMoney(view.balances.get(currency), currency));
    if (others.length > MAX_OTHERS) otherBalances.push(`${others.length - MAX_OTHERS} more`);
    return this.#balance.show(formatMoney(current, main), [
      isPreview && [preview(formatMoney(then, main)), " "],
      others.length
        ? otherBalances.join(" · ")
        : isPreview
          ? nowrap(formatMoney(difference(then, current), main, { sign: "exceptZero" }))
          : `${plural(model.items.length - currentView.postedCount, "event")} ahead`,
    ]);
  }

  #drawNext(model, currentView) {
    const item = model.items[currentView.postedCount];
    if (item) this.#next.show(formatShortDay(item.at), [`${item.name}, `, nowrap(signedAmount(item))]);
    else this.#next.show("None", model.items.length ? "all items are posted" : "no items");
  }

  #drawLowest(model, now) {
    const points = model.balances
      .map((balance) => ({ ...balance, lowest: lowestPoint(balance, now, model.maxTime, false) }))
      .filter(({ lowest }) => lowest);
    // The worst currency comes first.
    const [worst] = points.toSorted(
      (left, right) => (left.lowest.value < 0 ? -1 : 0) - (right.lowest.value < 0 ? -1 : 0),
    );
    if (!worst) return this.#lowest.show("–", "nothing is scheduled");
    const { lowest, currency } = worst;
    const cause = model.items.findLast((item) => item.at === lowest.at && item.currency === currency);
    return this.#lowest.show(formatMoney(lowest.value, currency), `${cause.name}, ${formatShortDay(lowest.at)}`, {
      broken: lowest.value < 0,
    });
  }

  /** Show how many expectations hold. `results` is null until the server responds. */
  drawChecks(expectations, results) {
    if (!expectations.length) return this.#checks.show("None", "add one below");
    if (!results) return this.#checks.show("…", plural(expectations.length, "expectation"));
    const broken = results.filter(({ ok }) => !ok).length;
    const badge = (name) => h("span", { class: `result ${name === "check" ? "ok" : "broken"}` }, icon(name));
    if (!broken) return this.#checks.show([badge("check"), "All hold"], plural(results.length, "expectation"));
    const first = describeExpectation(expectations[results.findIndex(({ ok }) => !ok)]);
    const count = results.length === 1 ? "Broken" : `${broken} of ${results.length} broken`;
    return this.#checks.show([badge("close"), count], first, { broken: true });
  }
}
