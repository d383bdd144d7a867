// The top of a clock's page: its name, labels, counts and expiry, a menu of actions, and its figures.

import { askExport, PARAMS } from "./clock-dialogs.js";
import { lowestAhead, toParams } from "./clock-model.js";
import { clockName, countsText, MAX_NAME_LENGTH, plural, renameClock, signedAmount } from "./clock-text.js";
import { withName } from "./create-clock.js";
import { difference } from "./decimals.js";
import { copyText, downloadFile, h, notify, onSubmit, render, withBusyState } from "./dom.js";
import { describeExpectation } from "./expectations.js";
import {
  formatCount,
  formatDay,
  formatDuration,
  formatMoney,
  formatPercent,
  formatShortDay,
  formatTime,
} from "./format.js";
import { icon } from "./icons.js";
import { DAY, parseInstant } from "./instants.js";
import { menuButton } from "./menu.js";
import { call } from "./rpc.js";

const exportClock = ({ id, opening }, choice) =>
  call("exportTestClock", { id, ...choice, ...(Object.keys(opening).length && { openingBalances: opening }) });

const paramsFile = (model) => ({
  fileName: `${model.id}.json`,
  mediaType: "application/json",
  text: `${JSON.stringify(withName(toParams(model), model.name), null, 2)}\n`,
});

export class ClockHeader {
  #model;
  #onError;
  #onRenamed;
  #name = h("div", { class: "row clock-name" });
  #status = h("span", { class: "chip status", hidden: true });
  #counts = h("span", { class: "counts" });
  #expiry = h("span", { class: "expiry" });
  #menu;

  constructor(model, { onFork, onDelete, onRenamed, onError }) {
    this.#model = model;
    this.#onError = onError;
    this.#onRenamed = onRenamed;
    this.#menu = menuButton({ label: "More actions", content: icon("more"), className: "icon-button" }, [
      { text: "Rename", onSelect: () => this.#editName() },
      { text: "Copy ID", onSelect: () => copyText(model.id, "the ID of the clock") },
      { text: "Export…", onSelect: () => this.#export() },
      { text: "Compare…", onSelect: () => (location.hash = `#/compare/${encodeURIComponent(model.id)}`) },
      null,
      { text: "Delete…", danger: true, onSelect: onDelete },
    ]);
    this.element = h(
      "header",
      { class: "row clock-header" },
      h(
        "nav",
        { "aria-label": "Breadcrumb", class: "breadcrumb" },
        h("a", { href: "#/clocks", "aria-label": "Back to clocks" }, "Clocks"),
        h("span", { "aria-hidden": "true" }, "/"),
      ),
      this.#name,
      this.#status,
      this.#counts,
      this.#expiry,
      h("div", { class: "row actions" }, h("button", { onclick: onFork }, icon("fork"), "Fork…"), this.#menu),
    );
    this.#drawName();
    this.drawExpiry();
  }

  setModel(model) {
    this.#counts.textContent = countsText(model.items, "event");
    if (model.name !== this.#model.name) {
      this.#model = model;
      // A name that is being edited stays.
      if (this.#name.querySelector("h1")) this.#drawName();
    }
    this.#model = model;
  }

  /** Show that the clock is gone. A living clock has no status. */
  setStatus(status) {
    this.#status.textContent = status;
    this.#status.hidden = false;
    this.#expiry.hidden = true;
  }

  drawExpiry() {
    const left = this.#model.expiresAt - Date.now();
    this.#expiry.textContent = left > 0 ? `Expires in ${formatDuration(left)}` : "Expired";
    this.#expiry.classList.toggle("soon", left < DAY);
  }

  #drawName() {
    const name = clockName(this.#model);
    document.title = `${name} · Tickover`;
    render(
      this.#name,
      h("h1", {}, name),
      Object.entries(this.#model.labels).map(([key, value]) => h("span", { class: "chip" }, `${key}=${value}`)),
    );
  }

  #editName() {
    const field = h("input", {
      "aria-label": "Clock name",
      value: clockName(this.#model),
      maxlength: String(MAX_NAME_LENGTH),
      autocomplete: "off",
    });
    const close = () => {
      this.#drawName();
      this.#menu.button.focus();
    };
    const save = async () => {
      try {
        const { name } = await withBusyState(button, () => renameClock(this.#model.id, field.value));
        this.#model = { ...this.#model, name };
        this.#onRenamed(name);
        close();
        notify(name ? "Renamed." : "The name was removed.");
      } catch (error) {
        this.#onError(error);
      }
    };
    const button = h("button", {}, "Save");
    render(
      this.#name,
      h(
        "form",
        { class: "row", onsubmit: onSubmit(save), onkeydown: (event) => event.key === "Escape" && close() },
        field,
        button,
        h("button", { class: "plain", onclick: close }, "Cancel"),
      ),
    );
    field.select();
  }

  async #export() {
    const model = this.#model;
    const choice = await askExport(this.#model);
    if (!choice) return;
    try {
      const file = choice.format === PARAMS ? paramsFile(model) : await exportClock(model, choice);
      downloadFile(file);
      notify(`Exported “${file.fileName}”.`);
    } catch (error) {
      this.#onError(error);
    }
  }
}

const MAX_AMOUNTS = 3;

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
      typeof value !== "string" || value.length < 11 ? "short" : value.length < 15 ? "long" : "longest";
    if (this.#value.textContent !== value) render(this.#value, value);
    render(this.#note, note);
  }
}

const preview = (text, isPast) => h("strong", { class: "preview-text" }, `${isPast ? "←" : "→"} ${text}`);

const nowrap = (text) => h("span", { class: "nowrap" }, text);

/** Show an amount for each currency: `{ value, currency, note }`. */
const amounts = (entries) =>
  h(
    "ul",
    { class: "amounts" },
    entries
      .slice(0, MAX_AMOUNTS)
      .map(({ value, currency, note }) =>
        h(
          "li",
          { class: value < 0 ? "below-zero" : undefined },
          formatMoney(value, currency),
          note && h("small", {}, note),
        ),
      ),
  );

const moreText = ({ length }) =>
  length > MAX_AMOUNTS ? `and ${plural(length - MAX_AMOUNTS, "more currency", "more currencies")}` : "";

/** Return how many of the currencies that are not shown go below zero. */
const belowZeroText = (entries) => {
  const { length } = entries.slice(MAX_AMOUNTS).filter(({ value }) => value < 0);
  return length ? `, ${formatCount(length)} below zero` : "";
};

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
  #drawnView = null;
  element = h(
    "dl",
    { class: "figures", "aria-label": "Summary" },
    [this.#date, this.#balance, this.#next, this.#lowest, this.#checks].map(({ element }) => element),
  );

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
    this.#drawNext(model, currentView);
    this.#drawLowest(model, now);
  }

  #drawBalance(model, currentView, view, isPreview) {
    const { balances, currencies } = model;
    const [main] = currencies;
    if (!main) return this.#drawGoals(currentView);
    const scheduled = model.items.filter((item) => item.currency && !item.isPosted);
    const ahead = `${plural(scheduled.length, "transaction")} scheduled`;
    const isPast = view.instant < currentView.instant;
    const entries = balances.map(({ currency }) => {
      const [now, then] = [currentView, view].map((each) => each.balances.get(currency));
      return { value: now, currency, note: isPreview && preview(formatMoney(then, currency), isPast) };
    });
    this.#balance.label.textContent = entries.length > 1 ? "Balances" : `${main} balance`;
    if (entries.length > 1) return this.#balance.show(amounts(entries), moreText(entries) || ahead);
    const [{ value, note }] = entries;
    const change = difference(view.balances.get(main), value);
    return this.#balance.show(
      formatMoney(value, main),
      isPreview ? [note, " ", nowrap(formatMoney(change, main, { sign: "exceptZero" }))] : ahead,
      { broken: value < 0 },
    );
  }

  /** Show goals instead of the balance of a clock without transactions. */
  #drawGoals({ goals }) {
    this.#balance.label.textContent = "Goals";
    const progress = goals.map(({ name, percent }) => `${name} ${formatPercent(percent)}`);
    this.#balance.show(goals.length ? plural(goals.length, "goal") : "None", progress.join(", "));
  }

  #drawNext(model, currentView) {
    const item = model.items[currentView.postedCount];
    if (item) {
      const [day, today] = [item.at, currentView.instant].map(formatShortDay);
      const isToday = item.at - currentView.instant < DAY && day === today;
      this.#next.show(isToday ? `${day}, ${formatTime(item.at)}` : day, [`${item.name}, `, nowrap(signedAmount(item))]);
    } else this.#next.show("None", model.items.length ? "all events are posted" : "no events");
  }

  /** Show the lowest balance of each currency from now on. */
  #drawLowest(model, now) {
    const entries = model.balances.map((balance) => {
      const { at, value } = lowestAhead(balance, model);
      return { at, value, currency: balance.currency, note: at === now ? "now" : formatShortDay(at) };
    });
    this.#lowest.element.hidden = !entries.length;
    if (!entries.length) return;
    if (entries.length > 1) return this.#lowest.show(amounts(entries), `${moreText(entries)}${belowZeroText(entries)}`);
    const [{ at, value, currency, note }] = entries;
    const cause = at > now && model.items.findLast((item) => item.at === at && item.currency === currency).name;
    return this.#lowest.show(formatMoney(value, currency), cause ? `${cause}, ${note}` : note, { broken: value < 0 });
  }

  /** Show how many expectations hold. `results` is null until the server responds. */
  drawChecks(expectations, results) {
    if (!expectations.length) return this.#checks.show("None", "add one below");
    if (!results) return this.#checks.show("…", plural(expectations.length, "expectation"));
    const broken = results.filter(({ ok }) => !ok).length;
    const badge = (name) => h("span", { class: `result ${name === "check" ? "ok" : "broken"}` }, icon(name));
    if (!broken) return this.#checks.show([badge("check"), "All hold"], plural(results.length, "expectation"));
    const index = results.findIndex(({ ok }) => !ok);
    const count = results.length === 1 ? "Broken" : `${broken} of ${results.length} broken`;
    const date = formatShortDay(parseInstant(results[index].violation.at));
    return this.#checks.show([badge("close"), count], `${date}: ${describeExpectation(expectations[index])}`, {
      broken: true,
    });
  }
}
