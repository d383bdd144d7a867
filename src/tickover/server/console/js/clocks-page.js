// <tick-clocks>: the list of clocks, and the page for a new clock.

import { readChecks } from "./clock-checks.js";
import { clockForm, clockJsonForm, formProblem } from "./clock-form.js";
import { lowestAhead, parseClock, viewAt } from "./clock-model.js";
import { clockName, MAX_NAME_LENGTH, plural, renameClock, signedAmount } from "./clock-text.js";
import { h, newId, notify, onSubmit, render, withBusyState } from "./dom.js";
import { showFailure } from "./failure.js";
import { formatCount, formatDay, formatDuration, formatMoney, formatPercent, formatShortDay } from "./format.js";
import { icon } from "./icons.js";
import { DAY } from "./instants.js";
import { CallError, call } from "./rpc.js";
import { scenarioEditor, scenarioGallery } from "./scenarios.js";
import { curveKey, sparkline } from "./sparkline.js";
import { tabList } from "./tabs.js";

const MAX_CONCURRENT_REQUESTS = 3;
const MAX_FIGURES = 2;

const GONE_MESSAGES = { CLOCK_NOT_FOUND: "This clock was deleted.", CLOCK_EXPIRED: "This clock has expired." };

function firstOfMonth() {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString().replace(".000", "");
}

/** Return the lowest balance from now on as a figure `[title, value, isBelowZero]`. */
function lowestFigure(balance, model) {
  const { at, value } = lowestAhead(balance, model);
  const day = at === model.now ? "now" : formatShortDay(at);
  return [`Lowest ahead, ${day}`, formatMoney(value, balance.currency), value < 0];
}

/**
 * Return the balance and the lowest balance from now on. A clock with several currencies has the balance of each, and a
 * clock without transactions the progress of each goal.
 */
function cardFigures(model) {
  const { balances, goals } = viewAt(model, model.now);
  const figures = balances.size
    ? [...balances].map(([currency, balance]) => [`${currency} balance`, formatMoney(balance, currency), balance < 0])
    : goals.map(({ name, percent }) => [name, formatPercent(percent)]);
  const rest = figures.length - MAX_FIGURES;
  if (balances.size === 1) figures.push(lowestFigure(model.balances[0], model));
  return h(
    "dl",
    { class: "balances" },
    figures
      .slice(0, MAX_FIGURES)
      .map(([title, value, isBelowZero], index) =>
        h(
          "div",
          {},
          h("dt", {}, balances.size > 1 && curveKey(index), title),
          h("dd", { class: isBelowZero ? "below-zero" : undefined }, value),
        ),
      ),
    model.items.length === 0 && h("div", {}, h("dt", {}, "Events"), h("dd", { class: "none" }, "None")),
    rest > 0 && h("div", { class: "rest" }, h("dt", {}, `and ${rest} more`), h("dd")),
  );
}

/** Return the next event of a clock: its name, amount and day. The card opens the clock, so it has an arrow. */
function nextEvent(model) {
  const item = model.items.find(({ isPosted }) => !isPosted);
  const muted = (text) => h("span", { class: "muted" }, text);
  const content = item
    ? [
        muted("Next"),
        h("span", { class: "event" }, item.name),
        h("strong", {}, signedAmount(item)),
        muted(formatShortDay(item.at)),
      ]
    : model.items.length
      ? muted("All events are posted")
      : h("span", { class: "add" }, "Add the first event");
  return h("p", { class: "next" }, content, icon("right"));
}

class ClocksPage extends HTMLElement {
  #title = h("h1", { tabIndex: -1 });
  #header = h("header", { class: "heading row" }, this.#title);
  #body = h("div");
  #abortController = new AbortController();
  #cards = new Map(); // element to { clock, details, counts, drawNow, drawExpiry }
  #queue = []; // visible cards without details
  #activeRequests = 0;
  #observer = null;
  #timer = 0;

  connectedCallback() {
    this.#observer = new IntersectionObserver((entries) => this.#queueVisible(entries), { rootMargin: "200px" });
    this.#timer = setInterval(() => this.#cards.forEach(({ drawExpiry }) => drawExpiry()), 30_000);
    if (this.argument === "new") this.#showNewClock();
    else this.#load();
  }

  disconnectedCallback() {
    this.#abortController.abort();
    this.#observer.disconnect();
    clearInterval(this.#timer);
  }

  /** Show content. The heading stays the same element because it can have the focus. */
  #show(title, aside, ...content) {
    this.#title.textContent = title;
    [...this.#header.children].slice(1).forEach((child) => child.remove());
    if (aside) this.#header.append(aside);
    if (!this.#header.isConnected) render(this, this.#header, this.#body);
    render(this.#body, content);
  }

  async #load() {
    this.#show("Clocks", null, h("p", { class: "muted" }, "Loading…"));
    try {
      const page = await call("listTestClocks", {}, { signal: this.#abortController.signal });
      if (page.clocks.length === 0) this.#showFirstSteps();
      else this.#showCards(page);
    } catch (error) {
      this.#showError(error, () => this.#load(), this.#body);
    }
  }

  /** Show an error with a retry button, unless the user has left the page. */
  #showError(error, load, container) {
    if (this.#abortController.signal.aborted) return;
    if (!(error instanceof CallError)) throw error;
    const retry = async () => {
      await withBusyState(button, load);
      if (document.activeElement === document.body) this.#title.focus();
    };
    const button = h("button", { class: "primary", onclick: retry }, "Try again");
    showFailure(container, error.message, [button]);
  }

  #showFirstSteps() {
    this.#show(
      "Start with a scenario",
      h(
        "p",
        { class: "muted" },
        "Each scenario creates a clock with simulated money. You move its time. Clocks expire after seven days.",
      ),
      this.#creationTabs(),
    );
  }

  #showNewClock() {
    document.title = "New clock · Tickover";
    this.#show(
      "New clock",
      h("a", { class: "button aside", href: "#/clocks" }, "Back to your clocks"),
      this.#creationTabs(),
    );
  }

  #creationTabs() {
    const draft = { name: "", params: { frozenTime: firstOfMonth() } };
    const edit = (toml, scenarioId) => {
      Object.assign(draft, { toml, scenarioId });
      tabs.select(2);
      tabs.querySelector("form textarea").focus();
    };
    let jsonForm;
    const canLeave = (_from, to) => {
      const problem = to === 1 && formProblem(draft);
      if (!problem) return true;
      // The user can correct the text in the JSON tab.
      tabs.select(3, { force: true });
      jsonForm.showError(problem);
      return false;
    };
    const tabs = tabList(
      "Create a clock",
      [
        { title: "Scenarios", build: () => scenarioGallery(edit) },
        { title: "Form", build: () => clockForm(draft) },
        { title: "TOML", build: () => scenarioEditor(draft) },
        { title: "JSON", build: () => (jsonForm = clockJsonForm(draft)) },
      ],
      { canLeave },
    );
    return tabs;
  }

  #showCards({ clocks, nextCursor }) {
    const list = h("ul", { class: "cards" });
    const more = h("div", { class: "more" });
    this.#show("Clocks", h("a", { class: "button primary aside", href: "#/clocks/new" }, "New clock"), list, more);
    this.#addCards(list, more, clocks, nextCursor);
  }

  #addCards(list, more, clocks, nextCursor) {
    const cards = clocks.map((clock) => this.#card(clock));
    list.append(...cards);
    cards.forEach((card) => this.#observer.observe(card));
    if (!nextCursor) {
      render(more);
      return cards;
    }
    const load = async () => {
      try {
        const page = await call("listTestClocks", { cursor: nextCursor }, { signal: this.#abortController.signal });
        const [first] = this.#addCards(list, more, page.clocks, page.nextCursor);
        first?.querySelector("a").focus();
        notify(`Loaded ${page.clocks.length} more clocks.`);
      } catch (error) {
        this.#showError(error, load, more);
      }
    };
    const button = h("button", { onclick: () => withBusyState(button, load) }, "Load more");
    render(more, button);
    return cards;
  }

  #card(clock) {
    const name = h("div", { class: "name" });
    const now = h("p", { class: "now" });
    const details = h("div", { class: "details" }, h("p", { class: "muted" }, "…"));
    const counts = h("span");
    const expiry = h("span", { class: "expiry" });
    const card = h("li", { class: "card clock" }, name, now, details, h("p", { class: "row" }, counts, expiry));

    const drawNow = ({ frozenTime }) => (now.textContent = formatDay(Date.parse(frozenTime)));
    const drawExpiry = () => {
      const left = Date.parse(clock.expiresAt) - Date.now();
      const isSoon = left < DAY;
      expiry.classList.toggle("soon", isSoon);
      expiry.textContent = left <= 0 ? "▲ Expired" : `${isSoon ? "▲ " : ""}Expires in ${formatDuration(left)}`;
    };
    drawNow(clock);
    drawExpiry();
    this.#drawName(name, clock);
    this.#cards.set(card, { clock, details, counts, drawNow, drawExpiry });
    return card;
  }

  #drawName(container, clock, { focus = false } = {}) {
    const name = clockName(clock);
    const renameButton = h(
      "button",
      {
        class: "plain icon-button rename",
        "aria-label": `Rename “${name}”`,
        title: "Rename",
        onclick: () => this.#editName(container, clock),
      },
      icon("edit"),
    );
    render(container, h("h2", {}, h("a", { href: `#/clock/${clock.id}` }, name)), renameButton);
    if (focus) renameButton.focus();
  }

  #editName(container, clock) {
    const input = h("input", {
      id: newId(),
      type: "text",
      value: clockName(clock),
      maxLength: MAX_NAME_LENGTH,
      autocomplete: "off",
    });
    const button = h("button", {}, "Save");
    const close = () => this.#drawName(container, clock, { focus: true });
    const save = async () => {
      try {
        if (input.value !== clockName(clock))
          clock.name = (await withBusyState(button, () => renameClock(clock.id, input.value))).name;
        close();
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        notify(error.message, { error: true });
      }
    };
    render(
      container,
      h(
        "form",
        { class: "row", onsubmit: onSubmit(save), onkeydown: (event) => event.key === "Escape" && close() },
        h("label", { for: input.id, class: "visually-hidden" }, "Clock name"),
        input,
        button,
      ),
    );
    input.select();
  }

  #queueVisible(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#observer.unobserve(target);
      this.#queue.push(target);
    }
    this.#fetchMore();
  }

  #fetchMore() {
    while (this.#activeRequests < MAX_CONCURRENT_REQUESTS && this.#queue.length) {
      this.#activeRequests += 1;
      this.#fetch(this.#cards.get(this.#queue.shift())).finally(() => {
        this.#activeRequests -= 1;
        this.#fetchMore();
      });
    }
  }

  async #fetch({ clock, details, counts, drawNow }) {
    try {
      const { clock: fullClock } = await call(
        "getTestClock",
        { id: clock.id },
        { quiet: true, signal: this.#abortController.signal },
      );
      const model = parseClock(fullClock, null, readChecks(clock.id).opening);
      drawNow(fullClock);
      const curve = model.items.length ? sparkline(model) : h("div", { class: "no-curve" });
      render(details, cardFigures(model), curve, nextEvent(model));
      const posted = model.items.filter(({ isPosted }) => isPosted).length;
      counts.textContent = model.items.length
        ? `${formatCount(posted)} of ${plural(model.items.length, "event")} posted`
        : "";
    } catch (error) {
      if (this.#abortController.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      const retry = () => withBusyState(retryButton, () => this.#fetch(this.#cards.get(details.parentElement)));
      const retryButton = h("button", { onclick: retry }, "Try again");
      render(
        details,
        h("p", { class: "error" }, GONE_MESSAGES[error.reason] ?? error.message),
        !GONE_MESSAGES[error.reason] && retryButton,
      );
    }
  }
}

customElements.define("tick-clocks", ClocksPage);
