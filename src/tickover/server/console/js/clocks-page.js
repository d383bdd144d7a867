// <tick-clocks>: the list of clocks, and the page for a new clock.

import { createForm } from "./clock-form.js";
import { jsonForm, whyNotInForm } from "./clock-json-form.js";
import { readClock } from "./clock-model.js";
import { nameOf, rename } from "./clock-names.js";
import { h, newId, say, show, whileBusy } from "./dom.js";
import { formatInstant, formatWait } from "./format.js";
import { DAY } from "./instants.js";
import { Away, call, Refusal } from "./rpc.js";
import { gallery } from "./scenario-gallery.js";
import { smallCurve } from "./sparkline.js";
import { tabList } from "./tabs.js";

const AT_ONCE = 3;

const GONE = { CLOCK_NOT_FOUND: "This clock was deleted.", CLOCK_EXPIRED: "This clock has expired." };

function firstOfMonth() {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString().replace(".000", "");
}

class ClocksPage extends HTMLElement {
  #title = h("h1", { tabIndex: -1 });
  #header = h("header", { class: "heading row" }, this.#title);
  #body = h("div");
  #leaving = new AbortController();
  #cards = new Map(); // by element: { clock, draw }
  #waiting = []; // cards that are seen and have no details yet
  #running = 0;
  #watcher = null;
  #timer = 0;

  connectedCallback() {
    this.#watcher = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "200px" });
    this.#timer = setInterval(() => this.#cards.forEach(({ drawExpiry }) => drawExpiry()), 30_000);
    if (this.argument === "new") this.#drawNew();
    else this.#load();
  }

  disconnectedCallback() {
    this.#leaving.abort();
    this.#watcher.disconnect();
    clearInterval(this.#timer);
  }

  /** The heading stays the same element, because it may have the focus. */
  #show(title, beside, ...content) {
    this.#title.textContent = title;
    [...this.#header.children].slice(1).forEach((child) => child.remove());
    if (beside) this.#header.append(beside);
    if (!this.#header.isConnected) show(this, this.#header, this.#body);
    show(this.#body, content);
  }

  async #load() {
    this.#show("Clocks", null, h("p", { class: "quiet" }, "Loading …"));
    try {
      const page = await call("listTestClocks", {}, { signal: this.#leaving.signal });
      if (page.clocks.length === 0) this.#drawFirst();
      else this.#drawCards(page);
    } catch (error) {
      this.#failed(error, () => this.#load(), this.#body);
    }
  }

  /** Whoever has been signed out sees that elsewhere; whoever has left does not care. */
  #failed(error, again, place) {
    if (this.#leaving.signal.aborted) return;
    if (!(error instanceof Away || error instanceof Refusal)) throw error;
    const retry = async () => {
      await whileBusy(button, again);
      if (document.activeElement === document.body) this.#title.focus();
    };
    const button = h("button", { type: "button", onclick: retry }, "Try again");
    show(place, h("div", { class: "card row" }, h("p", { role: "alert" }, error.message), button));
  }

  #drawFirst() {
    this.#show(
      "Start with a scenario",
      h(
        "p",
        { class: "quiet" },
        "Each makes a clock of your own, which you can move. Nothing here is real money, and a clock is deleted after seven days.",
      ),
      this.#ways(),
    );
  }

  #drawNew() {
    document.title = "New clock · Tickover";
    this.#show("New clock", h("a", { class: "aside", href: "#/clocks" }, "Back to your clocks"), this.#ways());
  }

  #ways() {
    const draft = { name: "", params: { frozenTime: firstOfMonth() } };
    const edit = (chosen) => {
      Object.assign(draft, structuredClone(chosen), { text: undefined });
      ways.choose(1);
      ways.querySelector("form input").focus();
    };
    let json;
    const mayLeave = (_from, to) => {
      const why = to === 1 && whyNotInForm(draft);
      if (!why) return true;
      // There the text can be mended, wherever somebody has come from.
      ways.choose(2, { force: true });
      json.refuse(why);
      return false;
    };
    const ways = tabList(
      "Ways to make a clock",
      [
        { title: "Scenarios", build: () => gallery(edit) },
        { title: "Form", build: () => createForm(draft) },
        { title: "JSON", build: () => (json = jsonForm(draft)) },
      ],
      { mayLeave },
    );
    return ways;
  }

  #drawCards({ clocks, nextCursor }) {
    const list = h("ul", { class: "cards" });
    const more = h("div", { class: "more" });
    this.#show("Clocks", h("a", { class: "button primary aside", href: "#/clocks/new" }, "New clock"), list, more);
    this.#add(list, more, clocks, nextCursor);
  }

  #add(list, more, clocks, nextCursor) {
    const cards = clocks.map((clock) => this.#card(clock));
    list.append(...cards);
    cards.forEach((card) => this.#watcher.observe(card));
    if (!nextCursor) {
      show(more);
      return cards;
    }
    const load = async () => {
      try {
        const page = await call("listTestClocks", { cursor: nextCursor }, { signal: this.#leaving.signal });
        const [first] = this.#add(list, more, page.clocks, page.nextCursor);
        first?.querySelector("a").focus();
        say(`${page.clocks.length} more clocks are shown.`);
      } catch (error) {
        this.#failed(error, load, more);
      }
    };
    const button = h("button", { type: "button", onclick: () => whileBusy(button, load) }, "More");
    show(more, button);
    return cards;
  }

  #card(clock) {
    const name = h("div", { class: "name" });
    const now = h("p", { class: "now" });
    const details = h("div", { class: "details" }, h("p", { class: "quiet" }, "…"));
    const expiry = h("p", { class: "expiry" });
    const card = h("li", { class: "card clock" }, name, now, details, expiry);

    const drawNow = ({ frozenTime }) => show(now, "Now ", h("strong", {}, formatInstant(Date.parse(frozenTime))));
    const drawExpiry = () => {
      const left = Date.parse(clock.expiresAt) - Date.now();
      const isSoon = left < DAY;
      expiry.classList.toggle("soon", isSoon);
      expiry.textContent =
        left <= 0 ? "▲ Expired" : `${isSoon ? "▲ Expires soon, in" : "Expires in"} ${formatWait(left)}`;
    };
    drawNow(clock);
    drawExpiry();
    this.#drawName(name, clock.id);
    this.#cards.set(card, { clock, details, drawNow, drawExpiry });
    return card;
  }

  #drawName(place, id, { focus = false } = {}) {
    const name = nameOf(id);
    const change = h(
      "button",
      {
        type: "button",
        class: "plain rename",
        "aria-label": `Rename ${name}`,
        title: "Rename",
        onclick: () => this.#editName(place, id),
      },
      "✎",
    );
    show(place, h("h2", {}, h("a", { href: `#/clock/${id}` }, name)), change);
    if (focus) change.focus();
  }

  #editName(place, id) {
    const input = h("input", { id: newId(), type: "text", value: nameOf(id), maxLength: 120, autocomplete: "off" });
    const finish = () => this.#drawName(place, id, { focus: true });
    const keep = (event) => {
      event.preventDefault();
      if (input.value !== nameOf(id)) rename(id, input.value);
      finish();
    };
    show(
      place,
      h(
        "form",
        { class: "row", onsubmit: keep, onkeydown: (event) => event.key === "Escape" && finish() },
        h("label", { for: input.id, class: "unseen" }, "Name of the clock, kept in this browser"),
        input,
        h("button", {}, "Keep"),
      ),
    );
    input.select();
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#watcher.unobserve(target);
      this.#waiting.push(target);
    }
    this.#fetchMore();
  }

  #fetchMore() {
    while (this.#running < AT_ONCE && this.#waiting.length) {
      this.#running += 1;
      this.#fetch(this.#cards.get(this.#waiting.shift())).finally(() => {
        this.#running -= 1;
        this.#fetchMore();
      });
    }
  }

  async #fetch({ clock, details, drawNow }) {
    try {
      const { clock: whole } = await call(
        "getTestClock",
        { id: clock.id },
        { quiet: true, signal: this.#leaving.signal },
      );
      const model = readClock(whole);
      const posted = model.items.filter((item) => item.happened).length;
      drawNow(whole);
      if (model.items.length === 0) show(details, h("p", { class: "quiet" }, "Nothing is scheduled on this clock."));
      else
        show(
          details,
          smallCurve(model, { width: 320, height: 72 }),
          h(
            "p",
            { class: "quiet counts" },
            h("span", {}, `● ${posted} posted`),
            h("span", {}, `○ ${model.items.length - posted} pending`),
          ),
        );
    } catch (error) {
      if (this.#leaving.signal.aborted) return;
      if (!(error instanceof Away || error instanceof Refusal)) throw error;
      const again = h("button", { type: "button" }, "Try again");
      again.addEventListener("click", () =>
        whileBusy(again, () => this.#fetch(this.#cards.get(details.parentElement))),
      );
      show(details, h("p", { class: "error" }, GONE[error.reason] ?? error.message), !GONE[error.reason] && again);
    }
  }
}

customElements.define("tick-clocks", ClocksPage);
