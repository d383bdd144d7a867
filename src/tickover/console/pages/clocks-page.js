// <tick-clocks>: the list of clocks, and the page for a new clock.

import { checkClock, loadClock, renameClock } from "../clock/clock-calls.js";
import { lowestOfAll, nextItems, parseClock } from "../clock/clock-model.js";
import { clockName } from "../clock/clock-text.js";
import { errorDetails } from "../clock/create-clock.js";
import { ClockForm } from "../forms/clock-form.js";
import { clockJsonForm, formProblem } from "../forms/clock-json-form.js";
import { busyButton, withBusyState } from "../lib/busy-button.js";
import { h, render } from "../lib/dom.js";
import { showFailure } from "../lib/failure.js";
import { chooseFile, onFileDrop } from "../lib/files.js";
import { formatDay } from "../lib/format.js";
import { icon, iconButton } from "../lib/icons.js";
import { startOfMonth, toTimestamp } from "../lib/instants.js";
import { notify } from "../lib/notification.js";
import { CallError, call } from "../lib/rpc.js";
import { tabList } from "../lib/tabs.js";
import {
  CLOCK_FILTERS,
  checkCell,
  clockCells,
  columnTitles,
  postedCount,
  showExpiry,
  sortChoice,
} from "./clock-rows.js";
import { filterBar } from "./filter-bar.js";
import { readBankFile } from "./import-dialog.js";
import { showRenameForm } from "./rename-form.js";
import { ScenarioEditor } from "./scenario-editor.js";
import { scenarioGallery } from "./scenarios.js";

const MAX_CONCURRENT_REQUESTS = 3;

const GONE_MESSAGES = { CLOCK_NOT_FOUND: "This clock was deleted.", CLOCK_EXPIRED: "This clock has expired." };

const MIN_FILTERED = 6; // clocks for which a search is useful

class ClocksPage extends HTMLElement {
  #title = h("h1", { tabIndex: -1 });
  #header = h("header.heading.row", this.#title);
  #body = h("div");
  #abortController = new AbortController();
  #cards = new Map(); // element to { clock, details, check, drawNow, drawExpiry, and isViolated, lowest and nextAt once they are known }
  #queue = []; // cards without details
  #activeRequests = 0;
  #filters = null;
  #sorting = null;
  #list = h("ul.clock-list");
  #isComplete = false; // whether all clocks are in the list
  #timer = 0;

  connectedCallback() {
    this.#timer = setInterval(() => this.#cards.forEach(({ drawExpiry }) => drawExpiry()), 30_000);
    if (this.argument === "new") this.#showNewClock();
    else this.#load();
  }

  disconnectedCallback() {
    this.#abortController.abort();
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
    this.#show("Clocks", null, h("p.muted", "Loading…"));
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
    const button = h("button.primary", { onclick: retry }, "Try again");
    showFailure(container, error.message, [button]);
  }

  #showFirstSteps() {
    this.#show(
      "Start with a scenario",
      h(
        "p.muted",
        "Each scenario creates a clock with simulated money. You move its time. Clocks expire after seven days.",
      ),
      this.#creationTabs(),
    );
  }

  #showNewClock() {
    document.title = "New clock · Tickover";
    this.#show("New clock", h("a.button.aside", { href: "#/clocks" }, "Back to your clocks"), this.#creationTabs());
  }

  #creationTabs() {
    const draft = { name: "", params: { frozenTime: toTimestamp(startOfMonth(Date.now())) } };
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
    const importFile = async (file) => {
      const text = await readBankFile(file);
      if (text && tabs.isConnected) edit(text);
    };
    const choose = async () => importFile(await chooseFile(".csv,.ofx,.qfx"));
    const tabs = tabList(
      "Create a clock",
      [
        { title: "Scenarios", build: () => scenarioGallery(edit) },
        { title: "Form", build: () => new ClockForm(draft).element },
        { title: "TOML", build: () => new ScenarioEditor(draft).element },
        { title: "JSON", build: () => (jsonForm = clockJsonForm(draft)) },
      ],
      { canLeave },
    );
    onFileDrop(tabs, importFile);
    const hint = h(
      "p.muted",
      "Pick a scenario, or ",
      h("button.link", { onclick: choose }, "import a bank file"),
      ": drop CSV or OFX here, and it becomes a scenario.",
    );
    return [hint, tabs];
  }

  #showCards({ clocks, nextCursor }) {
    const more = h("div.more");
    const nothing = h("p.muted", { hidden: true }, "No clock matches.");
    this.#filters = filterBar("clocks", CLOCK_FILTERS, (matches) => {
      const cards = [...this.#cards];
      cards.forEach(([card, entry]) => (card.hidden = !matches(entry, clockName(entry.clock))));
      nothing.hidden = cards.some(([card]) => !card.hidden);
    });
    const hasFilters = clocks.length >= MIN_FILTERED;
    this.#filters.element.hidden = !hasFilters;
    this.#sorting = sortChoice(() => this.#sort(), hasFilters);
    this.#filters.element.append(this.#sorting.element);
    this.#show(
      "Clocks",
      h(
        "div.row.aside",
        clocks.length > 1 && h("a.button.quiet", { href: `#/compare/${clocks[0].id}` }, icon("swap"), "Compare"),
        h("a.button.primary", { href: "#/clocks/new" }, "New clock"),
      ),
      this.#filters.element,
      nothing,
      h("div.clock-table", columnTitles(), this.#list),
      more,
    );
    this.#addCards(more, clocks, nextCursor);
  }

  #addCards(more, clocks, nextCursor) {
    const cards = clocks.map((clock) => this.#card(clock));
    this.#list.append(...cards);
    this.#queue.push(...cards);
    this.#fetchMore();
    this.#sort();
    this.#isComplete = !nextCursor;
    const load = async () => {
      try {
        const page = await call("listTestClocks", { cursor: nextCursor }, { signal: this.#abortController.signal });
        const [first] = this.#addCards(more, page.clocks, page.nextCursor);
        first?.querySelector("a").focus();
        notify(`Loaded ${page.clocks.length} more clocks.`);
      } catch (error) {
        this.#showError(error, load, more);
      }
    };
    render(more, nextCursor && busyButton("button", "Load more", load));
    return cards;
  }

  /** Sort the cards. An order that needs their details waits for them. */
  #sort() {
    if (!this.#sorting.needsDetails() || !this.#activeRequests) this.#sorting.sort(this.#list, [...this.#cards]);
  }

  #card(clock) {
    const name = h("div.name");
    const now = h("p.now");
    const details = h("div.details", h("p.muted", "…"));
    const check = h("p.check");
    const expiry = h("p.expiry");
    const card = h("li.clock-row", name, now, details, check, expiry);

    const drawNow = ({ frozenTime }, counts) =>
      render(now, formatDay(Date.parse(frozenTime)), counts && h("span.posted", " ", counts));
    const drawExpiry = () => showExpiry(expiry, Date.parse(clock.expiresAt) - Date.now());
    drawNow(clock);
    drawExpiry();
    this.#drawName(name, clock);
    this.#cards.set(card, { clock, details, check, drawNow, drawExpiry });
    return card;
  }

  #drawName(container, clock, { focus = false } = {}) {
    const name = clockName(clock);
    const onclick = () => this.#editName(container, clock);
    const renameButton = iconButton("edit", `Rename “${name}”`, { class: "plain rename", title: "Rename", onclick });
    render(container, h("h2", h("a", { href: `#/clock/${clock.id}` }, name)), renameButton);
    if (focus) renameButton.focus();
  }

  #editName(container, clock) {
    const rename = async (name) => {
      if (name !== (clock.name ?? "")) clock.name = (await renameClock(clock.id, name)).name;
      this.#sort();
    };
    const close = () => this.#drawName(container, clock, { focus: true });
    const onError = (error) => notify(errorDetails(error), { error: true });
    showRenameForm(container, clock, { rename, close, onError });
  }

  #fetchMore() {
    while (this.#activeRequests < MAX_CONCURRENT_REQUESTS && this.#queue.length) {
      this.#activeRequests += 1;
      this.#fetch(this.#cards.get(this.#queue.shift())).finally(() => {
        this.#activeRequests -= 1;
        this.#fetchMore();
        if (!this.#activeRequests) this.#sort();
      });
    }
  }

  async #fetch(entry) {
    const { clock, details, drawNow } = entry;
    const options = { quiet: true, signal: this.#abortController.signal };
    try {
      const fullClock = await loadClock(clock.id, options);
      const model = parseClock(fullClock);
      drawNow(fullClock, postedCount(model));
      render(details, clockCells(model));
      Object.assign(entry, { lowest: lowestOfAll(model, model.now), nextAt: nextItems(model)[0]?.at });
      await this.#check(entry, model, options);
    } catch (error) {
      if (this.#abortController.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      const retry = () => this.#fetch(entry).then(() => this.#sort());
      render(
        details,
        h("p.error", GONE_MESSAGES[error.reason] ?? error.message),
        !GONE_MESSAGES[error.reason] && busyButton("button", "Try again", retry),
      );
    }
  }

  /** Check the expectations of a clock. */
  async #check(entry, model, options) {
    try {
      const results = await checkClock(model, options);
      const { isViolated, content } = checkCell(results, model);
      Object.assign(entry, { isViolated, isChecked: true });
      render(entry.check, content);
    } catch (error) {
      if (this.#abortController.signal.aborted) return;
      if (!(error instanceof CallError)) throw error;
      render(entry.check, h("span.muted", "Not checked"));
    }
    this.#filters.update();
    const entries = [...this.#cards.values()];
    if (this.#isComplete && entries.every(({ isChecked }) => isChecked)) this.#filters.count(entries);
  }
}

customElements.define("tick-clocks", ClocksPage);
